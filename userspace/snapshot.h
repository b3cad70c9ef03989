/* SPDX-License-Identifier: MIT */
/*
 * Joins, in the order that makes the figures agree: an endpoint's counters from its process, then
 * what the maps hold of it, then the counters again. What was counted twice or not at all would
 * show as a loss; see loss.h. One thread.
 */
#ifndef EZPROF_SNAPSHOT_H
#define EZPROF_SNAPSHOT_H

#include <stdbool.h>
#include <sys/types.h>

#include "measurement.h"
#include "profile.h"

/* Everybody's. */
#define EZPROF_VIEWER_ALL ((uid_t)-1)

struct ezprof_snapshot_request {
	uint64_t window_ns;
	uid_t viewer;	   /* only processes of this user, or EZPROF_VIEWER_ALL */
	const char *graph; /* only what belongs to the graph at this address; NULL: everything */
	bool with_exited;  /* also the endpoints of processes that have ended, as they ended */
};

struct ezprof_snapshot;

/* Buffers that are used again by every taking. NULL without memory. */
struct ezprof_snapshot *ezprof_snapshot_new(const struct ezprof_measurement *measurement);
void ezprof_snapshot_free(struct ezprof_snapshot *snapshot); /* NULL is fine */

/*
 * Takes one: a few us per endpoint, and never waits for a process. The profile belongs to the
 * snapshot until the next taking; its cost is the caller's to fill in. Errors: -ENOMEM.
 */
int ezprof_snapshot_take(struct ezprof_snapshot *snapshot,
			 const struct ezprof_snapshot_request *request,
			 struct ezprof_profile **ret_profile);

/* Keeps the rows of a process that has just ended in target->last_rows. Without memory: none. */
void ezprof_snapshot_keep(const struct ezprof_measurement *measurement,
			  struct ezprof_target *target);

#endif
