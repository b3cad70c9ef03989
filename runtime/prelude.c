/* SPDX-License-Identifier: MIT */
#include "prelude.h"

#include <errno.h>
#include <string.h>

#include "frame.h"
#include "parts.h"
#include "pickle_opcodes.h"

#define PAD_BYTES_MIN 3 /* SHORT_BINBYTES, its length, POP */
#define PROTO_BYTES 2

const uint8_t ez_prelude_tail[2] = {EZ_OP_MEMOIZE, EZ_OP_STOP};

size_t ez_prelude_bytes(uint8_t head[16], size_t bytes, size_t *ret_tail_bytes)
{
	*ret_tail_bytes = 1;
	head[0] = EZ_OP_PROTO;
	head[1] = 5;
	if (bytes < 256) {
		head[2] = EZ_OP_FRAME; /* opcode, length byte, data, MEMOIZE, STOP */
		ez_store_u64(head + 3, bytes + 4);
		head[11] = EZ_OP_SHORT_BINBYTES;
		head[12] = (uint8_t)bytes;
		*ret_tail_bytes = 2;
		return 13;
	}
	ez_store_u64(head + 3, bytes);
	if (bytes <= UINT32_MAX) {
		head[2] = EZ_OP_BINBYTES;
		return 7;
	}
	head[2] = EZ_OP_BINBYTES8;
	return 11;
}

/* How many bytes have to come before what begins so many bytes into the message. */
static size_t pad_bytes(size_t offset)
{
	size_t pad = (0 - (EZ_MESSAGE_PHASE + offset)) % EZ_VALUE_ALIGNMENT;

	return pad && pad < PAD_BYTES_MIN ? pad + EZ_VALUE_ALIGNMENT : pad;
}

static void write_pad(uint8_t *to, size_t bytes)
{
	if (!bytes)
		return;
	memset(to, 0, bytes);
	to[0] = EZ_OP_SHORT_BINBYTES;
	to[1] = (uint8_t)(bytes - PAD_BYTES_MIN);
	to[bytes - 1] = EZ_OP_POP;
}

static size_t length_bytes(size_t room)
{
	return room <= UINT32_MAX ? 4 : 8;
}

size_t ez_prelude_aligned_bytes(uint8_t head[32], size_t room)
{
	size_t n = PROTO_BYTES + 1 + length_bytes(room);
	size_t pad = pad_bytes(EZ_PARTS_HEADER_BYTES(1) + n);

	head[0] = EZ_OP_PROTO;
	head[1] = 5;
	write_pad(head + PROTO_BYTES, pad);
	head[PROTO_BYTES + pad] = room <= UINT32_MAX ? EZ_OP_BINBYTES : EZ_OP_BINBYTES8;
	return n + pad;
}

void ez_prelude_set_length(uint8_t *data, size_t room, size_t bytes)
{
	for (size_t i = length_bytes(room); i > 0; i--, bytes >>= 8)
		*(data - i) = (uint8_t)bytes;
}

int ez_prelude_array(struct ez_buffer *pickle, const struct ez_ndarray *array)
{
	uint8_t pad[PAD_BYTES_MIN + EZ_VALUE_ALIGNMENT];
	struct ez_buffer plain;
	size_t n;
	int err;

	ez_buffer_init(&plain, EZ_ARRAY_PICKLE_BYTES_MAX);
	err = ez_pickle_ndarray(&plain, array);
	if (!err)
		err = plain.err;
	if (!err) {
		n = pad_bytes(EZ_PARTS_HEADER_BYTES(2) + plain.len);
		write_pad(pad, n);
		ez_buffer_append(pickle, plain.data, PROTO_BYTES);
		ez_buffer_append(pickle, pad, n);
		ez_buffer_append(pickle, plain.data + PROTO_BYTES, plain.len - PROTO_BYTES);
		err = pickle->err;
	}
	ez_buffer_free(&plain);
	return err;
}

/* "f4" as numpy's full name: "<f4", or "|u1" where there is no byte order. */
static int full_dtype(const char *dtype, char out[8])
{
	size_t n = dtype ? strnlen(dtype, 7) : 0;

	if (n < 2 || n > 5)
		return -EINVAL;
	out[0] = n == 2 && dtype[1] == '1' ? '|' : '<';
	memcpy(out + 1, dtype, n + 1);
	return ez_dtype_bytes(out) ? 0 : -EINVAL;
}

int ez_prelude_describe(const char *dtype, const uint64_t *shape, size_t dimensions,
			struct ez_ndarray *ret_array)
{
	struct ez_ndarray array = {.n_dims = (uint32_t)dimensions};
	size_t i;

	if (full_dtype(dtype, array.dtype) || !shape || dimensions < 1 || dimensions > EZ_NDIM_MAX)
		return -EINVAL;
	array.data_bytes = ez_dtype_bytes(array.dtype);
	for (i = 0; i < dimensions; i++) {
		array.shape[i] = shape[i];
		if (__builtin_mul_overflow(array.data_bytes, shape[i], &array.data_bytes))
			return -EINVAL;
	}
	*ret_array = array;
	return 0;
}
