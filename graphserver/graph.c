/* SPDX-License-Identifier: MIT */
#include "graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ezprof_topic *ezprof_graph_find(const struct ezprof_graph *graph, const char *name,
				       size_t len)
{
	struct ezprof_topic *topic;

	HASH_FIND(hh, graph->topics, name, len, topic);
	return topic;
}

static struct ezprof_topic *topic_new(struct ezprof_graph *graph, const char *name, size_t len)
{
	struct ezprof_topic *topic = calloc(1, sizeof(*topic));

	if (!topic)
		return NULL;
	topic->name = malloc(len + 1);
	if (!topic->name) {
		free(topic);
		return NULL;
	}
	memcpy(topic->name, name, len);
	topic->name[len] = '\0';
	topic->name_len = len;
	HASH_ADD_KEYPTR(hh, graph->topics, topic->name, len, topic);
	if (!topic->hh.tbl) {
		free(topic->name);
		free(topic);
		return NULL;
	}
	return topic;
}

struct ezprof_topic *ezprof_graph_hold(struct ezprof_graph *graph, const char *name, size_t len)
{
	struct ezprof_topic *topic = ezprof_graph_find(graph, name, len);

	if (!topic)
		topic = topic_new(graph, name, len);
	if (topic)
		topic->holds++;
	return topic;
}

static void drop_if_unused(struct ezprof_graph *graph, struct ezprof_topic *topic)
{
	if (topic->holds || topic->in || topic->out)
		return;
	HASH_DEL(graph->topics, topic);
	free(topic->name);
	free(topic);
}

void ezprof_graph_release(struct ezprof_graph *graph, struct ezprof_topic *topic)
{
	topic->holds--;
	drop_if_unused(graph, topic);
}

static struct ezprof_edge *find_edge(const struct ezprof_topic *from, const struct ezprof_topic *to)
{
	struct ezprof_edge *edge;

	for (edge = from->out; edge; edge = edge->out_next)
		if (edge->to == to)
			return edge;
	return NULL;
}

bool ezprof_edge_has_owner(const struct ezprof_edge *edge, uint64_t owner)
{
	for (size_t i = 0; i < edge->n_owners; i++)
		if (edge->owners[i] == owner)
			return true;
	return false;
}

static int add_owner(struct ezprof_edge *edge, uint64_t owner)
{
	uint64_t *owners;

	if (ezprof_edge_has_owner(edge, owner))
		return 0;
	owners = realloc(edge->owners, (edge->n_owners + 1) * sizeof(*owners));
	if (!owners)
		return -ENOMEM;
	owners[edge->n_owners++] = owner;
	edge->owners = owners;
	return 0;
}

struct target {
	const struct ezprof_topic *topic;
	bool found;
};

static void compare_target(struct ezprof_topic *topic, void *arg)
{
	struct target *target = arg;

	if (topic == target->topic)
		target->found = true;
}

/* Would from -> to close a cycle: is from downstream of to? */
static bool closes_cycle(struct ezprof_graph *graph, const struct ezprof_topic *from,
			 struct ezprof_topic *to)
{
	struct target target = {.topic = from};

	ezprof_graph_downstream(graph, to, compare_target, &target);
	return target.found;
}

int ezprof_graph_connect(struct ezprof_graph *graph, struct ezprof_topic *from,
			 struct ezprof_topic *to, uint64_t owner)
{
	struct ezprof_edge *edge = find_edge(from, to);

	if (edge)
		return add_owner(edge, owner);
	if (closes_cycle(graph, from, to))
		return -ELOOP;
	edge = calloc(1, sizeof(*edge));
	if (!edge)
		return -ENOMEM;
	if (add_owner(edge, owner)) {
		free(edge);
		return -ENOMEM;
	}
	edge->from = from;
	edge->to = to;
	DL_APPEND2(from->out, edge, out_prev, out_next);
	DL_APPEND2(to->in, edge, in_prev, in_next);
	graph->n_edges++;
	return 1;
}

/* Takes the edge out of both topics, which stay. */
static void unlink_edge(struct ezprof_graph *graph, struct ezprof_edge *edge)
{
	DL_DELETE2(edge->from->out, edge, out_prev, out_next);
	DL_DELETE2(edge->to->in, edge, in_prev, in_next);
	graph->n_edges--;
}

static void edge_free(struct ezprof_edge *edge)
{
	free(edge->owners);
	free(edge);
}

/* True if that was the last one. */
static bool remove_owner(struct ezprof_edge *edge, uint64_t owner)
{
	for (size_t i = 0; i < edge->n_owners; i++)
		if (edge->owners[i] == owner)
			edge->owners[i] = edge->owners[edge->n_owners - 1];
	return --edge->n_owners == 0;
}

int ezprof_graph_disconnect(struct ezprof_graph *graph, struct ezprof_topic *from,
			    struct ezprof_topic *to, uint64_t owner)
{
	struct ezprof_edge *edge = find_edge(from, to);

	if (!edge || !ezprof_edge_has_owner(edge, owner))
		return 0;
	if (!remove_owner(edge, owner))
		return 0;
	unlink_edge(graph, edge);
	edge_free(edge);
	drop_if_unused(graph, from);
	drop_if_unused(graph, to);
	return 1;
}

/* Moves the edges that vanish with owner from topic to *ret_gone, their topics held. */
static void take_edges(struct ezprof_graph *graph, struct ezprof_topic *topic, uint64_t owner,
		       struct ezprof_edge **ret_gone)
{
	struct ezprof_edge *edge, *next;

	DL_FOREACH_SAFE2(topic->out, edge, next, out_next)
	{
		if (!ezprof_edge_has_owner(edge, owner) || !remove_owner(edge, owner))
			continue;
		unlink_edge(graph, edge);
		edge->from->holds++;
		edge->to->holds++;
		DL_APPEND2(*ret_gone, edge, out_prev, out_next);
	}
}

void ezprof_graph_drop_owner(struct ezprof_graph *graph, uint64_t owner, ezprof_visit_fn gone,
			     void *arg)
{
	struct ezprof_topic *topic, *next_topic;
	struct ezprof_edge *edges = NULL, *edge, *next;

	HASH_ITER (hh, graph->topics, topic, next_topic)
		take_edges(graph, topic, owner, &edges);
	for (edge = edges; edge; edge = edge->out_next)
		gone(edge->to, arg);
	DL_FOREACH_SAFE2(edges, edge, next, out_next)
	{
		ezprof_graph_release(graph, edge->from);
		ezprof_graph_release(graph, edge->to);
		edge_free(edge);
	}
}

/*
 * Breadth first, with the queue threaded through the topics themselves: no memory that could run
 * out.
 */
static void walk(struct ezprof_graph *graph, struct ezprof_topic *start, bool down,
		 ezprof_visit_fn visit, void *arg)
{
	struct ezprof_topic *last = start;
	uint64_t id = ++graph->walks;

	start->visited = id;
	start->queued = NULL;
	for (struct ezprof_topic *topic = start; topic; topic = topic->queued) {
		struct ezprof_edge *edge = down ? topic->out : topic->in;

		for (; edge; edge = down ? edge->out_next : edge->in_next) {
			struct ezprof_topic *next = down ? edge->to : edge->from;

			if (next->visited == id)
				continue;
			next->visited = id;
			next->queued = NULL;
			last->queued = next;
			last = next;
		}
		visit(topic, arg);
	}
}

void ezprof_graph_downstream(struct ezprof_graph *graph, struct ezprof_topic *start,
			     ezprof_visit_fn visit, void *arg)
{
	walk(graph, start, true, visit, arg);
}

void ezprof_graph_upstream(struct ezprof_graph *graph, struct ezprof_topic *start,
			   ezprof_visit_fn visit, void *arg)
{
	walk(graph, start, false, visit, arg);
}

static bool has_edges(const struct ezprof_topic *topic)
{
	return topic->in || topic->out;
}

static int fill_dag(struct ezprof_graph *graph, struct ez_dag *dag)
{
	struct ezprof_topic *topic, *next;
	struct ezprof_edge *edge;
	int err = 0;

	HASH_ITER (hh, graph->topics, topic, next)
		if (!err && has_edges(topic))
			err = ez_dag_set_name(dag, topic->index, topic->name, topic->name_len);
	HASH_ITER (hh, graph->topics, topic, next)
		for (edge = topic->out; edge && !err; edge = edge->out_next)
			err = ez_dag_add_successor(dag, topic->index, edge->to->index);
	return err;
}

struct ez_dag *ezprof_graph_dag(struct ezprof_graph *graph)
{
	struct ezprof_topic *topic, *next;
	struct ez_dag *dag;
	size_t n = 0;

	HASH_ITER (hh, graph->topics, topic, next)
		if (has_edges(topic))
			topic->index = n++;
	dag = ez_dag_new(n);
	if (dag && fill_dag(graph, dag)) {
		ez_dag_free(dag);
		return NULL;
	}
	return dag;
}

void ezprof_graph_clear(struct ezprof_graph *graph)
{
	struct ezprof_topic *topic, *next;
	struct ezprof_edge *edge;

	HASH_ITER (hh, graph->topics, topic, next)
		while (topic->out) {
			edge = topic->out;
			unlink_edge(graph, edge);
			edge_free(edge);
		}
	HASH_ITER (hh, graph->topics, topic, next) {
		topic->holds = 0;
		drop_if_unused(graph, topic);
	}
}
