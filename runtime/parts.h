/* SPDX-License-Identifier: MIT */
/*
 * The buffers of a marshalled message, found and, for a sender, laid out. Apart from protocol's
 * message.h, whose struct ez_message would meet the public type of that name.
 */
#ifndef EZ_PARTS_H
#define EZ_PARTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define EZ_PARTS_INLINE 3
#define EZ_PARTS_MAX 4096 /* buffers of a message */
#define EZ_PARTS_HEADER_BYTES(n) (18 + 8 * (size_t)(n))

/* What stands in a received message: borrowed pointers into it. */
struct ez_parts {
	size_t n;
	size_t total_bytes; /* header and buffers */
	struct iovec *buffers;
	struct iovec inline_buffers[EZ_PARTS_INLINE];
};

/*
 * Parses at most `room` bytes. 0; -ENODATA: no message there, or one with another id; -EBADMSG;
 * -ENOMEM. Free with ez_parts_free().
 */
int ez_parts_parse(struct ez_parts *parts, const void *data, size_t room, uint64_t message_id);
void ez_parts_free(struct ez_parts *parts);
/* `to` takes over what `from` holds. */
void ez_parts_move(struct ez_parts *to, const struct ez_parts *from);

/*
 * What is to be sent: buffers 1.. as they are, buffer 0 perhaps in up to three pieces, so that a
 * large value needn't be copied in between a pickle's first and last bytes.
 */
struct ez_outgoing {
	const struct iovec *pieces; /* of buffer 0 */
	size_t n_pieces;
	const struct iovec *buffers; /* the others */
	size_t n_buffers;	     /* without buffer 0 */
};

/* Marshalled bytes; -EMSGSIZE: too many buffers, or the sum overflows. */
int ez_outgoing_size(const struct ez_outgoing *outgoing, size_t *ret_bytes);

/* Writes what comes before the buffers, EZ_PARTS_HEADER_BYTES() of them; returns the length. */
size_t ez_outgoing_write_header(const struct ez_outgoing *outgoing, uint64_t message_id,
				uint8_t *to);
/* Writes it to `to`, which has room for ez_outgoing_size(). */
void ez_outgoing_write(const struct ez_outgoing *outgoing, uint64_t message_id, uint8_t *to);

#endif
