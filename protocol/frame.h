/* SPDX-License-Identifier: MIT */
/*
 * The encodings of the wire: u8, u64 (little-endian) and str (u64 length + bytes). The reader walks
 * over what has arrived so far and says -EAGAIN when a value isn't complete: the caller then waits
 * for more bytes and parses the message again from its first byte, which is cheap because strings
 * are borrowed, not copied. A length is judged before it is believed. One thread per reader.
 */
#ifndef EZ_FRAME_H
#define EZ_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

/* A string of the wire: borrowed, not terminated, any bytes. */
struct ez_str {
	const char *data;
	size_t len;
};

struct ez_reader {
	const uint8_t *data;
	size_t len;
	size_t pos; /* how much was read; stays where it was when a read fails */
};

void ez_reader_init(struct ez_reader *reader, const void *data, size_t len);

/*
 * Each: 0; -EAGAIN = not all there yet; -EMSGSIZE = the length is over max. ret_ is written on
 * success only.
 */
int ez_read_u8(struct ez_reader *reader, uint8_t *ret_value);
int ez_read_u64(struct ez_reader *reader, uint64_t *ret_value);
int ez_read_str(struct ez_reader *reader, size_t max, struct ez_str *ret_str);
int ez_read_bytes(struct ez_reader *reader, size_t n, const uint8_t **ret_data);

/* Append to buffer, whose sticky error tells of a failure. */
void ez_put_u8(struct ez_buffer *buffer, uint8_t value);
void ez_put_u64(struct ez_buffer *buffer, uint64_t value);
void ez_put_str(struct ez_buffer *buffer, const char *data, size_t len);
void ez_put_text(struct ez_buffer *buffer, const char *text); /* str of a terminated string */

uint64_t ez_load_u64(const void *from);
void ez_store_u64(void *to, uint64_t value);

#endif
