/* SPDX-License-Identifier: MIT */
/*
 * Sockets the way this project wants them: close-on-exec, no Nagle delay, no SIGPIPE, every wait
 * with a deadline. The descriptors are in blocking mode unless a function says otherwise; read_full
 * and write_full work in either mode. Any thread; negative errno.
 */
#ifndef EZ_FD_H
#define EZ_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"

/*
 * Listens on host (name or literal; the first of its addresses that works) and port (0 = any free
 * one). Returns the descriptor, owned by the caller; ret_port is the port in use. -EADDRINUSE if it
 * is taken, -EADDRNOTAVAIL if the host is unknown or isn't ours. A port that was free is free
 * again as soon as its listener is gone.
 */
int ez_fd_listen(const char *host, uint16_t port, int backlog, uint16_t *ret_port);

/*
 * Listens on all addresses of the host, up to max, with one and the same port: a name such as
 * localhost may stand for one of each family. Returns how many descriptors were written to ret_fds.
 * A family that this machine lacks is left out.
 */
int ez_fd_listen_all(const char *host, uint16_t port, int backlog, int *ret_fds, int max,
		     uint16_t *ret_port);

/*
 * Connects to host and port, trying all addresses of the host, until deadline_ns for all of them
 * together. Returns the descriptor, owned by the caller, or the error of the last address;
 * -ETIMEDOUT, -ECONNREFUSED, -EADDRNOTAVAIL (unknown host) are the usual ones. Resolving a name
 * that isn't a literal may take longer than the deadline.
 */
int ez_fd_connect(const char *host, uint16_t port, ez_mono_ns_t deadline_ns);

/* accept4() with close-on-exec and TCP_NODELAY; nonblock = O_NONBLOCK on the new descriptor. */
int ez_fd_accept(int listen_fd, bool nonblock);

int ez_fd_nonblock(int fd, bool nonblock);
int ez_fd_nodelay(int fd);

/*
 * A peer whose machine or network vanished without a word is found out after about timeout_s,
 * whether it owes an acknowledgement or not. Sockets that a listening one accepts inherit it. As
 * far as the system knows these options; on a unix socket nothing happens.
 */
void ez_fd_peer_timeout(int fd, int timeout_s);

/* Closes fd if it isn't negative, keeps errno, returns -1: fd = ez_fd_close(fd). */
int ez_fd_close(int fd);

/* Waits until fd is readable (closed counts) or writable: 0, -ETIMEDOUT or another error. */
int ez_fd_wait_readable(int fd, ez_mono_ns_t deadline_ns);
int ez_fd_wait_writable(int fd, ez_mono_ns_t deadline_ns);

/*
 * Exactly n bytes of a socket: 0; -ETIMEDOUT; -ENODATA if the peer closed before the first one,
 * -ECONNRESET if amid them.
 */
int ez_fd_read_full(int fd, void *data, size_t n, ez_mono_ns_t deadline_ns);
int ez_fd_write_full(int fd, const void *data, size_t n, ez_mono_ns_t deadline_ns);

/*
 * All of it to a file or pipe, or a negative errno: -EAGAIN where it doesn't block and can't take
 * more. Part of it may be written then. SIGPIPE is the caller's.
 */
int ez_fd_write_all(int fd, const void *data, size_t n);

/*
 * Numeric host of the peer (IPv4 form for an IPv4-mapped address), out at least EZ_HOST_BYTES
 * (parse.h).
 */
int ez_fd_peer_host(int fd, char *out, size_t out_bytes);

int ez_fd_local_port(int fd, uint16_t *ret_port);

#endif
