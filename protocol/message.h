/* SPDX-License-Identifier: MIT */
/*
 * A marshalled message: "EZ", u64 id, u64 number of buffers, u64 length of each, then the buffers
 * back to back. It stands in shared memory that another process may change while it is read, so
 * every length is read once and judged when it is used. Any thread.
 */
#ifndef EZ_MESSAGE_H
#define EZ_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define EZ_MESSAGE_BUFFERS_MAX 4096

/* Bytes of the header of a message with n buffers. */
#define EZ_MESSAGE_HEADER_BYTES(n) (18 + 8 * (size_t)(n))

struct ez_message {
	uint64_t msg_id;
	size_t n_buffers;	/* 1 to EZ_MESSAGE_BUFFERS_MAX */
	size_t total_bytes;	/* header and buffers */
	const uint8_t *lengths; /* borrowed, unaligned */
	const uint8_t *payload; /* first byte of the first buffer */
	size_t payload_bytes;
};

/*
 * Parses what stands at data; n = how many bytes there are at most (in shared memory: the slot).
 * 0; -ENODATA = no "EZ" there; -EBADMSG = malformed, too many buffers, or longer than n.
 */
int ez_message_parse(const void *data, size_t n, struct ez_message *ret_message);

/*
 * Walks over the buffers. Zero-initialise, then call until it returns -ENOENT (end) or -EBADMSG
 * (changed meanwhile).
 */
struct ez_message_cursor {
	size_t index;
	size_t offset;
};

int ez_message_next(const struct ez_message *message, struct ez_message_cursor *cursor,
		    struct iovec *ret_buffer);

/*
 * Bytes that a message of these buffers takes; -EMSGSIZE if there are none, too many or the sum
 * overflows.
 */
int ez_message_size(const struct iovec *buffers, size_t n, size_t *ret_bytes);

/*
 * Writes header, or header and buffers, at most `room` bytes: 0, -EMSGSIZE, or -ENOSPC if it
 * doesn't fit.
 */
int ez_message_write_header(void *to, size_t room, uint64_t msg_id, const struct iovec *buffers,
			    size_t n);
int ez_message_write(void *to, size_t room, uint64_t msg_id, const struct iovec *buffers, size_t n);

#endif
