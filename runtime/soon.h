/* SPDX-License-Identifier: MIT */
/*
 * What an I/O loop does unless somebody is quicker: jobs with a point in time that any thread sets,
 * and puts off, without waking the loop's. A thread in a flow of messages puts its own off before
 * the timer runs out, so that nothing happens at all; mostly that is a comparison.
 */
#ifndef EZ_SOON_H
#define EZ_SOON_H

#include <pthread.h>
#include <stdbool.h>

#include "io_loop.h"

struct ez_soon {
	struct ez_soon *next;	    /* of the process */
	uint32_t generation;	    /* fork_guard.h */
	struct ez_io_source source; /* a timerfd */
	pthread_mutex_t lock;
	struct ez_io_late *jobs; /* under the lock, as is */
	ez_mono_ns_t armed_ns;	 /* when it runs out; EZ_NEVER */
};

/* The descriptor is still to be watched. */
int ez_soon_open(struct ez_soon *soon);
void ez_soon_close(struct ez_soon *soon);
/* See ez_io_at_latest(). */
bool ez_soon_set(struct ez_soon *soon, struct ez_io_late *job, ez_mono_ns_t now_ns);
/* Runs all that are there, whenever they are due. On the loop's thread. */
void ez_soon_run_all(struct ez_soon *soon);

#endif
