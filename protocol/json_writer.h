/* SPDX-License-Identifier: MIT */
/*
 * Writes JSON into a bounded buffer, token by token, in the format of Python's json.dumps: ", " and
 * ": " between tokens, ASCII only. Strings may hold any bytes; a byte that isn't UTF-8
 * becomes what stands for it (utf8.h). Numbers don't depend on the locale; doubles are the shortest
 * text that reads back the same, always with a point or an exponent ("0.0"). One thread.
 */
#ifndef EZ_JSON_WRITER_H
#define EZ_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

#define EZ_JSON_DEPTH_MAX 32

struct ez_json {
	struct ez_buffer *out; /* borrowed; its sticky error tells of a failure */
	uint32_t started;      /* bit d: the container at depth d has an element */
	uint8_t depth;
	bool after_key;
};

void ez_json_init(struct ez_json *json, struct ez_buffer *out);

void ez_json_object_begin(struct ez_json *json);
void ez_json_object_end(struct ez_json *json);
void ez_json_array_begin(struct ez_json *json);
void ez_json_array_end(struct ez_json *json);

void ez_json_key(struct ez_json *json, const char *key);

void ez_json_str(struct ez_json *json, const char *text); /* NULL = null */
void ez_json_str_n(struct ez_json *json, const char *data, size_t len);
void ez_json_u64(struct ez_json *json, uint64_t value);
void ez_json_i64(struct ez_json *json, int64_t value);
void ez_json_f64(struct ez_json *json,
		 double value); /* nan and infinities, which JSON lacks, = null */
void ez_json_bool(struct ez_json *json, bool value);
void ez_json_null(struct ez_json *json);

/* A value that is JSON already, taken over as it is: the caller vouches for it. */
void ez_json_raw(struct ez_json *json, const char *data, size_t len);

/* Key and value in one. */
void ez_json_kv_str(struct ez_json *json, const char *key, const char *text);
void ez_json_kv_u64(struct ez_json *json, const char *key, uint64_t value);
void ez_json_kv_i64(struct ez_json *json, const char *key, int64_t value);
void ez_json_kv_f64(struct ez_json *json, const char *key, double value);
void ez_json_kv_bool(struct ez_json *json, const char *key, bool value);
void ez_json_kv_null(struct ez_json *json, const char *key);

#endif
