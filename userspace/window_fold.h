/* SPDX-License-Identifier: MIT */
/*
 * From buckets, as processes handed them over and as a page still holds one, to the figures of a
 * window: pure arithmetic, no clock, no I/O. What comes in may be anything; what comes out is in
 * range, as with fold.h.
 */
#ifndef EZPROF_WINDOW_FOLD_H
#define EZPROF_WINDOW_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucket_shared.h"
#include "fold.h"
#include "loss.h"

/* A bucket out of the maps. */
struct ezprof_bucket {
	uint64_t id;
	struct ez_bucket_sums sums;
	const struct ez_shape *shape; /* NULL: not there (any more) */
};

/*
 * Times and ids are on the process's clock. The order of reading makes it right: the registry's
 * total and the clock first, then the page, then the maps.
 */
struct ezprof_window_input {
	const struct ezprof_bucket *buckets; /* any order; ids differ */
	size_t count;
	const struct ez_bucket_totals *totals; /* NULL: nothing of this endpoint was accepted */
	const struct ez_bucket *page;	       /* at rest; NULL: it was never seen so */
	uint64_t page_id;		       /* page NULL: the id it had nevertheless; 0: none */
	uint64_t from_id;		       /* first whole bucket since the attach */
	uint64_t opened_ns;
	uint64_t now_ns;
	uint64_t window_ns;	   /* requested */
	int64_t clock_offset_ns;   /* the process's clock minus the host's */
	uint64_t blocked_since_ns; /* registry: start of the wait in progress; 0: none */
	bool publisher;		   /* interval 1 is a wait */
	bool no_place;		   /* the maps are full: what the page holds will be refused */
	uint64_t in_flight;	   /* registry: without any, no callback is in progress */
	/* Registry: publishes, or frees without the departed. stable: read in one moment. */
	uint64_t total;
	bool total_stable;
	/* The same, read soon after the first whole bucket had begun. Not known: have_attach false.
	 */
	bool have_attach;
	uint64_t attach_total;
};

/*
 * The window is the ceil(window / 2^27 ns) closed buckets before the current one and, where the
 * page was at rest, the current one up to now; else it ends where the current one begins. Cut at
 * from_id and at the opening. Times that come out are the host's. Length limits as in fold.h.
 */
void ezprof_window_fold(const struct ezprof_window_input *input, struct ezprof_window *ret_window);

/* Messages that went by since the first accepted bucket began without being counted. */
void ezprof_window_loss(const struct ezprof_window_input *input, struct ezprof_loss *ret_loss);

/*
 * The value of rank ceil(per_cent * samples / 100) among the samples: off by at most 5.9 % or 128
 * ns. The exact extremes bound it. 0 without samples.
 */
uint64_t ezprof_quantile_ns(const uint32_t hist[EZ_HIST_BINS], uint64_t min_ns, uint64_t max_ns,
			    unsigned int per_cent);

#endif
