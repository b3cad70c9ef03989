/* SPDX-License-Identifier: MIT */
#include "meta_pickle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pickle_write.h"
#include "process_link.h"
#include "session_link.h"

#define MODULE "ezmsg.core.graphmeta"

void ezprof_pickle_begin(struct ez_buffer *out)
{
	ez_put_u8(out, EZ_OP_PROTO);
	ez_put_u8(out, 4);
}

void ezprof_pickle_instance(struct ez_buffer *out, const char *class_name)
{
	ez_pickle_put_global(out, MODULE, class_name);
	ez_put_u8(out, EZ_OP_EMPTY_TUPLE);
	ez_put_u8(out, EZ_OP_NEWOBJ);
	ez_put_u8(out, EZ_OP_EMPTY_DICT);
}

void ezprof_pickle_build(struct ez_buffer *out)
{
	ez_put_u8(out, EZ_OP_BUILD);
}

void ezprof_pickle_uuid(struct ez_buffer *out, const char *id)
{
	ez_pickle_put_global(out, "uuid", "UUID");
	ez_pickle_put_text(out, id);
	ez_put_u8(out, EZ_OP_TUPLE1);
	ez_put_u8(out, EZ_OP_REDUCE);
}

void ezprof_pickle_member_int(struct ez_buffer *out, const char *key, int64_t value)
{
	ez_pickle_put_text(out, key);
	ez_pickle_put_int(out, value);
	ez_put_u8(out, EZ_OP_SETITEM);
}

void ezprof_pickle_member_float(struct ez_buffer *out, const char *key, double value)
{
	ez_pickle_put_text(out, key);
	ez_pickle_put_float(out, value);
	ez_put_u8(out, EZ_OP_SETITEM);
}

void ezprof_pickle_member_none(struct ez_buffer *out, const char *key)
{
	ez_pickle_put_text(out, key);
	ez_put_u8(out, EZ_OP_NONE);
	ez_put_u8(out, EZ_OP_SETITEM);
}

void ezprof_pickle_member_text(struct ez_buffer *out, const char *key, const char *text)
{
	if (!text) {
		ezprof_pickle_member_none(out, key);
		return;
	}
	ez_pickle_put_text(out, key);
	ez_pickle_put_text(out, text);
	ez_put_u8(out, EZ_OP_SETITEM);
}

void ezprof_pickle_member_fragment(struct ez_buffer *out, const char *key,
				   const struct ezprof_fragment *value)
{
	if (!value->data) {
		ezprof_pickle_member_none(out, key);
		return;
	}
	ez_pickle_put_text(out, key);
	ez_buffer_append(out, value->data, value->len);
	ez_put_u8(out, EZ_OP_SETITEM);
}

void ezprof_pickle_member_uuid(struct ez_buffer *out, const char *key, const char *id)
{
	if (!id) {
		ezprof_pickle_member_none(out, key);
		return;
	}
	ez_pickle_put_text(out, key);
	ezprof_pickle_uuid(out, id);
	ez_put_u8(out, EZ_OP_SETITEM);
}

void ezprof_pickle_member_enum(struct ez_buffer *out, const char *key, const char *class_name,
			       const char *value)
{
	ez_pickle_put_text(out, key);
	ez_pickle_put_global(out, MODULE, class_name);
	ez_pickle_put_text(out, value);
	ez_put_u8(out, EZ_OP_TUPLE1);
	ez_put_u8(out, EZ_OP_REDUCE);
	ez_put_u8(out, EZ_OP_SETITEM);
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

/* NULL: nobody's, it stays until it is disconnected. */
static const char *session_id(const struct ezprof_server *server, uint64_t owner)
{
	const struct ezprof_session *session;

	DL_FOREACH(server->sessions, session)
	if (session->owner == owner)
		return session->id;
	return NULL;
}

static void put_owners(struct ez_buffer *out, const struct ezprof_server *server,
		       const struct ezprof_edge *edge)
{
	ez_put_u8(out, EZ_OP_EMPTY_SET);
	ez_put_u8(out, EZ_OP_MARK_OBJECT);
	for (size_t i = 0; i < edge->n_owners; i++) {
		const char *id = session_id(server, edge->owners[i]);

		if (id)
			ezprof_pickle_uuid(out, id);
		else
			ez_put_u8(out, EZ_OP_NONE);
	}
	ez_put_u8(out, EZ_OP_ADDITEMS);
}

void ezprof_pickle_dag_owners(struct ez_buffer *out, const struct ezprof_server *server)
{
	struct ezprof_topic *topic, *next;
	const struct ezprof_edge *edge;

	ez_pickle_put_text(out, "edge_owners");
	ez_put_u8(out, EZ_OP_EMPTY_DICT);
	HASH_ITER (hh, server->graph.topics, topic, next) {
		DL_FOREACH2(topic->out, edge, out_next)
		{
			ez_pickle_put_str(out, edge->from->name, edge->from->name_len);
			ez_pickle_put_str(out, edge->to->name, edge->to->name_len);
			ez_put_u8(out, EZ_OP_TUPLE2);
			put_owners(out, server, edge);
			ez_put_u8(out, EZ_OP_SETITEM);
		}
	}
	ez_put_u8(out, EZ_OP_SETITEM);
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
				const char *id = session_id(server, edge->owners[i]);

				ez_pickle_put_text(out, id ? id : "persistent");
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

	ezprof_pickle_instance(out, "SnapshotSession");
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
	ezprof_pickle_member_fragment(out, "metadata", &session->metadata);
	ezprof_pickle_build(out);
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

static void put_process(struct ez_buffer *out, const struct ezprof_process *process)
{
	const struct ezprof_unit *unit;

	ezprof_pickle_instance(out, "SnapshotProcess");
	ezprof_pickle_member_uuid(out, "process_id", process->id);
	if (process->is_registered)
		ezprof_pickle_member_int(out, "pid", process->pid);
	else
		ezprof_pickle_member_none(out, "pid");
	ezprof_pickle_member_text(out, "host", process->host);
	ez_pickle_put_text(out, "units");
	ez_put_u8(out, EZ_OP_EMPTY_LIST);
	DL_FOREACH(process->units, unit)
	{
		ez_pickle_put_str(out, unit->address, unit->len);
		ez_put_u8(out, EZ_OP_APPEND);
	}
	ez_put_u8(out, EZ_OP_SETITEM);
	ezprof_pickle_build(out);
}

static void put_processes(struct ez_buffer *out, const struct ezprof_server *server)
{
	const struct ezprof_process *process;

	ez_pickle_put_text(out, "processes");
	ez_put_u8(out, EZ_OP_EMPTY_DICT);
	DL_FOREACH(server->processes, process)
	{
		ezprof_pickle_uuid(out, process->id);
		put_process(out, process);
		ez_put_u8(out, EZ_OP_SETITEM);
	}
	ez_put_u8(out, EZ_OP_SETITEM);
}

void ezprof_pickle_snapshot(struct ez_buffer *out, struct ezprof_server *server)
{
	ezprof_pickle_begin(out);
	ezprof_pickle_instance(out, "GraphSnapshot");
	put_graph(out, &server->graph);
	put_edge_owners(out, server);
	put_sessions(out, server);
	put_processes(out, server);
	ezprof_pickle_build(out);
	ez_put_u8(out, EZ_OP_STOP);
}

void ezprof_pickle_failure(struct ez_buffer *out, const char *request_id, const char *error_code,
			   const char *process_id, const struct ez_buffer *error)
{
	ezprof_pickle_begin(out);
	ezprof_pickle_instance(out, "ProcessControlResponse");
	ezprof_pickle_member_text(out, "request_id", request_id);
	ez_pickle_put_text(out, "ok");
	ez_put_u8(out, EZ_OP_NEWFALSE);
	ez_put_u8(out, EZ_OP_SETITEM);
	ezprof_pickle_member_none(out, "payload");
	ez_pickle_put_text(out, "error");
	ez_pickle_put_str(out, (const char *)error->data, error->len);
	ez_put_u8(out, EZ_OP_SETITEM);
	ezprof_pickle_member_enum(out, "error_code", "ProcessControlErrorCode", error_code);
	ezprof_pickle_member_uuid(out, "process_id", process_id);
	ezprof_pickle_build(out);
	ez_put_u8(out, EZ_OP_STOP);
}

static void put_str_member(struct ez_buffer *out, const char *key, struct ez_str text)
{
	ez_pickle_put_text(out, key);
	ez_pickle_put_str(out, text.data, text.len);
	ez_put_u8(out, EZ_OP_SETITEM);
}

void ezprof_pickle_request(struct ez_buffer *out, const char *request_id, struct ez_str unit,
			   struct ez_str operation, struct ez_str payload)
{
	ezprof_pickle_begin(out);
	ezprof_pickle_instance(out, "ProcessControlRequest");
	ezprof_pickle_member_text(out, "request_id", request_id);
	put_str_member(out, "unit_address", unit);
	put_str_member(out, "operation", operation);
	ez_pickle_put_text(out, "payload");
	/* An empty one means none, as in ezmsg's own server. */
	if (payload.len)
		ez_pickle_put_bytes(out, payload.data, payload.len);
	else
		ez_put_u8(out, EZ_OP_NONE);
	ez_put_u8(out, EZ_OP_SETITEM);
	ezprof_pickle_build(out);
	ez_put_u8(out, EZ_OP_STOP);
}
