/* SPDX-License-Identifier: MIT */
/* Pickles of strangers: values, graphs, what sessions tell, and the tree below all of them. */
#include <stdlib.h>
#include <string.h>

#include "pickle.h"
#include "pickle_dag.h"
#include "pickle_session.h"
#include "pickle_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Touches every name, so that the sanitizer sees a bad one. */
static void walk(const struct ez_dag *dag)
{
	volatile size_t sum = 0;

	for (size_t i = 0; i < dag->n_topics; i++)
		for (size_t k = 0; k < dag->topics[i].n_successors; k++)
			sum += (size_t)*dag->topics[dag->topics[i].successors[k]].name;
}

static void touch(size_t *sum, struct ez_str text)
{
	for (size_t i = 0; i < text.len; i++)
		*sum += (size_t)text.data[i];
}

static void take(void *context, const struct ez_trace_sample *sample)
{
	touch(context, sample->host);
	touch(context, sample->endpoint);
	touch(context, sample->topic);
	touch(context, sample->metric);
	touch(context, sample->channel_kind);
	if (sample->value_ns != sample->value_ns || sample->timestamp_ns != sample->timestamp_ns)
		abort();
}

static void read_sessions(const uint8_t *data, size_t size)
{
	struct ez_process_answer answer;
	struct ez_snapshot *snapshot;
	volatile size_t sum = 0;
	size_t samples = 0;

	if (ez_pickle_read_snapshot(data, size, &snapshot) == 0) {
		walk(snapshot->graph);
		for (size_t i = 0; i < snapshot->n_processes; i++)
			for (size_t k = 0; k < snapshot->processes[i].n_units; k++)
				sum += strlen(snapshot->processes[i].units[k]);
		ez_snapshot_free(snapshot);
	}
	if (ez_pickle_read_process_answer(data, size, &answer) == 0)
		sum += strlen(answer.error);
	ez_pickle_read_trace(data, size, take, &samples);
	sum += samples;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ez_pickle_tree *tree;
	struct ez_value value;
	struct ez_dag *dag;

	if (ez_pickle_read(data, size, &value) == 0 && value.type == EZ_VALUE_NDARRAY &&
	    ez_dtype_bytes(value.array.dtype) == 0)
		abort();
	if (ez_pickle_read_dag(data, size, &dag) == 0) {
		walk(dag);
		ez_dag_free(dag);
	}
	read_sessions(data, size);
	if (ez_pickle_tree_parse(data, size, 1000, &tree) == 0) {
		ez_node_lookup(ez_pickle_tree_root(tree), "graph");
		ez_pickle_tree_free(tree);
	}
	return 0;
}
