/* SPDX-License-Identifier: MIT */
/*
 * A growable byte buffer with a limit. Everything that encodes (frames, JSON, pickles) appends to
 * one. The first failure sticks: later appends do nothing, and the caller asks once, at the end.
 * One thread.
 */
#ifndef EZ_BUFFER_H
#define EZ_BUFFER_H

#include <stddef.h>
#include <stdint.h>

struct ez_buffer {
	uint8_t *data; /* NULL while nothing was appended */
	size_t len;
	size_t capacity;
	size_t max;
	int err; /* 0, -ENOMEM or -EMSGSIZE (the limit) */
};

/* An empty buffer that may grow to max bytes. Costs no memory until the first append. */
void ez_buffer_init(struct ez_buffer *buffer, size_t max);

/* Frees the bytes and empties the buffer, which may be used again. Bears a zeroed struct. */
void ez_buffer_free(struct ez_buffer *buffer);

/* Forgets content and error, keeps the memory. */
void ez_buffer_reset(struct ez_buffer *buffer);

/* Room for n more bytes, not yet counted in len: the place to write to, or NULL (see err). */
uint8_t *ez_buffer_reserve(struct ez_buffer *buffer, size_t n);

void ez_buffer_append(struct ez_buffer *buffer, const void *data, size_t n);
void ez_buffer_append_text(struct ez_buffer *buffer, const char *text);

/* Takes the first n bytes away, n <= len. */
void ez_buffer_consume(struct ez_buffer *buffer, size_t n);

/*
 * The bytes, zero-terminated, now the caller's to free(); the buffer is empty then. NULL on a
 * sticky error.
 */
char *ez_buffer_steal(struct ez_buffer *buffer, size_t *ret_len);

#endif
