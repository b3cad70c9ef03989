/* SPDX-License-Identifier: MIT */
/*
 * What threads did while an endpoint's intervals 1 (a callback, a wait) were in progress: pure
 * arithmetic, no clock, no I/O. What comes in may be anything; what comes out adds up to time_ns.
 */
#ifndef EZPROF_SCHED_FOLD_H
#define EZPROF_SCHED_FOLD_H

#include <stddef.h>
#include <stdint.h>

#include "fold.h"
#include "sched_shared.h"

/* One bucket, ids in ascending order without a gap. */
struct ezprof_sched_bucket {
	uint64_t sum_ns, carry_ns;	       /* of intervals that ended in it */
	uint64_t covered_ns, covered_carry_ns; /* of work that ended in it */
	uint64_t off_ns[EZ_SCHED_STATES];      /* off the CPU at work, in it */
};

/* A thread that is off the CPU now, at work. */
struct ezprof_sched_open {
	uint64_t off_ns;
	uint64_t wake_ns; /* 0: sleeping */
};

/* Times are on the process's clock. */
struct ezprof_sched_input {
	uint64_t begin_ns, end_ns; /* the part of the window in which threads were looked at */
	uint64_t from_ns;	   /* since then they are; begin_ns is not before it */
	uint64_t first_id;	   /* of the bucket that begin_ns is in */
	size_t count;
	const struct ezprof_sched_bucket *buckets;
	uint64_t since_ns;			    /* an interval in progress; 0: none */
	uint64_t covered_since_ns, covered_kept_ns; /* struct ez_covered: work in progress */
	size_t open_count;
	const struct ezprof_sched_open *open;
};

void ezprof_sched_fold(const struct ezprof_sched_input *input, struct ezprof_sched *ret_sched);

#endif
