/* SPDX-License-Identifier: MIT */
/*
 * Which recorded spans belong together: a subscriber's span with the publisher's of the same
 * message and with the moment of its hand-over, and what was published with the message whose
 * processing led to it. Pure.
 *
 * The last is a guess that is seldom wrong: the newest message that the publishing thread had begun
 * to process by then, if it was still at it or had given it back a moment ago. Where tasks are
 * known (Python's), it must be one of the publisher's own task.
 */
#ifndef EZPROF_TRACE_MATCH_H
#define EZPROF_TRACE_MATCH_H

#include <stddef.h>
#include <stdint.h>

#include "trace_store.h"

#define EZPROF_MATCH_NONE UINT32_MAX

/* By a span's place among those that are considered: ezprof_match_span(). */
struct ezprof_match {
	const struct ezprof_trace *trace;
	size_t first, count; /* of the trace's spans */
	/* Subscriber's spans: the publisher's span of the message; a publisher's: the subscriber's
	   span that led to it. */
	uint32_t *origin;
	/* When the message was handed to the channel; a publisher's span: to the first one. 0: not
	   known. */
	uint64_t *handed_ns;
	/* Publisher's spans: when the last channel gave the buffer back, as far as recorded. */
	uint64_t *freed_ns;
	/* By endpoint: the publisher's endpoint, the link that serves it. */
	uint32_t *publisher_of, *link_of;
};

/* Spans that ended before since_ns are left out. -ENOMEM. */
int ezprof_match_new(const struct ezprof_trace *trace, uint64_t since_ns,
		     struct ezprof_match **ret_match);
void ezprof_match_free(struct ezprof_match *match); /* NULL is fine */

static inline const struct ezprof_trace_span *ezprof_match_span(const struct ezprof_match *match,
								size_t i)
{
	return ezprof_trace_span(match->trace, match->first + i);
}

static inline const struct ezprof_trace_endpoint *
ezprof_match_endpoint(const struct ezprof_match *match, size_t i)
{
	return &match->trace->endpoints[ezprof_match_span(match, i)->endpoint];
}

#endif
