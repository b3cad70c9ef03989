/* SPDX-License-Identifier: MIT */
#include "proto_buffer.h"

#include <stdlib.h>
#include <string.h>

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

/* A length whose value isn't known yet: a number of as many bytes whatever it will be. */
#define LENGTH_BYTES 4u

void ezprof_proto_free(struct ezprof_proto *p)
{
	free(p->data);
	*p = (struct ezprof_proto){0};
}

void ezprof_proto_clear(struct ezprof_proto *p)
{
	p->bytes = 0;
}

static void put(struct ezprof_proto *p, const void *data, size_t bytes)
{
	size_t room = p->room * 2 + bytes + 256;
	unsigned char *grown;

	if (p->failed)
		return;
	if (bytes > p->room - p->bytes) {
		grown = realloc(p->data, room);
		if (!grown) {
			p->failed = true;
			return;
		}
		p->data = grown;
		p->room = room;
	}
	memcpy(p->data + p->bytes, data, bytes);
	p->bytes += bytes;
}

static void put_varint(struct ezprof_proto *p, uint64_t value)
{
	unsigned char bytes[10];
	size_t n = 0;

	for (; value > 0x7f; value >>= 7)
		bytes[n++] = (unsigned char)(value & 0x7f) | 0x80;
	bytes[n++] = (unsigned char)value;
	put(p, bytes, n);
}

static void put_tag(struct ezprof_proto *p, uint32_t field, enum wire wire)
{
	put_varint(p, (uint64_t)field << 3 | wire);
}

void ezprof_proto_number(struct ezprof_proto *p, uint32_t field, uint64_t value)
{
	put_tag(p, field, WIRE_VARINT);
	put_varint(p, value);
}

void ezprof_proto_fixed64(struct ezprof_proto *p, uint32_t field, uint64_t value)
{
	unsigned char bytes[8];

	for (unsigned int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(value >> (8 * i));
	put_tag(p, field, WIRE_FIXED64);
	put(p, bytes, sizeof(bytes));
}

void ezprof_proto_double(struct ezprof_proto *p, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	ezprof_proto_fixed64(p, field, bits);
}

void ezprof_proto_text(struct ezprof_proto *p, uint32_t field, const char *text)
{
	size_t n = strlen(text);

	put_tag(p, field, WIRE_BYTES);
	put_varint(p, n);
	put(p, text, n);
}

size_t ezprof_proto_begin(struct ezprof_proto *p, uint32_t field)
{
	static const unsigned char unknown[LENGTH_BYTES];

	put_tag(p, field, WIRE_BYTES);
	put(p, unknown, sizeof(unknown));
	return p->bytes;
}

void ezprof_proto_end(struct ezprof_proto *p, size_t begun)
{
	size_t n = p->bytes - begun;

	if (p->failed)
		return;
	if (n >= 1u << (7 * LENGTH_BYTES)) {
		p->failed = true;
		return;
	}
	for (unsigned int i = 0; i < LENGTH_BYTES; i++, n >>= 7)
		p->data[begun - LENGTH_BYTES + i] =
			(unsigned char)((n & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
}
