/* SPDX-License-Identifier: MIT */
/*
 * What the publish functions put around a value: the smallest pickle that Python reads, in pieces,
 * so that the value itself is copied once, into its slot.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prelude.h"
#include "publisher.h"

#define PIECES_INLINE 16

/* The bytes' pieces lie between the first and the last of `all`, which are for head and tail. */
static int publish_pieces(struct ez_publisher *publisher, struct iovec *all, size_t n,
			  int64_t timeout_ns)
{
	const struct ez_outgoing outgoing = {.pieces = all, .n_pieces = n};
	uint8_t head[16];
	size_t bytes = 0, tail_bytes, i;

	for (i = 1; i + 1 < n; i++) {
		if (!all[i].iov_base && all[i].iov_len)
			return -EINVAL;
		if (__builtin_add_overflow(bytes, all[i].iov_len, &bytes))
			return -EMSGSIZE;
	}
	all[0] = (struct iovec){head, ez_prelude_bytes(head, bytes, &tail_bytes)};
	all[n - 1] = (struct iovec){(void *)(ez_prelude_tail + 2 - tail_bytes), tail_bytes};
	return ez_broadcast(publisher, &outgoing, timeout_ns);
}

int ez_publish_bytes(struct ez_publisher *publisher, const void *data, size_t bytes,
		     int64_t timeout_ns)
{
	struct iovec all[3];

	all[1] = (struct iovec){(void *)data, bytes};
	return publish_pieces(publisher, all, 3, timeout_ns);
}

int ez_publish_bytesv(struct ez_publisher *publisher, const struct iovec *pieces, size_t num_pieces,
		      int64_t timeout_ns)
{
	struct iovec few[PIECES_INLINE];
	struct iovec *all = few;
	int err;

	if (!pieces && num_pieces)
		return -EINVAL;
	if (num_pieces > SIZE_MAX / sizeof(*all) - 2)
		return -EMSGSIZE;
	if (num_pieces + 2 > PIECES_INLINE)
		all = malloc((num_pieces + 2) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	if (num_pieces)
		memcpy(all + 1, pieces, num_pieces * sizeof(*all));
	err = publish_pieces(publisher, all, num_pieces + 2, timeout_ns);
	if (all != few)
		free(all);
	return err;
}

int ez_publish_array(struct ez_publisher *publisher, const char *dtype, const uint64_t *shape,
		     size_t dimensions, const void *data, int64_t timeout_ns)
{
	struct ez_ndarray array;
	struct ez_buffer pickle;
	struct iovec first, second;
	const struct ez_outgoing outgoing = {&first, 1, &second, 1};
	int err = ez_prelude_describe(dtype, shape, dimensions, &array);

	if (err || (!data && array.data_bytes))
		return -EINVAL;
	ez_buffer_init(&pickle, EZ_ARRAY_PICKLE_BYTES_MAX);
	err = ez_prelude_array(&pickle, &array);
	if (!err) {
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
