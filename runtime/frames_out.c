/* SPDX-License-Identifier: MIT */
#include "frames_out.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "command.h"
#include "frame.h"

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
	memcpy(head + 17, segment_name, n);
	add_head(out, 17 + n);
}

void ez_frames_out_add_tcp(struct ez_frames_out *out, uint64_t id, const uint8_t *body,
			   size_t bytes)
{
	uint8_t *head = out->heads + out->head_bytes;

	head[0] = EZ_CMD_TX_TCP;
	ez_store_u64(head + 1, id);
	ez_store_u64(head + 9, bytes);
	add_head(out, 17);
	out->part[out->parts++] = (struct iovec){(void *)body, bytes};
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
