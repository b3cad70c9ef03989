/* SPDX-License-Identifier: MIT */
#include "session_pickle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pickle_write.h"
#include "session_link.h"

#define MODULE "ezmsg.core.graphmeta"

static void begin(struct ez_buffer *out)
{
	ez_put_u8(out, EZ_OP_PROTO);
	ez_put_u8(out, 4);
}

/* An instance of a dataclass; its state, a dict, follows, then BUILD. */
static void put_instance(struct ez_buffer *out, const char *name)
{
	ez_pickle_put_global(out, MODULE, name);
	ez_put_u8(out, EZ_OP_EMPTY_TUPLE);
	ez_put_u8(out, EZ_OP_NEWOBJ);
	ez_put_u8(out, EZ_OP_EMPTY_DICT);
}

static void put_edge(struct ez_buffer *out, const struct ezprof_edge *edge)
{
	ez_pickle_put_global(out, MODULE, "Edge");
	ez_pickle_put_str(out, edge->from->name, edge->from->name_len);
	ez_pickle_put_str(out, edge->to->name, edge->to->name_len);
	ez_put_u8(out, EZ_OP_TUPLE2);
	ez_put_u8(out, EZ_OP_NEWOBJ);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The successors of a topic, as a sorted list. */
static void put_successors(struct ez_buffer *out, const struct ezprof_topic *topic)
{
	const struct ezprof_edge *edge;
	const char **names;
	size_t n = 0;

	ez_put_u8(out, EZ_OP_EMPTY_LIST);
	DL_COUNT2(topic->out, edge, n, out_next);
	names = calloc(n + 1, sizeof(*names));
	if (!names) {
		out->err = -ENOMEM;
		return;
	}
	n = 0;
	DL_FOREACH2(topic->out, edge, out_next)
	names[n++] = edge->to->name;
	if (n)
		qsort(names, n, sizeof(*names), compare_names);
	for (size_t i = 0; i < n; i++) {
		ez_pickle_put_text(out, names[i]);
		ez_put_u8(out, EZ_OP_APPEND);
	}
	free(names);
}

static void put_graph(struct ez_buffer *out, const struct ezprof_graph *graph)
{
	struct ezprof_topic *topic, *next;

	ez_pickle_put_text(out, "graph");
	ez_put_u8(out, EZ_OP_EMPTY_DICT);
	HASH_ITER (hh, graph->topics, topic, next) {
		if (!topic->in && !topic->out)
			continue;
		ez_pickle_put_str(out, topic->name, topic->name_len);
		put_successors(out, topic);
		ez_put_u8(out, EZ_OP_SETITEM);
	}
	ez_put_u8(out, EZ_OP_SETITEM);
}

static const char *owner_name(const struct ezprof_server *server, uint64_t owner)
{
	const struct ezprof_session *session;

	DL_FOREACH(server->sessions, session)
	if (session->owner == owner)
		return session->id;
	return "persistent";
}

static void put_edge_owners(struct ez_buffer *out, const struct ezprof_server *server)
{
	struct ezprof_topic *topic, *next;
	const struct ezprof_edge *edge;

	ez_pickle_put_text(out, "edge_owners");
	ez_put_u8(out, EZ_OP_EMPTY_DICT);
	HASH_ITER (hh, server->graph.topics, topic, next) {
		DL_FOREACH2(topic->out, edge, out_next)
		{
			put_edge(out, edge);
			ez_put_u8(out, EZ_OP_EMPTY_LIST);
			for (size_t i = 0; i < edge->n_owners; i++) {
				ez_pickle_put_text(out, owner_name(server, edge->owners[i]));
				ez_put_u8(out, EZ_OP_APPEND);
			}
			ez_put_u8(out, EZ_OP_SETITEM);
		}
	}
	ez_put_u8(out, EZ_OP_SETITEM);
}

static void put_session(struct ez_buffer *out, const struct ezprof_graph *graph,
			const struct ezprof_session *session)
{
	struct ezprof_topic *topic, *next;
	const struct ezprof_edge *edge;

	put_instance(out, "SnapshotSession");
	ez_pickle_put_text(out, "edges");
	ez_put_u8(out, EZ_OP_EMPTY_LIST);
	HASH_ITER (hh, graph->topics, topic, next) {
		DL_FOREACH2(topic->out, edge, out_next)
		{
			if (!ezprof_edge_has_owner(edge, session->owner))
				continue;
			put_edge(out, edge);
			ez_put_u8(out, EZ_OP_APPEND);
		}
	}
	ez_put_u8(out, EZ_OP_SETITEM);
	ez_pickle_put_text(out, "metadata");
	ez_put_u8(out, EZ_OP_NONE);
	ez_put_u8(out, EZ_OP_SETITEM);
	ez_put_u8(out, EZ_OP_BUILD);
}

static void put_sessions(struct ez_buffer *out, const struct ezprof_server *server)
{
	const struct ezprof_session *session;

	ez_pickle_put_text(out, "sessions");
	ez_put_u8(out, EZ_OP_EMPTY_DICT);
	DL_FOREACH(server->sessions, session)
	{
		ez_pickle_put_text(out, session->id);
		put_session(out, &server->graph, session);
		ez_put_u8(out, EZ_OP_SETITEM);
	}
	ez_put_u8(out, EZ_OP_SETITEM);
}

void ezprof_session_pickle_snapshot(struct ez_buffer *out, struct ezprof_server *server)
{
	begin(out);
	put_instance(out, "GraphSnapshot");
	put_graph(out, &server->graph);
	put_edge_owners(out, server);
	put_sessions(out, server);
	ez_pickle_put_text(out, "processes");
	ez_put_u8(out, EZ_OP_EMPTY_DICT);
	ez_put_u8(out, EZ_OP_SETITEM);
	ez_put_u8(out, EZ_OP_BUILD);
	ez_put_u8(out, EZ_OP_STOP);
}

void ezprof_session_pickle_no_settings(struct ez_buffer *out)
{
	begin(out);
	ez_put_u8(out, EZ_OP_EMPTY_DICT);
	ez_put_u8(out, EZ_OP_STOP);
}

void ezprof_session_pickle_no_events(struct ez_buffer *out)
{
	begin(out);
	ez_put_u8(out, EZ_OP_EMPTY_LIST);
	ez_put_u8(out, EZ_OP_STOP);
}

static void put_none_member(struct ez_buffer *out, const char *key)
{
	ez_pickle_put_text(out, key);
	ez_put_u8(out, EZ_OP_NONE);
	ez_put_u8(out, EZ_OP_SETITEM);
}

void ezprof_session_pickle_unroutable(struct ez_buffer *out, const char *request_id,
				      struct ez_str unit)
{
	static const char before[] = "No process owns unit '";
	size_t len = sizeof(before) - 1 + unit.len + 1;

	begin(out);
	put_instance(out, "ProcessControlResponse");
	ez_pickle_put_text(out, "request_id");
	ez_pickle_put_text(out, request_id);
	ez_put_u8(out, EZ_OP_SETITEM);
	ez_pickle_put_text(out, "ok");
	ez_put_u8(out, EZ_OP_NEWFALSE);
	ez_put_u8(out, EZ_OP_SETITEM);
	put_none_member(out, "payload");
	ez_pickle_put_text(out, "error");
	ez_pickle_put_str_header(out, len);
	ez_buffer_append_text(out, before);
	ez_buffer_append(out, unit.data, unit.len);
	ez_buffer_append_text(out, "'");
	ez_put_u8(out, EZ_OP_SETITEM);
	ez_pickle_put_text(out, "error_code");
	ez_pickle_put_global(out, MODULE, "ProcessControlErrorCode");
	ez_pickle_put_text(out, "UNROUTABLE_UNIT");
	ez_put_u8(out, EZ_OP_TUPLE1);
	ez_put_u8(out, EZ_OP_REDUCE);
	ez_put_u8(out, EZ_OP_SETITEM);
	put_none_member(out, "process_id");
	ez_put_u8(out, EZ_OP_BUILD);
	ez_put_u8(out, EZ_OP_STOP);
}
