/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "message.h"

_Static_assert(EZ_PARTS_MAX == EZ_MESSAGE_BUFFERS_MAX, "one limit");
_Static_assert(EZ_PARTS_HEADER_BYTES(3) == EZ_MESSAGE_HEADER_BYTES(3), "one header");

int ez_parts_parse(struct ez_parts *parts, const void *data, size_t room, uint64_t message_id)
{
	struct ez_message_cursor cursor = {0};
	struct ez_message message;
	int err = ez_message_parse(data, room, &message);

	if (err)
		return err;
	if (message.msg_id != message_id)
		return -ENODATA;
	parts->n = message.n_buffers;
	parts->total_bytes = message.total_bytes;
	parts->buffers = parts->inline_buffers;
	if (parts->n > EZ_PARTS_INLINE)
		parts->buffers = calloc(parts->n, sizeof(*parts->buffers));
	if (!parts->buffers)
		return -ENOMEM;
	for (size_t i = 0; i < parts->n && !err; i++)
		err = ez_message_next(&message, &cursor, &parts->buffers[i]);
	if (err)
		ez_parts_free(parts);
	return err;
}

void ez_parts_free(struct ez_parts *parts)
{
	if (parts->buffers != parts->inline_buffers)
		free(parts->buffers);
	parts->buffers = NULL;
}

void ez_parts_move(struct ez_parts *to, const struct ez_parts *from)
{
	*to = *from;
	if (from->buffers == from->inline_buffers)
		to->buffers = to->inline_buffers;
}

static size_t first_bytes(const struct ez_outgoing *outgoing)
{
	size_t bytes = 0;

	for (size_t i = 0; i < outgoing->n_pieces; i++)
		bytes += outgoing->pieces[i].iov_len;
	return bytes;
}

int ez_outgoing_size(const struct ez_outgoing *outgoing, size_t *ret_bytes)
{
	size_t bytes = EZ_MESSAGE_HEADER_BYTES(outgoing->n_buffers + 1);
	size_t i;

	if (outgoing->n_buffers >= EZ_PARTS_MAX)
		return -EMSGSIZE;
	for (i = 0; i < outgoing->n_pieces; i++)
		if (__builtin_add_overflow(bytes, outgoing->pieces[i].iov_len, &bytes))
			return -EMSGSIZE;
	for (i = 0; i < outgoing->n_buffers; i++)
		if (__builtin_add_overflow(bytes, outgoing->buffers[i].iov_len, &bytes))
			return -EMSGSIZE;
	*ret_bytes = bytes;
	return 0;
}

static uint8_t *put(uint8_t *to, const struct iovec *pieces, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (pieces[i].iov_len)
			memcpy(to, pieces[i].iov_base, pieces[i].iov_len);
		to += pieces[i].iov_len;
	}
	return to;
}

size_t ez_outgoing_write_header(const struct ez_outgoing *outgoing, uint64_t message_id,
				uint8_t *to)
{
	size_t n = outgoing->n_buffers + 1;

	memcpy(to, "EZ", 2);
	ez_store_u64(to + 2, message_id);
	ez_store_u64(to + 10, n);
	ez_store_u64(to + 18, first_bytes(outgoing));
	for (size_t i = 1; i < n; i++)
		ez_store_u64(to + 18 + 8 * i, outgoing->buffers[i - 1].iov_len);
	return EZ_MESSAGE_HEADER_BYTES(n);
}

void ez_outgoing_write(const struct ez_outgoing *outgoing, uint64_t message_id, uint8_t *to)
{
	to += ez_outgoing_write_header(outgoing, message_id, to);
	to = put(to, outgoing->pieces, outgoing->n_pieces);
	put(to, outgoing->buffers, outgoing->n_buffers);
}
