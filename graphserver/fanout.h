/* SPDX-License-Identifier: MIT */
/*
 * One PROFILE request as a state machine: whom it was sent to, who has answered, who failed and
 * why, and when it is over. Pure: no sockets, and the clock comes as an argument. One thread.
 */
#ifndef EZPROF_FANOUT_H
#define EZPROF_FANOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"

/* Who is asked. All strings may be NULL (unknown) but `who`; pid 0 = unknown. */
struct ezprof_asked {
	const char *who; /* "publisher", "channel" or "agent": a constant */
	const char *id;
	const char *topic; /* a channel's: its publisher's */
	const char *host;
	int64_t pid;
};

enum ezprof_target_state {
	EZPROF_TARGET_PENDING,
	EZPROF_TARGET_ANSWERED,
	EZPROF_TARGET_FAILED,
};

struct json_object;

struct ezprof_target {
	struct ezprof_asked asked; /* strings owned by the fan-out */
	enum ezprof_target_state state;
	char *answer; /* owned; not terminated */
	size_t answer_bytes;
	struct json_object *read; /* owned; in the answer's place, once ezprof_reply_read() did */
	const char *reason;	  /* constants, if it failed */
	const char *detail;
};

struct ezprof_fanout {
	uint64_t window_ms;
	ez_mono_ns_t deadline_ns;
	struct ezprof_target *targets;
	size_t n_targets, n_pending, capacity;
};

struct ezprof_fanout *ezprof_fanout_new(uint64_t window_ms, ez_mono_ns_t deadline_ns);
void ezprof_fanout_free(struct ezprof_fanout *fanout); /* NULL is fine */

/* Adds a pending target, its strings copied. ret_index names it from now on. 0 or -ENOMEM. */
int ezprof_fanout_add(struct ezprof_fanout *fanout, const struct ezprof_asked *asked,
		      size_t *ret_index);

/*
 * The target has answered; the bytes are copied. Without memory it fails instead. No effect unless
 * it is pending.
 */
void ezprof_fanout_answer(struct ezprof_fanout *fanout, size_t index, const char *data, size_t len);

/* The target won't answer. reason and detail are constants. No effect unless it is pending. */
void ezprof_fanout_fail(struct ezprof_fanout *fanout, size_t index, const char *reason,
			const char *detail);

/* At or after the deadline all pending targets fail with "timeout". */
void ezprof_fanout_expire(struct ezprof_fanout *fanout, ez_mono_ns_t now_ns);

/* Nobody is pending: the document can be made. */
bool ezprof_fanout_is_done(const struct ezprof_fanout *fanout);

#endif
