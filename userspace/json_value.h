/* SPDX-License-Identifier: MIT */
/*
 * Small helpers on json-c: add a value under a key. Doubles are the shortest text that reads back
 * the same. Without memory a key is left out; json-c has no better answer. One thread per object.
 */
#ifndef EZPROF_JSON_VALUE_H
#define EZPROF_JSON_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include <json-c/json.h>

#include "uuid.h"

void ezprof_json_add(struct json_object *object, const char *key, struct json_object *value);
void ezprof_json_text(struct json_object *object, const char *key, const char *text);
/* null where the text is empty */
void ezprof_json_text_or_null(struct json_object *object, const char *key, const char *text);
void ezprof_json_uuid(struct json_object *object, const char *key, const struct ez_uuid *id);
void ezprof_json_u64(struct json_object *object, const char *key, uint64_t value);
/* null unless known */
void ezprof_json_u64_if(struct json_object *object, const char *key, bool known, uint64_t value);
void ezprof_json_double(struct json_object *object, const char *key, double value);
void ezprof_json_double_if(struct json_object *object, const char *key, bool known, double value);
void ezprof_json_bool_if(struct json_object *object, const char *key, bool known, bool value);
void ezprof_json_null(struct json_object *object, const char *key);

/* The text of an object on one line, owned by the caller; takes the object over. */
char *ezprof_json_line(struct json_object *object);

#endif
