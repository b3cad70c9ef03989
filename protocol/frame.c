/* SPDX-License-Identifier: MIT */
#include "frame.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

uint64_t ez_load_u64(const void *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return le64toh(value);
}

void ez_store_u64(void *to, uint64_t value)
{
	value = htole64(value);
	memcpy(to, &value, sizeof(value));
}

void ez_reader_init(struct ez_reader *reader, const void *data, size_t len)
{
	reader->data = data;
	reader->len = len;
	reader->pos = 0;
}

int ez_read_bytes(struct ez_reader *reader, size_t n, const uint8_t **ret_data)
{
	if (n > reader->len - reader->pos)
		return -EAGAIN;
	*ret_data = reader->data + reader->pos;
	reader->pos += n;
	return 0;
}

int ez_read_u8(struct ez_reader *reader, uint8_t *ret_value)
{
	const uint8_t *p;
	int err = ez_read_bytes(reader, 1, &p);

	if (!err)
		*ret_value = *p;
	return err;
}

int ez_read_u64(struct ez_reader *reader, uint64_t *ret_value)
{
	const uint8_t *p;
	int err = ez_read_bytes(reader, sizeof(uint64_t), &p);

	if (!err)
		*ret_value = ez_load_u64(p);
	return err;
}

int ez_read_str(struct ez_reader *reader, size_t max, struct ez_str *ret_str)
{
	size_t start = reader->pos;
	const uint8_t *p;
	uint64_t len;
	int err = ez_read_u64(reader, &len);

	if (!err && len > max)
		err = -EMSGSIZE;
	if (!err)
		err = ez_read_bytes(reader, (size_t)len, &p);
	if (err) {
		reader->pos = start;
		return err;
	}
	ret_str->data = (const char *)p;
	ret_str->len = (size_t)len;
	return 0;
}

void ez_put_u8(struct ez_buffer *buffer, uint8_t value)
{
	ez_buffer_append(buffer, &value, sizeof(value));
}

void ez_put_u64(struct ez_buffer *buffer, uint64_t value)
{
	uint8_t bytes[sizeof(value)];

	ez_store_u64(bytes, value);
	ez_buffer_append(buffer, bytes, sizeof(bytes));
}

void ez_put_str(struct ez_buffer *buffer, const char *data, size_t len)
{
	ez_put_u64(buffer, len);
	ez_buffer_append(buffer, data, len);
}

void ez_put_text(struct ez_buffer *buffer, const char *text)
{
	ez_put_str(buffer, text, strlen(text));
}
