/* SPDX-License-Identifier: MIT */
/* The events that tell of changes of the graph and of who runs what. Loop thread only. */
#ifndef EZPROF_TOPOLOGY_EVENTS_H
#define EZPROF_TOPOLOGY_EVENTS_H

#include "server.h"

struct ezprof_process;

/* Names of topics that changed, copied: the topics may be gone when it is told. Starts zeroed. */
struct ezprof_changed {
	char **names;
	size_t n, capacity;
};

/* Without memory the name is left out. */
void ezprof_changed_add(struct ezprof_changed *changed, const char *name);

/*
 * The edges into these topics changed; session_id may be NULL. Frees the set; an empty one is
 * nothing.
 */
void ezprof_topology_event_graph(struct ezprof_server *server, struct ezprof_changed *changed,
				 const char *session_id);

/* The process runs other units than before, or left. */
void ezprof_topology_event_process(const struct ezprof_process *process);

#endif
