/* SPDX-License-Identifier: MIT */
/*
 * One request to a graph server, each on a connection of its own, blocking until deadline_ns at the
 * latest (clock.h). Any thread; the functions share nothing. Errors: those of ez_greeting_open(),
 * and -ENODATA = the server closed the connection without an answer.
 */
#ifndef EZ_CLIENT_H
#define EZ_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "parse.h"
#include "pickle_dag.h"

/* Is a graph server there? ret_version (64 bytes, EZ_VERSION_BYTES) may be NULL. */
int ez_client_ping(const struct ez_address *address, ez_mono_ns_t deadline_ns, char *ret_version);

/* An edge between topics; -ELOOP if it would close a cycle. */
int ez_client_connect(const struct ez_address *address, const char *from, const char *to,
		      ez_mono_ns_t deadline_ns);
int ez_client_disconnect(const struct ez_address *address, const char *from, const char *to,
			 ez_mono_ns_t deadline_ns);

/*
 * All publishers of the graph. SYNC returns when each is paused and holds no lease any more; they
 * stay paused.
 */
int ez_client_pause(const struct ez_address *address, ez_mono_ns_t deadline_ns);
int ez_client_resume(const struct ez_address *address, ez_mono_ns_t deadline_ns);
int ez_client_sync(const struct ez_address *address, ez_mono_ns_t deadline_ns);

/* The topics and edges; ez_dag_free() it. */
int ez_client_dag(const struct ez_address *address, ez_mono_ns_t deadline_ns,
		  struct ez_dag **ret_dag);

/* Ends the server. Returns when it has closed the connection. */
int ez_client_shutdown(const struct ez_address *address, ez_mono_ns_t deadline_ns);

/*
 * The profile document of a server that is known as ours (hello.h). ret_json is terminated, to be
 * freed by the caller. program is the caller's name. Give it more time than the server's own
 * deadline of 1 s.
 */
int ez_client_profile(const struct ez_address *address, const char *program, uint64_t window_ms,
		      ez_mono_ns_t deadline_ns, char **ret_json, size_t *ret_len);

#endif
