/* SPDX-License-Identifier: MIT */
/*
 * The agent's half of recording: while somebody records it is attached to the `spans` probes of
 * what is measured, empties the ring and sends what comes to who may see it (spans_stream.h). It
 * judges nothing: which spans are missing is found out at the other end. Event loop's thread.
 */
#ifndef EZPROF_SPANS_FEED_H
#define EZPROF_SPANS_FEED_H

#include <stdint.h>
#include <sys/types.h>

#include "measurement.h"

struct event_base;
struct bufferevent;
struct ezprof_span_feed;

/* What is said to people on stderr. */
typedef void ezprof_span_feed_say(void *context, const char *line);

/* `measurement` must be started, and outlive it. -ENOMEM. */
int ezprof_span_feed_new(struct ezprof_measurement *measurement, struct event_base *base,
			 ezprof_span_feed_say *say, void *context,
			 struct ezprof_span_feed **ret_feed);

/* Closes clients and links. NULL is fine. */
void ezprof_span_feed_free(struct ezprof_span_feed *feed);

/*
 * Takes a client over whose request, flags included, has been read. `viewer` as in a snapshot;
 * `graph` (copied) restricts it, "": any. `events` is freed by the feed in any case.
 */
void ezprof_span_feed_add(struct ezprof_span_feed *feed, struct bufferevent *events, uid_t viewer,
			  const char *graph, uint32_t flags);

/* Who is measured has changed, or may have: processes that came, ended, loaded a library. */
void ezprof_span_feed_look(struct ezprof_span_feed *feed);

#endif
