/* SPDX-License-Identifier: MIT */
/*
 * Is the server there one of ours, which may be asked for more than a Python one? A mark on this
 * machine says so without any traffic; elsewhere, or with EZPROF_HELLO=1, a HELLO command is tried.
 * On a loopback address without a mark the server is taken for a Python one and left in peace:
 * HELLO would print a warning on its user's console.
 */
#ifndef EZ_HELLO_H
#define EZ_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "clock.h"
#include "parse.h"

#define EZ_HELLO_VARIABLE "EZPROF_HELLO" /* 1 = always try, 0 = never */

/*
 * Opens a control link: connect, greeting, HELLO, its answer. Returns the descriptor, owned by the
 * caller; -ENOTSUP if the server doesn't know HELLO. Only to a server that is known as ours, or as
 * the probe that finds out.
 */
int ez_hello_open(const struct ez_address *address, const char *program, const char *role,
		  ez_mono_ns_t deadline_ns);

/*
 * What a server that is known as ours says of itself: a JSON text, terminated, to be freed by the
 * caller. Errors: as above.
 */
int ez_hello_ask(const struct ez_address *address, const char *program, ez_mono_ns_t deadline_ns,
		 char **ret_answer);

/*
 * 1 = ours, 0 = a server of another kind, negative errno = nobody there, or no graph server.
 * Doesn't touch the network where a mark or a rule settles it. uids: whose marks are trusted
 * besides root's and our own (server_mark.h). Not cached: ask once per process and server.
 */
int ez_hello_is_ours(const struct ez_address *address, const char *program, const uid_t *uids,
		     size_t n_uids, ez_mono_ns_t deadline_ns);

/* Does the address name this machine's loopback: 127.x.x.x, ::1 or localhost? */
bool ez_address_is_loopback(const struct ez_address *address);

#endif
