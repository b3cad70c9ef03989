/* SPDX-License-Identifier: MIT */
/*
 * The beginning of every connection to a graph server: connect, read the version that it announces.
 * And the reading of single values from there on, for links whose messages come one at a time.
 */
#ifndef EZ_GREETING_H
#define EZ_GREETING_H

#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "clock.h"
#include "parse.h"
#include "request.h"

/*
 * Connects and reads the greeting. Returns the descriptor, owned by the caller. ret_version may be
 * NULL. -EPROTO = something answers there, but no graph server; -ETIMEDOUT, -ECONNREFUSED and so
 * on.
 */
int ez_greeting_open(const struct ez_address *address, ez_mono_ns_t deadline_ns,
		     char ret_version[EZ_VERSION_BYTES]);

/* Sends what the request holds; its sticky error, or that of the socket. */
int ez_link_send(int fd, const struct ez_buffer *request, ez_mono_ns_t deadline_ns);

/* One value each: 0; -ENODATA (closed), -ETIMEDOUT, -EMSGSIZE (longer than max). */
int ez_link_read_u8(int fd, ez_mono_ns_t deadline_ns, uint8_t *ret_value);
int ez_link_read_u64(int fd, ez_mono_ns_t deadline_ns, uint64_t *ret_value);

/* A str, terminated for convenience, to be freed by the caller. */
int ez_link_read_str(int fd, size_t max, ez_mono_ns_t deadline_ns, char **ret_text,
		     size_t *ret_len);

#endif
