/* SPDX-License-Identifier: MIT */
/*
 * What stands around a value in a marshalled message: the smallest pickle that Python reads. Where
 * the value is to be aligned the pickle begins with bytes that are thrown away at once (`C n ...
 * 0`). Messages lie 16 bytes after a multiple of 64, in slots and in what channels receive by tcp,
 * so that an aligned value lies on a multiple of 64.
 */
#ifndef EZ_PRELUDE_H
#define EZ_PRELUDE_H

#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "pickle.h"

#define EZ_VALUE_ALIGNMENT 64
#define EZ_MESSAGE_PHASE 16
#define EZ_ARRAY_PICKLE_BYTES_MAX 4096

/* MEMOIZE and STOP; a pickle ends with both or with the last one. */
extern const uint8_t ez_prelude_tail[2];

/* The head of the pickle of `bytes`, as short as it gets: its length, and that of the tail. */
size_t ez_prelude_bytes(uint8_t head[16], size_t bytes, size_t *ret_tail_bytes);

/* The same with the data aligned and a tail of 1, whatever the length. */
size_t ez_prelude_aligned_bytes(uint8_t head[32], size_t room);
/* Notes in it how many of the `room` bytes at `data` were used. */
void ez_prelude_set_length(uint8_t *data, size_t room, size_t bytes);

/* Appends the pickle of an array, whose data, the next buffer, is aligned. 0; -EINVAL; -ENOMEM. */
int ez_prelude_array(struct ez_buffer *pickle, const struct ez_ndarray *array);

/* An array from what the user says about it. -EINVAL. */
int ez_prelude_describe(const char *dtype, const uint64_t *shape, size_t dimensions,
			struct ez_ndarray *ret_array);

#endif
