/* SPDX-License-Identifier: MIT */
#include "fd.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEEPALIVE_PROBES 4

int ez_fd_close(int fd)
{
	int saved_errno = errno;

	if (fd >= 0)
		close(fd);
	errno = saved_errno;
	return -1;
}

int ez_fd_nonblock(int fd, bool nonblock)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	flags = nonblock ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
	return fcntl(fd, F_SETFL, flags) < 0 ? -errno : 0;
}

int ez_fd_nodelay(int fd)
{
	int on = 1;

	return setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0 ? -errno : 0;
}

void ez_fd_peer_timeout(int fd, int timeout_s)
{
	int on = 1, idle_s = timeout_s / 2, count = KEEPALIVE_PROBES;
	int interval_s = timeout_s / 2 / KEEPALIVE_PROBES;
	unsigned int user_timeout_ms = (unsigned int)timeout_s * 1000;

	if (idle_s < 1)
		idle_s = 1;
	if (interval_s < 1)
		interval_s = 1;
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
	/* Keepalive is silent while something is unacknowledged. */
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout_ms, sizeof(user_timeout_ms));
}

static int resolve(const char *host, uint16_t port, int flags, struct addrinfo **ret_list)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
	char service[8];
	int err;

	snprintf(service, sizeof(service), "%u", (unsigned int)port);
	err = getaddrinfo(host, service, &hints, ret_list);
	switch (err) {
	case 0:
		return 0;
	case EAI_MEMORY:
		return -ENOMEM;
	case EAI_SYSTEM:
		return errno ? -errno : -EIO;
	case EAI_AGAIN:
		return -EHOSTUNREACH;
	default:
		return -EADDRNOTAVAIL;
	}
}

static void set_port(struct sockaddr_storage *address, uint16_t port)
{
	/* Both families have the port in the same place. */
	((struct sockaddr_in *)address)->sin_port = htons(port);
}

static int listen_on(const struct addrinfo *ai, uint16_t port, bool only_v6, int backlog,
		     uint16_t *ret_port)
{
	struct sockaddr_storage address = {0};
	int fd, err, on = 1;

	fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, ai->ai_protocol);
	if (fd < 0)
		return -errno;
	memcpy(&address, ai->ai_addr, ai->ai_addrlen);
	set_port(&address, port);
	if (port)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (only_v6 && ai->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	err = bind(fd, (struct sockaddr *)&address, ai->ai_addrlen) < 0 ? -errno : 0;
	/*
	 * Any port: before bind it would allow one that others share. Afterwards it is for those
	 * who want this port again while connections of ours are still in TIME_WAIT.
	 */
	if (!err && !port)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (!err && listen(fd, backlog) < 0)
		err = -errno;
	if (!err)
		err = ez_fd_local_port(fd, ret_port);
	if (err) {
		ez_fd_close(fd);
		return err;
	}
	return fd;
}

int ez_fd_listen(const char *host, uint16_t port, int backlog, uint16_t *ret_port)
{
	struct addrinfo *list;
	int fd = -EADDRNOTAVAIL;
	int err = resolve(host, port, AI_PASSIVE, &list);

	if (err)
		return err;
	for (struct addrinfo *ai = list; ai; ai = ai->ai_next) {
		fd = listen_on(ai, port, false, backlog, ret_port);
		if (fd >= 0)
			break;
	}
	freeaddrinfo(list);
	return fd;
}

static bool is_missing_family(int err)
{
	return err == -EADDRNOTAVAIL || err == -EAFNOSUPPORT;
}

/* How many, or negative errno; then none is left open. */
static int listen_on_list(const struct addrinfo *list, uint16_t port, int backlog, int *fds,
			  int max, uint16_t *ret_port)
{
	int n = 0, err = -EADDRNOTAVAIL;

	for (const struct addrinfo *ai = list; ai && n < max; ai = ai->ai_next) {
		int fd = listen_on(ai, port, list->ai_next != NULL, backlog, &port);

		if (fd >= 0) {
			fds[n++] = fd;
			continue;
		}
		err = fd;
		if (is_missing_family(err))
			continue;
		while (n > 0)
			ez_fd_close(fds[--n]);
		return err;
	}
	if (!n)
		return err;
	*ret_port = port;
	return n;
}

int ez_fd_listen_all(const char *host, uint16_t port, int backlog, int *ret_fds, int max,
		     uint16_t *ret_port)
{
	struct addrinfo *list;
	int n, err = resolve(host, port, AI_PASSIVE, &list);

	if (err)
		return err;
	/* A port that is free in one family may be taken in the other. */
	for (int i = 0; i < 16; i++) {
		n = listen_on_list(list, port, backlog, ret_fds, max, ret_port);
		if (n != -EADDRINUSE || port)
			break;
	}
	freeaddrinfo(list);
	return n;
}

/*
 * A connect to a free port of the ephemeral range can meet itself (simultaneous open): to the
 * caller that would look like a listener that echoes.
 */
static bool connected_to_itself(int fd)
{
	struct sockaddr_storage own = {0}, peer = {0};
	socklen_t own_len = sizeof(own), peer_len = sizeof(peer);

	if (getsockname(fd, (struct sockaddr *)&own, &own_len) < 0 ||
	    getpeername(fd, (struct sockaddr *)&peer, &peer_len) < 0)
		return false;
	return own_len == peer_len && memcmp(&own, &peer, own_len) == 0;
}

static int finish_connect(int fd, ez_mono_ns_t deadline_ns)
{
	int err = ez_fd_wait_writable(fd, deadline_ns);
	int so_error = 0;
	socklen_t len = sizeof(so_error);

	if (err)
		return err;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &so_error, &len) < 0)
		return -errno;
	return -so_error;
}

static int connect_to(const struct addrinfo *ai, ez_mono_ns_t deadline_ns)
{
	int fd, err = 0;

	fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, ai->ai_protocol);
	if (fd < 0)
		return -errno;
	if (connect(fd, ai->ai_addr, ai->ai_addrlen) < 0)
		err = errno == EINPROGRESS ? finish_connect(fd, deadline_ns) : -errno;
	if (!err && connected_to_itself(fd))
		err = -ECONNREFUSED;
	if (!err)
		err = ez_fd_nodelay(fd);
	if (!err)
		err = ez_fd_nonblock(fd, false);
	if (err) {
		ez_fd_close(fd);
		return err;
	}
	return fd;
}

int ez_fd_connect(const char *host, uint16_t port, ez_mono_ns_t deadline_ns)
{
	struct addrinfo *list;
	int fd = -EADDRNOTAVAIL;
	int err;

	if (port == 0)
		return -ECONNREFUSED;
	err = resolve(host, port, 0, &list);
	if (err)
		return err;
	for (struct addrinfo *ai = list; ai; ai = ai->ai_next) {
		fd = connect_to(ai, deadline_ns);
		if (fd >= 0 || fd == -ETIMEDOUT)
			break;
	}
	freeaddrinfo(list);
	return fd;
}

int ez_fd_accept(int listen_fd, bool nonblock)
{
	int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC | (nonblock ? SOCK_NONBLOCK : 0));

	if (fd < 0)
		return -errno;
	/*
	 * Fails on a unix socket, where it isn't needed, and where the peer is gone, which the
	 * first read tells.
	 */
	ez_fd_nodelay(fd);
	return fd;
}

static int wait_for(int fd, short events, ez_mono_ns_t deadline_ns)
{
	struct pollfd pfd = {.fd = fd, .events = events};

	for (;;) {
		int left_ms = ez_clock_left_ms(deadline_ns, ez_clock_mono_ns());
		int n = poll(&pfd, 1, left_ms);

		if (n > 0)
			return pfd.revents & POLLNVAL ? -EBADF : 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0 && left_ms != INT_MAX)
			return -ETIMEDOUT;
	}
}

int ez_fd_wait_readable(int fd, ez_mono_ns_t deadline_ns)
{
	return wait_for(fd, POLLIN, deadline_ns);
}

int ez_fd_wait_writable(int fd, ez_mono_ns_t deadline_ns)
{
	return wait_for(fd, POLLOUT, deadline_ns);
}

int ez_fd_read_full(int fd, void *data, size_t n, ez_mono_ns_t deadline_ns)
{
	uint8_t *p = data;
	size_t got = 0;

	while (got < n) {
		ssize_t r = recv(fd, p + got, n - got, MSG_DONTWAIT);
		int err;

		if (r > 0) {
			got += (size_t)r;
			continue;
		}
		if (r == 0)
			return got ? -ECONNRESET : -ENODATA;
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return -errno;
		err = ez_fd_wait_readable(fd, deadline_ns);
		if (err)
			return err;
	}
	return 0;
}

int ez_fd_write_full(int fd, const void *data, size_t n, ez_mono_ns_t deadline_ns)
{
	const uint8_t *p = data;
	size_t sent = 0;

	while (sent < n) {
		ssize_t r = send(fd, p + sent, n - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
		int err;

		if (r >= 0) {
			sent += (size_t)r;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return -errno;
		err = ez_fd_wait_writable(fd, deadline_ns);
		if (err)
			return err;
	}
	return 0;
}

int ez_fd_write_all(int fd, const void *data, size_t n)
{
	const uint8_t *p = data;
	size_t done = 0;

	while (done < n) {
		ssize_t r = write(fd, p + done, n - done);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return r ? -errno : -ENOSPC;
		done += (size_t)r;
	}
	return 0;
}

int ez_fd_peer_host(int fd, char *out, size_t out_bytes)
{
	struct sockaddr_storage peer = {0};
	socklen_t len = sizeof(peer);
	static const char mapped[] = "::ffff:";

	if (getpeername(fd, (struct sockaddr *)&peer, &len) < 0)
		return -errno;
	if (getnameinfo((struct sockaddr *)&peer, len, out, (socklen_t)out_bytes, NULL, 0,
			NI_NUMERICHOST) != 0)
		return -EINVAL;
	if (strncmp(out, mapped, strlen(mapped)) == 0 && strchr(out, '.'))
		memmove(out, out + strlen(mapped), strlen(out + strlen(mapped)) + 1);
	return 0;
}

int ez_fd_local_port(int fd, uint16_t *ret_port)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} own;
	socklen_t len = sizeof(own);

	if (getsockname(fd, &own.any, &len) < 0)
		return -errno;
	if (own.any.sa_family == AF_INET)
		*ret_port = ntohs(own.v4.sin_port);
	else if (own.any.sa_family == AF_INET6)
		*ret_port = ntohs(own.v6.sin6_port);
	else
		return -EAFNOSUPPORT;
	return 0;
}
