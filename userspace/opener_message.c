/* SPDX-License-Identifier: MIT */
/* One message with descriptors over a SOCK_SEQPACKET socket; see opener_message.h. */
#include "opener_message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int) * EZPROF_LINKS_MAX)];
};

void ezprof_opener_fds_close(struct ezprof_opener_fds *fds)
{
	while (fds->count > 0)
		close(fds->fds[--fds->count]);
}

int ezprof_opener_send(int socket_fd, const void *message, size_t bytes,
		       const struct ezprof_opener_fds *fds)
{
	struct iovec iov = {.iov_base = (void *)(uintptr_t)message, .iov_len = bytes};
	struct msghdr h = {.msg_iov = &iov, .msg_iovlen = 1};
	union control control;
	struct cmsghdr *c;
	ssize_t n;

	if (fds && fds->count) {
		memset(&control, 0, sizeof(control));
		h.msg_control = control.bytes;
		h.msg_controllen = CMSG_SPACE(sizeof(int) * fds->count);
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * fds->count);
		memcpy(CMSG_DATA(c), fds->fds, sizeof(int) * fds->count);
	}
	do
		n = sendmsg(socket_fd, &h, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	return (size_t)n == bytes ? 0 : -EBADMSG;
}

static void take_fds(struct msghdr *h, struct ezprof_opener_fds *fds)
{
	struct cmsghdr *c;

	fds->count = 0;
	for (c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(fds->fds + fds->count, CMSG_DATA(c), count * sizeof(int));
		fds->count += (uint32_t)count;
	}
}

int ezprof_opener_receive(int socket_fd, void *ret_message, size_t bytes,
			  struct ezprof_opener_fds *ret_fds)
{
	struct iovec iov = {.iov_base = ret_message, .iov_len = bytes};
	union control control;
	struct msghdr h = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control.bytes,
			   .msg_controllen = sizeof(control.bytes)};
	struct ezprof_opener_fds fds;
	ssize_t n;

	do
		n = recvmsg(socket_fd, &h, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n == 0 || errno == ECONNRESET ? -EPIPE : -errno;
	take_fds(&h, &fds);
	if ((size_t)n != bytes || (h.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		ezprof_opener_fds_close(&fds);
		/* No peer of ours sends more than there is room for: our own limit is reached. */
		return h.msg_flags & MSG_CTRUNC ? -EMFILE : -EBADMSG;
	}
	if (ret_fds)
		*ret_fds = fds;
	else
		ezprof_opener_fds_close(&fds);
	return 0;
}
