/* SPDX-License-Identifier: MIT */
/*
 * What the publish functions put around a value: the smallest pickle that Python reads, in pieces,
 * so that the value itself is copied once, into its slot.
 */
#include <errno.h>
#include <string.h>

#include "frame.h"
#include "pickle.h"
#include "publisher.h"

#define ARRAY_PICKLE_BYTES_MAX 4096

/* The pickle of `bytes` around its data; returns the bytes of head and, by ret_, of tail. */
static size_t bytes_head(uint8_t head[16], size_t n, size_t *ret_tail_bytes)
{
	*ret_tail_bytes = 1;
	head[0] = 0x80;
	head[1] = 5;
	if (n < 256) {
		head[2] = 0x95; /* FRAME: opcode, length byte, data, MEMOIZE, STOP */
		ez_store_u64(head + 3, n + 4);
		head[11] = 0x43;
		head[12] = (uint8_t)n;
		*ret_tail_bytes = 2;
		return 13;
	}
	ez_store_u64(head + 3, n);
	if (n <= UINT32_MAX) {
		head[2] = 0x42;
		return 7;
	}
	head[2] = 0x8e;
	return 11;
}

int ez_publish_bytes(struct ez_publisher *publisher, const void *data, size_t bytes,
		     int64_t timeout_ns)
{
	static const uint8_t memoize_stop[] = {0x94, 0x2e};
	uint8_t head[16];
	size_t tail_bytes;
	size_t head_bytes = bytes_head(head, bytes, &tail_bytes);
	const struct iovec pieces[] = {
		{head, head_bytes},
		{(void *)data, bytes},
		{(void *)(memoize_stop + 2 - tail_bytes), tail_bytes},
	};
	const struct ez_outgoing outgoing = {.pieces = pieces, .n_pieces = 3};

	if (!data && bytes)
		return -EINVAL;
	return ez_broadcast(publisher, &outgoing, timeout_ns);
}

/* "f4" as numpy's full name: "<f4", or "|u1" where there is no byte order. */
static int array_dtype(const char *dtype, char out[8])
{
	size_t n = dtype ? strnlen(dtype, 7) : 0;

	if (n < 2 || n > 5)
		return -EINVAL;
	out[0] = n == 2 && dtype[1] == '1' ? '|' : '<';
	memcpy(out + 1, dtype, n + 1);
	return ez_dtype_bytes(out) ? 0 : -EINVAL;
}

static int array_describe(const char *dtype, const uint64_t *shape, size_t dimensions,
			  struct ez_ndarray *array)
{
	size_t i;
	int err = array_dtype(dtype, array->dtype);

	if (err || !shape || dimensions < 1 || dimensions > EZ_NDIM_MAX)
		return -EINVAL;
	array->fortran_order = false;
	array->n_dims = (uint32_t)dimensions;
	array->data_bytes = ez_dtype_bytes(array->dtype);
	for (i = 0; i < dimensions; i++) {
		array->shape[i] = shape[i];
		if (__builtin_mul_overflow(array->data_bytes, shape[i], &array->data_bytes))
			return -EINVAL;
	}
	return 0;
}

int ez_publish_array(struct ez_publisher *publisher, const char *dtype, const uint64_t *shape,
		     size_t dimensions, const void *data, int64_t timeout_ns)
{
	struct ez_ndarray array;
	struct ez_buffer pickle;
	struct iovec first, second;
	int err = array_describe(dtype, shape, dimensions, &array);

	if (err || (!data && array.data_bytes))
		return -EINVAL;
	ez_buffer_init(&pickle, ARRAY_PICKLE_BYTES_MAX);
	err = ez_pickle_ndarray(&pickle, &array);
	if (!err)
		err = pickle.err;
	if (!err) {
		const struct ez_outgoing outgoing = {&first, 1, &second, 1};

		first = (struct iovec){pickle.data, pickle.len};
		second = (struct iovec){(void *)data, (size_t)array.data_bytes};
		err = ez_broadcast(publisher, &outgoing, timeout_ns);
	}
	ez_buffer_free(&pickle);
	return err;
}

int ez_publish_buffers(struct ez_publisher *publisher, const struct iovec *buffers,
		       size_t num_buffers, int64_t timeout_ns)
{
	const struct ez_outgoing outgoing = {buffers, 1, buffers + 1, num_buffers - 1};

	if (!buffers || num_buffers < 1)
		return -EINVAL;
	return ez_broadcast(publisher, &outgoing, timeout_ns);
}
