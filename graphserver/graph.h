/* SPDX-License-Identifier: MIT */
/*
 * Topics and the edges between them: who is downstream and upstream of what, without cycles. Pure:
 * no sockets, no clock. An edge has owners, each at most once; it is there as long as one of them
 * wants it: requests of anybody (EZPROF_OWNER_NOBODY), or a session, whose edges go with it. One
 * thread.
 */
#ifndef EZPROF_GRAPH_H
#define EZPROF_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash.h"
#include "pickle_dag.h"

#define EZPROF_OWNER_NOBODY 0

struct ezprof_publisher;
struct ezprof_subscriber;

struct ezprof_edge {
	struct ezprof_topic *from, *to;
	uint64_t *owners;
	size_t n_owners;
	struct ezprof_edge *out_prev, *out_next; /* in from->out, oldest first */
	struct ezprof_edge *in_prev, *in_next;	 /* in to->in */
};

/* A topic is there while it has edges or somebody holds it. */
struct ezprof_topic {
	char *name;
	size_t name_len;
	struct ezprof_edge *out, *in;
	size_t holds;
	uint64_t visited;	     /* the walk that saw it last */
	struct ezprof_topic *queued; /* next in the current walk's queue */
	size_t index;		     /* scratch of the DAG export */
	/* Who publishes and subscribes here; kept by the links, unknown to the graph. */
	struct ezprof_publisher *publishers;
	struct ezprof_subscriber *subscribers;
	UT_hash_handle hh;
};

struct ezprof_graph {
	struct ezprof_topic *topics;
	size_t n_edges;
	uint64_t walks;
};

/* Frees all topics and edges; nobody may hold one any more. The struct starts zeroed. */
void ezprof_graph_clear(struct ezprof_graph *graph);

/* Finds or makes the topic and holds it until ezprof_graph_release(). NULL without memory. */
struct ezprof_topic *ezprof_graph_hold(struct ezprof_graph *graph, const char *name, size_t len);
void ezprof_graph_release(struct ezprof_graph *graph, struct ezprof_topic *topic);

/* NULL if there is no such topic. */
struct ezprof_topic *ezprof_graph_find(const struct ezprof_graph *graph, const char *name,
				       size_t len);

/*
 * Makes owner an owner of the edge. 1 = the edge is new, 0 = it was there already, -ELOOP = it
 * would close a cycle (or is one by itself), -ENOMEM. Nothing is changed on an error.
 */
int ezprof_graph_connect(struct ezprof_graph *graph, struct ezprof_topic *from,
			 struct ezprof_topic *to, uint64_t owner);

/* 1 = the edge is gone, 0 = it stays, since it has other owners, or it wasn't owner's. */
int ezprof_graph_disconnect(struct ezprof_graph *graph, struct ezprof_topic *from,
			    struct ezprof_topic *to, uint64_t owner);

bool ezprof_edge_has_owner(const struct ezprof_edge *edge, uint64_t owner);

/*
 * Takes owner off all its edges. Calls gone for the `to` topic of every edge that vanished, after
 * all of them have; it must not change the graph.
 */
typedef void (*ezprof_visit_fn)(struct ezprof_topic *topic, void *arg);
void ezprof_graph_drop_owner(struct ezprof_graph *graph, uint64_t owner, ezprof_visit_fn gone,
			     void *arg);

/*
 * Calls visit once for start and for every topic downstream (upstream) of it. visit must not change
 * the graph.
 */
void ezprof_graph_downstream(struct ezprof_graph *graph, struct ezprof_topic *start,
			     ezprof_visit_fn visit, void *arg);
void ezprof_graph_upstream(struct ezprof_graph *graph, struct ezprof_topic *start,
			   ezprof_visit_fn visit, void *arg);

/* The topics that have edges, for the answer to DAG; ez_dag_free() it. NULL without memory. */
struct ez_dag *ezprof_graph_dag(struct ezprof_graph *graph);

#endif
