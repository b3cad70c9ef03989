/* SPDX-License-Identifier: MIT */
/*
 * A numbered history of events, pickled, and the connections that follow it. Loop thread only.
 */
#ifndef EZPROF_EVENT_LOG_H
#define EZPROF_EVENT_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

struct ezprof_conn;
struct ezprof_event;
struct ezprof_follower;

/* Starts zeroed. */
struct ezprof_event_log {
	struct ezprof_event *events; /* oldest first; as many as the limits let it keep */
	size_t n, bytes;
	uint64_t last_seq;
	struct ezprof_follower *followers;
};

/*
 * Appends the event with the number last_seq + 1: a pickle's value without its first and last
 * opcodes. Takes its bytes; sends it to all that follow. An event that failed to be written is
 * dropped with a log line.
 */
void ezprof_event_log_append(struct ezprof_event_log *log, struct ez_buffer *event);

/* Appends a pickle: the list of the events after a number. */
void ezprof_event_log_put_list(const struct ezprof_event_log *log, uint64_t after_seq,
			       struct ez_buffer *out);

/* Sends conn what came after a number, and all that comes. NULL without memory. */
struct ezprof_follower *ezprof_event_log_follow(struct ezprof_event_log *log,
						struct ezprof_conn *conn, uint64_t after_seq);
void ezprof_event_log_leave(struct ezprof_event_log *log, struct ezprof_follower *follower);

void ezprof_event_log_clear(struct ezprof_event_log *log);

#endif
