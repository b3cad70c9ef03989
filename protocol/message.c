/* SPDX-License-Identifier: MIT */
#include "message.h"

#include <errno.h>
#include <string.h>

#include "frame.h"

static const uint8_t magic[2] = {'E', 'Z'};

int ez_message_parse(const void *data, size_t n, struct ez_message *ret_message)
{
	const uint8_t *p = data;
	struct ez_message message;
	uint64_t n_buffers, sum = 0;
	size_t header_bytes;

	if (n < sizeof(magic) || memcmp(p, magic, sizeof(magic)) != 0)
		return -ENODATA;
	if (n < EZ_MESSAGE_HEADER_BYTES(1))
		return -EBADMSG;
	n_buffers = ez_load_u64(p + 10);
	if (n_buffers == 0 || n_buffers > EZ_MESSAGE_BUFFERS_MAX)
		return -EBADMSG;
	header_bytes = EZ_MESSAGE_HEADER_BYTES(n_buffers);
	if (header_bytes > n)
		return -EBADMSG;
	for (size_t i = 0; i < n_buffers; i++) {
		uint64_t len = ez_load_u64(p + 18 + 8 * i);

		if (len > n - header_bytes - sum)
			return -EBADMSG;
		sum += len;
	}
	message.msg_id = ez_load_u64(p + 2);
	message.n_buffers = (size_t)n_buffers;
	message.lengths = p + 18;
	message.payload = p + header_bytes;
	message.payload_bytes = (size_t)sum;
	message.total_bytes = header_bytes + (size_t)sum;
	*ret_message = message;
	return 0;
}

int ez_message_next(const struct ez_message *message, struct ez_message_cursor *cursor,
		    struct iovec *ret_buffer)
{
	uint64_t len;

	if (cursor->index >= message->n_buffers)
		return -ENOENT;
	len = ez_load_u64(message->lengths + 8 * cursor->index);
	if (len > message->payload_bytes - cursor->offset)
		return -EBADMSG;
	ret_buffer->iov_base = (void *)(message->payload + cursor->offset);
	ret_buffer->iov_len = (size_t)len;
	cursor->offset += (size_t)len;
	cursor->index++;
	return 0;
}

int ez_message_size(const struct iovec *buffers, size_t n, size_t *ret_bytes)
{
	size_t bytes;

	if (n == 0 || n > EZ_MESSAGE_BUFFERS_MAX)
		return -EMSGSIZE;
	bytes = EZ_MESSAGE_HEADER_BYTES(n);
	for (size_t i = 0; i < n; i++)
		if (__builtin_add_overflow(bytes, buffers[i].iov_len, &bytes))
			return -EMSGSIZE;
	*ret_bytes = bytes;
	return 0;
}

int ez_message_write_header(void *to, size_t room, uint64_t msg_id, const struct iovec *buffers,
			    size_t n)
{
	uint8_t *p = to;

	if (n == 0 || n > EZ_MESSAGE_BUFFERS_MAX)
		return -EMSGSIZE;
	if (EZ_MESSAGE_HEADER_BYTES(n) > room)
		return -ENOSPC;
	memcpy(p, magic, sizeof(magic));
	ez_store_u64(p + 2, msg_id);
	ez_store_u64(p + 10, n);
	for (size_t i = 0; i < n; i++)
		ez_store_u64(p + 18 + 8 * i, buffers[i].iov_len);
	return 0;
}

int ez_message_write(void *to, size_t room, uint64_t msg_id, const struct iovec *buffers, size_t n)
{
	uint8_t *p = (uint8_t *)to + EZ_MESSAGE_HEADER_BYTES(n);
	size_t bytes;
	int err = ez_message_size(buffers, n, &bytes);

	if (err)
		return err;
	if (bytes > room)
		return -ENOSPC;
	err = ez_message_write_header(to, room, msg_id, buffers, n);
	for (size_t i = 0; !err && i < n; i++) {
		if (buffers[i].iov_len)
			memcpy(p, buffers[i].iov_base, buffers[i].iov_len);
		p += buffers[i].iov_len;
	}
	return err;
}
