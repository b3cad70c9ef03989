/* SPDX-License-Identifier: MIT */
/*
 * What has been recorded: endpoints, their spans in a ring of bounded size, and what is missing.
 * Fed with the frames of one or more agents. Pure: no clock, no I/O. One thread.
 */
#ifndef EZPROF_TRACE_STORE_H
#define EZPROF_TRACE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spans_decode.h"
#include "spans_stream.h"

#define EZPROF_TRACE_AGENTS_MAX 8u
#define EZPROF_TRACE_ENDPOINTS_MAX 65536u
/* Holes with a time of their own; all are counted. */
#define EZPROF_TRACE_HOLES_MAX 4096u

/* Strings are owned, valid UTF-8, never NULL. Times: CLOCK_MONOTONIC of the host, ns; 0 = none. */
struct ezprof_trace_endpoint {
	uint32_t pid;
	uint32_t kind; /* enum ez_endpoint_kind; 0: not known */
	uint32_t transport;
	uint64_t opened_ns;
	unsigned char id[16], publisher_id[16], channel_id[16];
	char *topic, *handle, *task, *comm;
	bool twice; /* another agent tells of it too: it isn't taken from this one */
	struct ezprof_span_account account;
	/* As of the newest WAITING frame; the first one of those with that total says since when:
	   one may wait in slices. */
	uint64_t waiting_since_ns, waiting_total;
};

struct ezprof_trace_span {
	uint32_t endpoint; /* place in endpoints */
	uint32_t tid;
	uint64_t message_id;
	uint64_t bytes;
	uint64_t start_ns, begin_ns, finish_ns, end_ns; /* as in struct ez_span */
};

struct ezprof_trace_hole {
	uint32_t endpoint;
	uint64_t count;
	uint64_t at_ns; /* the first span after it */
};

struct ezprof_trace {
	struct ezprof_trace_endpoint *endpoints;
	size_t endpoint_count, endpoint_room;
	/* The ring: `count` spans from `first` on, in the order in which they came. */
	struct ezprof_trace_span *ring;
	size_t room, room_max, first, count;
	uint64_t overwritten; /* spans that had to make room */
	struct ezprof_trace_hole *holes;
	size_t hole_count;
	/* The longest wait of a publisher that has ended since the caller last set it to 0. */
	uint64_t wait_ns, wait_since_ns;
	uint32_t wait_endpoint;
	uint64_t unnumbered; /* spans of endpoints for which there was no room */
	struct ezprof_stream_losses losses[EZPROF_TRACE_AGENTS_MAX];
	/* An agent's numbers of endpoints -> place in endpoints + 1. */
	struct ezprof_trace_numbers {
		uint32_t *places;
		size_t count;
	} numbers[EZPROF_TRACE_AGENTS_MAX];
};

/* spans_max: the ring's size. -ENOMEM. */
int ezprof_trace_new(size_t spans_max, struct ezprof_trace **ret_trace);
void ezprof_trace_free(struct ezprof_trace *trace); /* NULL is fine */

/*
 * Takes an ENDPOINT, TOTAL, BATCH, WAITING or SYNCED frame of the agent with that number; others
 * are ignored. -EPROTO: the frame is none, or contradicts earlier ones; -ENOMEM.
 */
int ezprof_trace_take(struct ezprof_trace *trace, unsigned int agent,
		      const struct ezprof_stream_frame *frame);

/* The i-th span, oldest first. */
static inline const struct ezprof_trace_span *ezprof_trace_span(const struct ezprof_trace *trace,
								size_t i)
{
	return &trace->ring[(trace->first + i) % trace->room];
}

/* Spans that should be there and never came, of all endpoints. */
uint64_t ezprof_trace_lost(const struct ezprof_trace *trace);

/* What agents say of the spans that they could not send; whether or not somebody missed them. */
struct ezprof_stream_losses ezprof_trace_losses(const struct ezprof_trace *trace);

/* Of the newest WAITING frames the earliest beginning; 0: none. */
uint64_t ezprof_trace_waiting_since(const struct ezprof_trace *trace, uint32_t *ret_endpoint);

#endif
