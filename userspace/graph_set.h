/* SPDX-License-Identifier: MIT */
/*
 * The graphs that the measured processes belong to, and a link to the server of each. Which
 * servers are ours is asked of the opener, which may read other users' marks.
 */
#ifndef EZPROF_GRAPH_SET_H
#define EZPROF_GRAPH_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "measurement.h"

struct event_base;
struct ezprof_graph_set;

/* More graphs than that are left out. */
#define EZPROF_GRAPHS_MAX 16u

/*
 * Any graph that the processes name; or only the one at `address` (may be NULL), whatever they
 * name. No traffic. NULL without memory.
 */
struct ezprof_graph_set *ezprof_graph_set_new(const struct ezprof_measurement *measurement,
					      const char *address);
void ezprof_graph_set_free(struct ezprof_graph_set *set); /* NULL is fine */

/* The graphs of the processes of this user (or EZPROF_VIEWER_ALL), each once. Borrowed. */
size_t ezprof_graph_set_addresses(const struct ezprof_graph_set *set, uid_t viewer,
				  const char *ret_addresses[EZPROF_GRAPHS_MAX]);

/* What restricts a profile to that graph; NULL: nothing, all that is measured counts as of it. */
const char *ezprof_graph_set_filter(const struct ezprof_graph_set *set, const char *graph);

struct ezprof_graph_set_handler {
	/* A new JSON text for one graph; NULL: for everything that is measured. */
	char *(*profile)(void *context, const char *graph, uint64_t window_ms);
	void (*say)(void *context, const char *line); /* a line for people */
	void *context;
};

/* Makes links, and links that have become necessary since. Event loop's thread. */
void ezprof_graph_set_update(struct ezprof_graph_set *set, struct event_base *base,
			     const struct ezprof_graph_set_handler *handler);

/* Ends all links: before the event loop goes. */
void ezprof_graph_set_unlink(struct ezprof_graph_set *set);

/* No link is still at its first attempt. */
bool ezprof_graph_set_settled(const struct ezprof_graph_set *set);

#endif
