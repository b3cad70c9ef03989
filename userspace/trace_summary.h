/* SPDX-License-Identifier: MIT */
/*
 * From publishing to arrival: for each edge (a publisher and a subscriber) from the hand-over to
 * the channel until the message is queued for the subscriber, and until it is done with; for each
 * path from a source over relays to a sink the same. All on one host, by one clock. Pure.
 */
#ifndef EZPROF_TRACE_SUMMARY_H
#define EZPROF_TRACE_SUMMARY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "trace_match.h"

#define EZPROF_PATH_HOPS_MAX 16u

/* Nearest rank. All 0 where there is no sample. */
struct ezprof_latency {
	uint64_t samples;
	uint64_t p50_ns, p90_ns, p99_ns, max_ns;
};

struct ezprof_trace_path {
	/* Endpoints: the source's publisher, then the subscriber of each hop. */
	size_t hops;
	uint32_t endpoints[EZPROF_PATH_HOPS_MAX + 1];
	struct ezprof_latency arrival; /* at the last of them */
	struct ezprof_latency done;    /* its processing has ended */
	uint64_t early;	    /* messages that were there before their hand-over was noted */
	uint64_t unmatched; /* messages whose hand-over was not recorded (one hop only) */
};

/* One hop: an edge. */
struct ezprof_trace_summary {
	size_t count;
	struct ezprof_trace_path *paths;
};

/* -ENOMEM. */
int ezprof_trace_summary_new(const struct ezprof_match *match,
			     struct ezprof_trace_summary **ret_summary);
void ezprof_trace_summary_free(struct ezprof_trace_summary *summary); /* NULL is fine */

/* As a table for people; errors of the stream are the stream's. */
void ezprof_trace_summary_print(const struct ezprof_trace_summary *summary,
				const struct ezprof_trace *trace, FILE *to);

#endif
