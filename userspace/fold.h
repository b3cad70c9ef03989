/* SPDX-License-Identifier: MIT */
/*
 * From raw map values to the figures of a window: pure arithmetic, no clock, no I/O. What comes in
 * may be anything; what comes out is in range (no overflow, nothing negative, covered <= asked
 * range, blocked <= covered).
 */
#ifndef EZPROF_FOLD_H
#define EZPROF_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "bucket_shared.h"
#include "window_shared.h"

#define EZPROF_WINDOW_MIN_NS 150000000ull
#define EZPROF_WINDOW_MAX_NS 16000000000ull

/* Times are CLOCK_MONOTONIC of the host. */
struct ezprof_fold_input {
	const struct ez_ring *rings; /* cpu_count of them; NULL: nothing was ever counted */
	unsigned int cpu_count;
	const struct ez_slot *slot; /* NULL: as above */
	uint64_t owner;		    /* whose figures: EZ_OWNER_READY() */
	uint64_t now_ns;	    /* read after the maps */
	uint64_t window_ns;	    /* requested */
	uint64_t attached_ns;	    /* when the process's hits began to count */
	uint64_t opened_ns;	    /* when the endpoint was opened */
	uint64_t blocked_since_ns;  /* publisher: start of the wait in progress; 0: none */
};

struct ezprof_interval {
	uint64_t samples, sum_ns, max_ns;
};

/* What the time of interval 1 in the window was spent on; see sched_fold.h. They add up. */
struct ezprof_sched {
	bool known;
	uint64_t time_ns, on_cpu_ns, runnable_ns, blocked_ns, other_ns;
};

struct ezprof_window {
	/* in the window */
	uint64_t begin_ns, end_ns;
	uint64_t requested_ns;
	uint64_t covered_ns; /* end - begin: what rates divide by; 0: nothing was covered */
	bool warming_up;     /* covered less than asked, because endpoint or attach are younger */
	uint64_t messages, bytes;
	struct ezprof_interval interval[EZ_INTERVALS];
	uint64_t blocked_ns; /* of the window, waits in progress included */
	/* Window path only: distributions of intervals 0 to 2 in bins of histogram.h; the longest
	   gap, one in progress included, and when it ended; what is in progress (0: nothing). */
	bool has_hist;
	uint64_t min_ns[EZ_INTERVALS]; /* 0 without samples */
	uint32_t hist[EZ_HISTS][EZ_HIST_BINS];
	uint64_t gap_longest_ns, gap_longest_at_ns;
	uint64_t gap_open_ns, processing_open_ns;
	struct ezprof_sched sched; /* only with --sched */
	uint64_t drops;
	uint32_t gaps; /* notes that were being written: figures may be too small */

	/* since the attach */
	uint64_t measured_messages, measured_bytes;
	uint64_t measured_samples[EZ_INTERVALS];
	uint64_t unmatched;   /* intervals that could not be timed */
	uint64_t first_total; /* running number of the first message that was to be counted; 0: none
			       */
	uint64_t last_total;  /* of the newest one; 0: none */
};

/*
 * The window is the ceil(window / 2^27 ns) closed buckets before the current one and the current
 * one, cut at the attach and at the opening. More than 16 s is clipped; less than 0.15 s gets
 * counts of 0.
 */
void ezprof_fold(const struct ezprof_fold_input *input, struct ezprof_window *ret_window);

#endif
