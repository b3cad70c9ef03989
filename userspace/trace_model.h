/* SPDX-License-Identifier: MIT */
/*
 * A recording as a drawing: tracks with slices that nest, arrows between them, counters. What the
 * writers of the two formats have in common. Pure.
 */
#ifndef EZPROF_TRACE_MODEL_H
#define EZPROF_TRACE_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "trace_match.h"

enum ezprof_track_kind {
	EZPROF_TRACK_PUBLISH, /* of a publisher's endpoint */
	EZPROF_TRACK_QUEUE,   /* of a subscriber's; messages wait side by side, in lanes */
	EZPROF_TRACK_PROCESS, /* likewise, though mostly there is one lane */
	EZPROF_TRACK_KINDS
};

enum ezprof_slice_kind {
	EZPROF_SLICE_PUBLISH,
	EZPROF_SLICE_QUEUE,
	EZPROF_SLICE_PROCESS,
	EZPROF_SLICE_DROPPED, /* leaky: never taken from the queue */
	EZPROF_SLICE_KINDS
};

/* Slices of a track don't overlap. */
struct ezprof_track {
	uint32_t endpoint;
	enum ezprof_track_kind kind;
	uint32_t lane;	     /* 0.. */
	size_t first, count; /* of slices */
};

struct ezprof_slice {
	uint32_t span; /* place in the match */
	uint32_t track;
	enum ezprof_slice_kind kind;
	uint64_t begin_ns, end_ns;
};

/* Messages on the way: handed to a channel and not given back by all. One value at each change. */
struct ezprof_count {
	uint32_t endpoint; /* the publisher's */
	int32_t value;
	uint64_t at_ns;
};

/* A publisher's messages in each 0.1 s of the recording. */
struct ezprof_rate {
	uint32_t endpoint;
	uint64_t at_ns;
	double per_s;
};

struct ezprof_trace_model {
	const struct ezprof_match *match;
	struct ezprof_track *tracks;
	size_t track_count;
	struct ezprof_slice *slices; /* by track and time */
	size_t slice_count;
	struct ezprof_count *counts; /* by endpoint and time */
	size_t count_count;
	struct ezprof_rate *rates; /* likewise */
	size_t rate_count;
	/* The spans that have this one as their origin: targets[first_target[i]] to
	   [first_target[i + 1]]. */
	size_t *first_target;
	uint32_t *targets;
	uint64_t begin_ns, end_ns;
};

/* `match` must outlive it. -ENOMEM. */
int ezprof_trace_model_new(const struct ezprof_match *match, struct ezprof_trace_model **ret_model);
void ezprof_trace_model_free(struct ezprof_trace_model *model); /* NULL is fine */

/* "publish" and so on; "queue" of a track. */
const char *ezprof_slice_text(enum ezprof_slice_kind kind);
const char *ezprof_track_text(enum ezprof_track_kind kind);

/* The handle, or the topic where there is none. */
const char *ezprof_trace_name(const struct ezprof_trace_endpoint *endpoint);

/* The arrow that ends at that span: unique in the file, never 0. */
static inline uint64_t ezprof_arrow_id(size_t span)
{
	return (uint64_t)span + 1;
}

/* What the file says of itself. Times as in the trace; taken at one moment. */
struct ezprof_trace_about {
	uint64_t mono_ns, real_ns, boot_ns;
	const char *host, *program;
	double flight_s; /* 0: everything since the beginning */
};

#endif
