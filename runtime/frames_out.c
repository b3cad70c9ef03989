/* SPDX-License-Identifier: MIT */
#include "frames_out.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "command.h"
#include "frame.h"

#define HEAD_BYTES 17 /* a command and two numbers */

/* Heads that follow each other are one part. */
static void add_head(struct ez_frames_out *out, size_t bytes)
{
	uint8_t *head = out->heads + out->head_bytes;
	struct iovec *last = out->parts ? &out->part[out->parts - 1] : NULL;

	out->head_bytes += bytes;
	if (last && (uint8_t *)last->iov_base + last->iov_len == head)
		last->iov_len += bytes;
	else
		out->part[out->parts++] = (struct iovec){head, bytes};
}

void ez_frames_out_add_shm(struct ez_frames_out *out, uint64_t id, const char *segment_name)
{
	uint8_t *head = out->heads + out->head_bytes;
	size_t n = strlen(segment_name);

	head[0] = EZ_CMD_TX_SHM;
	ez_store_u64(head + 1, id);
	ez_store_u64(head + 9, n);
	memcpy(head + HEAD_BYTES, segment_name, n);
	add_head(out, HEAD_BYTES + n);
}

static void put_tcp_head(uint8_t *head, uint64_t id, size_t bytes)
{
	head[0] = EZ_CMD_TX_TCP;
	ez_store_u64(head + 1, id);
	ez_store_u64(head + 9, bytes);
}

void ez_frames_out_add_tcp(struct ez_frames_out *out, uint64_t id, const uint8_t *body,
			   size_t bytes)
{
	put_tcp_head(out->heads + out->head_bytes, id, bytes);
	add_head(out, HEAD_BYTES);
	out->part[out->parts++] = (struct iovec){(void *)body, bytes};
}

bool ez_frames_out_fits(const struct ez_outgoing *outgoing)
{
	size_t header = EZ_PARTS_HEADER_BYTES(outgoing->n_buffers + 1);

	return HEAD_BYTES + header <= EZ_FRAME_HEAD_BYTES_MAX &&
	       1 + outgoing->n_pieces + outgoing->n_buffers <= 2 * EZ_GATHER_MAX;
}

static void add_parts(struct ez_frames_out *out, const struct iovec *parts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out->part[out->parts++] = parts[i];
}

void ez_frames_out_add_pieces(struct ez_frames_out *out, uint64_t id,
			      const struct ez_outgoing *outgoing, size_t bytes)
{
	size_t header = ez_outgoing_write_header(outgoing, id, out->heads + HEAD_BYTES);

	put_tcp_head(out->heads, id, bytes);
	add_head(out, HEAD_BYTES + header);
	add_parts(out, outgoing->pieces, outgoing->n_pieces);
	add_parts(out, outgoing->buffers, outgoing->n_buffers);
}

void ez_frames_out_move(struct ez_frames_out *out, const uint8_t *body, size_t bytes)
{
	size_t left = 0, head_left;

	for (uint32_t i = out->done; i < out->parts; i++)
		left += out->part[i].iov_len;
	head_left = left > bytes ? left - bytes : 0;
	left -= head_left;
	out->done = 0;
	out->parts = 0;
	if (head_left)
		out->part[out->parts++] =
			(struct iovec){out->heads + HEAD_BYTES - head_left, head_left};
	out->part[out->parts++] = (struct iovec){(void *)(body + bytes - left), left};
}

static void consume(struct ez_frames_out *out, size_t n)
{
	struct iovec *part;

	for (; out->done < out->parts; out->done++) {
		part = &out->part[out->done];
		if (n < part->iov_len) {
			part->iov_base = (uint8_t *)part->iov_base + n;
			part->iov_len -= n;
			return;
		}
		n -= part->iov_len;
	}
	ez_frames_out_clear(out);
}

int ez_frames_out_write(struct ez_frames_out *out, int fd)
{
	struct msghdr message = {0};
	ssize_t n;

	while (out->parts) {
		message.msg_iov = out->part + out->done;
		message.msg_iovlen = out->parts - out->done;
		n = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		consume(out, (size_t)n);
	}
	return 0;
}
