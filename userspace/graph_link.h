/* SPDX-License-Identifier: MIT */
/*
 * The agent's control link to one graph server: connects, says HELLO as an agent, answers PROFILE,
 * and comes back with growing pauses when the link is lost. It never speaks to a server that isn't
 * known as ours. Connecting may block (names, slow peers), so a thread of its own does it. Event
 * loop's thread only; make it after privileges have been dropped.
 */
#ifndef EZPROF_GRAPH_LINK_H
#define EZPROF_GRAPH_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct event_base;
struct ezprof_graph_link;

enum ezprof_graph_state {
	EZPROF_GRAPH_CONNECTING, /* the first attempt is under way */
	EZPROF_GRAPH_LINKED,
	EZPROF_GRAPH_FOREIGN, /* a server that isn't known as ours: left in peace */
	EZPROF_GRAPH_LOST     /* unreachable, or the link broke: tried again later */
};

struct ezprof_graph_link_options {
	const char *address; /* host:port; copied */
	bool known_as_ours;  /* found out before; holds for the first attempt */
	const uid_t *uids;   /* whose marks are trusted, see server_mark.h; copied */
	size_t uid_count;
	/* A new JSON text, or NULL. */
	char *(*profile)(void *context, struct ezprof_graph_link *link, uint64_t window_ms);
	/* Told at each change; err says why, 0 = nothing to say. */
	void (*changed)(void *context, struct ezprof_graph_link *link,
			enum ezprof_graph_state state, int err);
	void *context;
};

/* Errors: -EINVAL no address; -ENOMEM. */
int ezprof_graph_link_new(struct event_base *base, const struct ezprof_graph_link_options *options,
			  struct ezprof_graph_link **ret_link);

const char *ezprof_graph_link_address(const struct ezprof_graph_link *link);
enum ezprof_graph_state ezprof_graph_link_state(const struct ezprof_graph_link *link);

/* Doesn't wait for an attempt that is under way. NULL is fine. */
void ezprof_graph_link_free(struct ezprof_graph_link *link);

#endif
