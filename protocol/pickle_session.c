/* SPDX-License-Identifier: MIT */
#include "pickle_session.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pickle_tree.h"
#include "pickle_write.h"

#define MODULE "ezmsg.core.graphmeta"
#define NODES_MAX (4 << 20)
/* One list may stand in several places: what a batch unfolds to is bounded as well. */
#define SAMPLES_MAX (1 << 20)

/* The fields of an object of that class; NULL: it is none. */
static const struct ez_node *fields_of(const struct ez_node *node, const char *class)
{
	if (!node || node->kind != EZ_NODE_CALL || !ez_node_is_global(node->callee, MODULE, class))
		return NULL;
	return node->state && node->state->kind == EZ_NODE_DICT ? node->state : NULL;
}

static bool is_kind(const struct ez_node *node, enum ez_node_kind kind)
{
	return node && node->kind == kind;
}

static struct ez_str text_of(const struct ez_node *fields, const char *key)
{
	const struct ez_node *node = ez_node_lookup(fields, key);

	return is_kind(node, EZ_NODE_STR) ? node->text : (struct ez_str){"", 0};
}

static int64_t integer_of(const struct ez_node *fields, const char *key)
{
	const struct ez_node *node = ez_node_lookup(fields, key);

	return is_kind(node, EZ_NODE_INT) && node->integer >= 0 ? node->integer : -1;
}

/* Not finite, or no number at all: NAN. */
static double number_of(const struct ez_node *fields, const char *key)
{
	const struct ez_node *node = ez_node_lookup(fields, key);

	if (is_kind(node, EZ_NODE_INT))
		return (double)node->integer;
	return is_kind(node, EZ_NODE_FLOAT) && isfinite(node->number) ? node->number : NAN;
}

/* Owned by the caller; NULL: no memory, or a NUL within. */
static char *copy_text(struct ez_str text)
{
	return memchr(text.data, '\0', text.len) ? NULL : strndup(text.data, text.len);
}

void ez_snapshot_free(struct ez_snapshot *snapshot)
{
	if (!snapshot)
		return;
	for (size_t i = 0; snapshot->processes && i < snapshot->n_processes; i++) {
		struct ez_session_process *p = &snapshot->processes[i];

		for (size_t k = 0; p->units && k < p->n_units; k++)
			free(p->units[k]);
		free(p->units);
		free(p->host);
	}
	free(snapshot->processes);
	ez_dag_free(snapshot->graph);
	free(snapshot);
}

static int read_process(const struct ez_node *node, struct ez_session_process *process)
{
	const struct ez_node *fields = fields_of(node, "SnapshotProcess");
	const struct ez_node *units = ez_node_lookup(fields, "units");

	if (!fields || !is_kind(units, EZ_NODE_LIST))
		return -EBADMSG;
	process->pid = integer_of(fields, "pid");
	process->host = copy_text(text_of(fields, "host"));
	process->units = calloc(units->n_items + 1, sizeof(*process->units));
	if (!process->host || !process->units)
		return -ENOMEM;
	for (size_t i = 0; i < units->n_items; i++) {
		if (!is_kind(units->items[i], EZ_NODE_STR))
			return -EBADMSG;
		process->units[i] = copy_text(units->items[i]->text);
		process->n_units = i + 1;
		if (!process->units[i])
			return -ENOMEM;
	}
	return 0;
}

static int build_snapshot(const struct ez_node *fields, struct ez_snapshot *snapshot)
{
	const struct ez_node *graph = ez_node_lookup(fields, "graph");
	const struct ez_node *processes = ez_node_lookup(fields, "processes");
	size_t n, i;
	int err;

	if (!is_kind(graph, EZ_NODE_DICT) || !is_kind(processes, EZ_NODE_DICT))
		return -EBADMSG;
	err = ez_dag_of_node(graph, &snapshot->graph);
	if (err)
		return err;
	n = processes->n_items / 2;
	snapshot->processes = calloc(n + 1, sizeof(*snapshot->processes));
	if (!snapshot->processes)
		return -ENOMEM;
	snapshot->n_processes = n;
	for (i = 0; i < n && !err; i++)
		err = read_process(processes->items[2 * i + 1], &snapshot->processes[i]);
	return err;
}

int ez_pickle_read_snapshot(const void *data, size_t len, struct ez_snapshot **ret_snapshot)
{
	struct ez_pickle_tree *tree;
	struct ez_snapshot *snapshot;
	const struct ez_node *fields;
	int err = ez_pickle_tree_parse(data, len, NODES_MAX, &tree);

	if (err)
		return err;
	fields = fields_of(ez_pickle_tree_root(tree), "GraphSnapshot");
	snapshot = calloc(1, sizeof(*snapshot));
	if (!fields)
		err = -EBADMSG;
	else
		err = snapshot ? build_snapshot(fields, snapshot) : -ENOMEM;
	if (err)
		ez_snapshot_free(snapshot);
	else
		*ret_snapshot = snapshot;
	ez_pickle_tree_free(tree);
	return err;
}

int ez_pickle_read_process_answer(const void *data, size_t len,
				  struct ez_process_answer *ret_answer)
{
	struct ez_pickle_tree *tree;
	const struct ez_node *fields, *ok;
	int err = ez_pickle_tree_parse(data, len, NODES_MAX, &tree);

	if (err)
		return err;
	fields = fields_of(ez_pickle_tree_root(tree), "ProcessControlResponse");
	ok = ez_node_lookup(fields, "ok");
	if (is_kind(ok, EZ_NODE_BOOL)) {
		struct ez_str text = text_of(fields, "error");
		size_t n = text.len < sizeof(ret_answer->error) ? text.len
								: sizeof(ret_answer->error) - 1;

		ret_answer->ok = ok->integer;
		memset(ret_answer->error, 0, sizeof(ret_answer->error));
		memcpy(ret_answer->error, text.data, n);
	} else {
		err = -EBADMSG;
	}
	ez_pickle_tree_free(tree);
	return err;
}

/* An enum member: class(value). */
static struct ez_str channel_kind_of(const struct ez_node *fields)
{
	const struct ez_node *kind = ez_node_lookup(fields, "channel_kind");

	if (is_kind(kind, EZ_NODE_CALL) &&
	    ez_node_is_global(kind->callee, MODULE, "ProfileChannelType") && kind->args &&
	    kind->args->kind == EZ_NODE_TUPLE && kind->args->n_items == 1 &&
	    kind->args->items[0]->kind == EZ_NODE_STR)
		return kind->args->items[0]->text;
	return (struct ez_str){"", 0};
}

static int read_sample(const struct ez_node *node, struct ez_trace_sample *sample)
{
	const struct ez_node *fields = fields_of(node, "ProfilingTraceSample");

	if (!fields)
		return -EBADMSG;
	sample->timestamp_ns = number_of(fields, "timestamp");
	sample->value_ns = number_of(fields, "value");
	sample->endpoint = text_of(fields, "endpoint_id");
	sample->topic = text_of(fields, "topic");
	sample->metric = text_of(fields, "metric");
	sample->channel_kind = channel_kind_of(fields);
	sample->message_id = integer_of(fields, "sample_seq");
	return isnan(sample->timestamp_ns) || isnan(sample->value_ns) || !sample->endpoint.len
		       ? -EBADMSG
		       : 0;
}

static int read_process_batch(const struct ez_node *node, size_t *left, ez_trace_sink sink,
			      void *context)
{
	const struct ez_node *fields = fields_of(node, "ProcessProfilingTraceBatch");
	const struct ez_node *samples = ez_node_lookup(fields, "samples");
	struct ez_trace_sample sample;
	int err = 0;

	if (!is_kind(samples, EZ_NODE_LIST))
		return -EBADMSG;
	sample.pid = integer_of(fields, "pid");
	sample.host = text_of(fields, "host");
	for (size_t i = 0; i < samples->n_items && !err; i++) {
		if (!*left)
			return -EMSGSIZE;
		--*left;
		err = read_sample(samples->items[i], &sample);
		if (!err)
			sink(context, &sample);
	}
	return err;
}

int ez_pickle_read_trace(const void *data, size_t len, ez_trace_sink sink, void *context)
{
	struct ez_pickle_tree *tree;
	const struct ez_node *batches;
	size_t left = SAMPLES_MAX;
	int err = ez_pickle_tree_parse(data, len, NODES_MAX, &tree);

	if (err)
		return err;
	batches = ez_node_lookup(fields_of(ez_pickle_tree_root(tree), "ProfilingTraceStreamBatch"),
				 "batches");
	if (!is_kind(batches, EZ_NODE_DICT))
		err = -EBADMSG;
	for (size_t i = 1; !err && i < batches->n_items; i += 2) {
		err = read_process_batch(batches->items[i], &left, sink, context);
	}
	ez_pickle_tree_free(tree);
	return err;
}

static void begin_object(struct ez_buffer *out, const char *class)
{
	ez_put_u8(out, EZ_OP_PROTO);
	ez_put_u8(out, 4);
	ez_pickle_put_global(out, MODULE, class);
	ez_put_u8(out, EZ_OP_EMPTY_TUPLE);
	ez_put_u8(out, EZ_OP_NEWOBJ);
	ez_put_u8(out, EZ_OP_EMPTY_DICT);
}

static void end_object(struct ez_buffer *out)
{
	ez_put_u8(out, EZ_OP_BUILD);
	ez_put_u8(out, EZ_OP_STOP);
}

static void put_constant(struct ez_buffer *out, const char *key, enum ez_pickle_opcode value)
{
	ez_pickle_put_text(out, key);
	ez_put_u8(out, (uint8_t)value);
	ez_put_u8(out, EZ_OP_SETITEM);
}

static void put_integer(struct ez_buffer *out, const char *key, int64_t value)
{
	ez_pickle_put_text(out, key);
	ez_pickle_put_int(out, value);
	ez_put_u8(out, EZ_OP_SETITEM);
}

static void put_number(struct ez_buffer *out, const char *key, double value)
{
	ez_pickle_put_text(out, key);
	ez_pickle_put_float(out, value);
	ez_put_u8(out, EZ_OP_SETITEM);
}

void ez_pickle_trace_control(struct ez_buffer *out, double ttl_s)
{
	begin_object(out, "ProfilingTraceControl");
	put_constant(out, "enabled", EZ_OP_NEWTRUE);
	put_integer(out, "sample_mod", 1);
	put_constant(out, "publisher_topics", EZ_OP_NONE);
	put_constant(out, "subscriber_topics", EZ_OP_NONE);
	put_constant(out, "publisher_endpoint_ids", EZ_OP_NONE);
	put_constant(out, "subscriber_endpoint_ids", EZ_OP_NONE);
	put_constant(out, "metrics", EZ_OP_NONE);
	put_number(out, "ttl_seconds", ttl_s);
	end_object(out);
}

void ez_pickle_stream_control(struct ez_buffer *out, double interval_s, int64_t max_samples)
{
	begin_object(out, "ProfilingStreamControl");
	put_number(out, "interval", interval_s);
	put_integer(out, "max_samples", max_samples);
	put_constant(out, "process_ids", EZ_OP_NONE);
	put_constant(out, "include_empty_batches", EZ_OP_NEWFALSE);
	end_object(out);
}
