/* SPDX-License-Identifier: MIT */
#include "buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 256

void ez_buffer_init(struct ez_buffer *buffer, size_t max)
{
	memset(buffer, 0, sizeof(*buffer));
	buffer->max = max;
}

void ez_buffer_free(struct ez_buffer *buffer)
{
	free(buffer->data);
	ez_buffer_init(buffer, buffer->max);
}

void ez_buffer_reset(struct ez_buffer *buffer)
{
	buffer->len = 0;
	buffer->err = 0;
}

static int grow(struct ez_buffer *buffer, size_t needed)
{
	size_t capacity = buffer->capacity ? buffer->capacity : FIRST_CAPACITY;
	uint8_t *data;

	/*
	 * needed <= max, so doubling can't overflow before it reaches needed unless max is absurd.
	 */
	while (capacity < needed)
		capacity = capacity > buffer->max / 2 ? buffer->max : capacity * 2;
	data = realloc(buffer->data, capacity);
	if (!data)
		return -ENOMEM;
	buffer->data = data;
	buffer->capacity = capacity;
	return 0;
}

uint8_t *ez_buffer_reserve(struct ez_buffer *buffer, size_t n)
{
	if (buffer->err)
		return NULL;
	if (n > buffer->max || buffer->len > buffer->max - n)
		buffer->err = -EMSGSIZE;
	else if (buffer->len + n > buffer->capacity || !buffer->data)
		buffer->err = grow(buffer, buffer->len + n);
	return buffer->err ? NULL : buffer->data + buffer->len;
}

void ez_buffer_append(struct ez_buffer *buffer, const void *data, size_t n)
{
	uint8_t *to;

	if (!n)
		return;
	to = ez_buffer_reserve(buffer, n);
	if (!to)
		return;
	memcpy(to, data, n);
	buffer->len += n;
}

void ez_buffer_append_text(struct ez_buffer *buffer, const char *text)
{
	ez_buffer_append(buffer, text, strlen(text));
}

void ez_buffer_consume(struct ez_buffer *buffer, size_t n)
{
	if (n >= buffer->len) {
		buffer->len = 0;
		return;
	}
	memmove(buffer->data, buffer->data + n, buffer->len - n);
	buffer->len -= n;
}

char *ez_buffer_steal(struct ez_buffer *buffer, size_t *ret_len)
{
	char *text;

	if (buffer->err)
		return NULL;
	/* The terminator isn't content and doesn't count against the limit. */
	text = realloc(buffer->data, buffer->len + 1);
	if (!text)
		return NULL;
	text[buffer->len] = '\0';
	*ret_len = buffer->len;
	ez_buffer_init(buffer, buffer->max);
	return text;
}
