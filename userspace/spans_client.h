/* SPDX-License-Identifier: MIT */
/*
 * One who records, seen from the agent: what it may see, what it has been told. Event loop's
 * thread. What can't be kept for it for want of memory makes it `broken`; the feed then lets it go.
 */
#ifndef EZPROF_SPANS_CLIENT_H
#define EZPROF_SPANS_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "spans_decode.h"
#include "spans_sources.h"
#include "spans_stream.h"

struct bufferevent;
struct evbuffer;
struct ezprof_span_feed;

#define EZPROF_SPAN_GRAPH_BYTES 128u

struct ezprof_span_client {
	struct ezprof_span_feed *feed;
	struct bufferevent *events;
	uid_t viewer;
	char graph[EZPROF_SPAN_GRAPH_BYTES];
	uint32_t flags;
	uint64_t since_ns;
	bool ready, broken;
	uint64_t not_sent;
	struct ezprof_stream_losses before;		 /* what was lost when it began */
	unsigned char told[EZPROF_SPAN_NUMBERS_MAX / 8]; /* a bit per number of an endpoint */
};

struct evbuffer *ezprof_span_client_out(const struct ezprof_span_client *client);

bool ezprof_span_client_sees(const struct ezprof_span_client *client,
			     const struct ezprof_target *target,
			     const struct ezprof_span_source *source);

/* Whether that endpoint of the process keeps spans. */
bool ezprof_span_endpoint_counts(const struct ezprof_endpoint *endpoint);

/* The total that the running numbers of its spans are of. */
uint64_t ezprof_span_total(const struct ezprof_totals *totals);

/* Endpoints that are there, and where they begin, as of the newest reading of the registry. */
void ezprof_span_client_begin(struct ezprof_span_client *client,
			      struct ezprof_span_sources *sources,
			      const struct ezprof_target *target,
			      struct ezprof_span_source *source);

/* Spans, and whose they are if that hasn't been said; or counts them as not sent. */
void ezprof_span_client_batch(struct ezprof_span_client *client, uint32_t number,
			      const struct ezprof_target *target,
			      const struct ezprof_span_source *source,
			      const struct ezprof_span_batch *batch);

bool ezprof_span_client_is_told(const struct ezprof_span_client *client, uint32_t number);
void ezprof_span_client_total(struct ezprof_span_client *client, uint32_t number, uint64_t total);

/* The publishers of a source that wait right now. */
void ezprof_span_client_waiting(struct ezprof_span_client *client,
				struct ezprof_span_sources *sources,
				const struct ezprof_target *target,
				struct ezprof_span_source *source);

/* Sends what waits for it, for so long at most. */
void ezprof_span_client_flush(struct ezprof_span_client *client, int timeout_ms);

/* Says why not, and frees `events`. */
void ezprof_span_client_refuse(struct bufferevent *events, const char *why);

#endif
