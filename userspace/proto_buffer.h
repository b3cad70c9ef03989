/* SPDX-License-Identifier: MIT */
/*
 * Protobuf messages, written field by field into a buffer that grows. Without memory it becomes
 * `failed`, and stays so; what is written then is ignored. Pure.
 */
#ifndef EZPROF_PROTO_BUFFER_H
#define EZPROF_PROTO_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ezprof_proto {
	unsigned char *data;
	size_t bytes, room;
	bool failed;
};

void ezprof_proto_free(struct ezprof_proto *proto);
/* Begins again with nothing in it; the memory is kept. */
void ezprof_proto_clear(struct ezprof_proto *proto);

void ezprof_proto_number(struct ezprof_proto *proto, uint32_t field, uint64_t value);
void ezprof_proto_fixed64(struct ezprof_proto *proto, uint32_t field, uint64_t value);
void ezprof_proto_double(struct ezprof_proto *proto, uint32_t field, double value);
/* `text`: valid UTF-8. */
void ezprof_proto_text(struct ezprof_proto *proto, uint32_t field, const char *text);

/* A message within; what is returned is for the end. Nests. Up to 256 MiB. */
size_t ezprof_proto_begin(struct ezprof_proto *proto, uint32_t field);
void ezprof_proto_end(struct ezprof_proto *proto, size_t begun);

#endif
