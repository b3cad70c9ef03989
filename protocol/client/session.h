/* SPDX-License-Identifier: MIT */
/*
 * A session with a graph server of ezmsg 3.9.0 or later, for looking only: nothing here changes the
 * graph. Blocking until deadline_ns at the latest; one thread per descriptor. Errors: those of
 * client.h, and of pickle_session.h. Never to be used with an older server: the bytes mean nothing
 * there, or something else.
 */
#ifndef EZ_SESSION_H
#define EZ_SESSION_H

#include "clock.h"
#include "parse.h"
#include "pickle_session.h"

/* A session; returns the descriptor, which is the session's life. */
int ez_session_open(const struct ez_address *address, ez_mono_ns_t deadline_ns);

/* Who is there. ez_snapshot_free() it. */
int ez_session_snapshot(int fd, ez_mono_ns_t deadline_ns, struct ez_snapshot **ret_snapshot);

/*
 * Asks the process that has that unit to trace all its messages for ttl_s. 0: it has answered, see
 * ret_answer.
 */
int ez_session_trace(int fd, const char *unit, double ttl_s, ez_mono_ns_t deadline_ns,
		     struct ez_process_answer *ret_answer);

/* The stream of samples, a connection of its own; returns the descriptor. */
int ez_trace_stream_open(const struct ez_address *address, double interval_s, int64_t max_samples,
			 ez_mono_ns_t deadline_ns);

/*
 * The next batch: -ETIMEDOUT = none has begun to come by until_ns, later ones may be asked for; one
 * that has begun may take until deadline_ns.
 */
int ez_trace_stream_next(int fd, ez_mono_ns_t until_ns, ez_mono_ns_t deadline_ns,
			 ez_trace_sink sink, void *context);

#endif
