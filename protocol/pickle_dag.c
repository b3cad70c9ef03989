/* SPDX-License-Identifier: MIT */
#include "pickle_dag.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pickle_tree.h"
#include "pickle_write.h"

#define DAG_NODES_MAX (4 << 20)

struct ez_dag *ez_dag_new(size_t n_topics)
{
	struct ez_dag *dag = calloc(1, sizeof(*dag));

	if (!dag)
		return NULL;
	dag->topics = calloc(n_topics ? n_topics : 1, sizeof(*dag->topics));
	if (!dag->topics) {
		free(dag);
		return NULL;
	}
	dag->n_topics = n_topics;
	return dag;
}

int ez_dag_set_name(struct ez_dag *dag, size_t topic, const char *name, size_t len)
{
	char *copy = strndup(name, len);

	if (!copy)
		return -ENOMEM;
	free(dag->topics[topic].name);
	dag->topics[topic].name = copy;
	return 0;
}

int ez_dag_add_successor(struct ez_dag *dag, size_t topic, size_t successor)
{
	struct ez_dag_topic *t = &dag->topics[topic];

	/* Grows at each power of two, so that no capacity has to be kept. */
	if ((t->n_successors & (t->n_successors - 1)) == 0) {
		size_t capacity = t->n_successors ? 2 * t->n_successors : 1;
		size_t *successors = realloc(t->successors, capacity * sizeof(*successors));

		if (!successors)
			return -ENOMEM;
		t->successors = successors;
	}
	t->successors[t->n_successors++] = successor;
	return 0;
}

void ez_dag_free(struct ez_dag *dag)
{
	if (!dag)
		return;
	for (size_t i = 0; i < dag->n_topics; i++) {
		free(dag->topics[i].name);
		free(dag->topics[i].successors);
	}
	free(dag->topics);
	free(dag);
}

static void put_successors(struct ez_buffer *out, const struct ez_dag *dag,
			   const struct ez_dag_topic *topic)
{
	ez_put_u8(out, EZ_OP_EMPTY_SET);
	if (!topic->n_successors)
		return;
	ez_put_u8(out, EZ_OP_MARK_OBJECT);
	for (size_t i = 0; i < topic->n_successors; i++)
		ez_pickle_put_text(out, dag->topics[topic->successors[i]].name);
	ez_put_u8(out, EZ_OP_ADDITEMS);
}

/* No memo and no frame: both are optional, and nothing is shared but names. */
void ez_pickle_dag_begin(struct ez_buffer *out, const struct ez_dag *dag)
{
	ez_put_u8(out, EZ_OP_PROTO);
	ez_put_u8(out, 4);
	ez_pickle_put_global(out, "ezmsg.core.dag", "DAG");
	ez_put_u8(out, EZ_OP_EMPTY_TUPLE);
	ez_put_u8(out, EZ_OP_NEWOBJ);
	ez_put_u8(out, EZ_OP_EMPTY_DICT);
	ez_pickle_put_text(out, "graph");
	ez_pickle_put_global(out, "collections", "defaultdict");
	ez_pickle_put_global(out, "builtins", "set");
	ez_put_u8(out, EZ_OP_TUPLE1);
	ez_put_u8(out, EZ_OP_REDUCE);
	for (size_t i = 0; i < dag->n_topics; i++) {
		ez_pickle_put_text(out, dag->topics[i].name);
		put_successors(out, dag, &dag->topics[i]);
		ez_put_u8(out, EZ_OP_SETITEM);
	}
	ez_put_u8(out, EZ_OP_SETITEM);
}

void ez_pickle_dag_end(struct ez_buffer *out)
{
	ez_put_u8(out, EZ_OP_BUILD);
	ez_put_u8(out, EZ_OP_STOP);
}

void ez_pickle_dag(struct ez_buffer *out, const struct ez_dag *dag)
{
	ez_pickle_dag_begin(out, dag);
	ez_pickle_dag_end(out);
}

static int compare_names(const void *a, const void *b)
{
	const struct ez_str *x = a, *y = b;
	int order = memcmp(x->data, y->data, x->len < y->len ? x->len : y->len);

	return order ? order : x->len < y->len ? -1 : x->len > y->len;
}

/* The mapping behind the key "graph": a defaultdict, or a plain dict. */
static const struct ez_node *graph_of(const struct ez_node *root)
{
	const struct ez_node *graph;

	if (root->kind != EZ_NODE_CALL || !ez_node_is_global(root->callee, "ezmsg.core.dag", "DAG"))
		return NULL;
	graph = ez_node_lookup(root->state, "graph");
	if (!graph || graph->n_items % 2)
		return NULL;
	if (graph->kind == EZ_NODE_DICT)
		return graph;
	if (graph->kind == EZ_NODE_CALL &&
	    ez_node_is_global(graph->callee, "collections", "defaultdict"))
		return graph;
	return NULL;
}

/* Checks the shape {str: {str, ...}, ...}; returns the number of names in it, or -EBADMSG. A
 * snapshot has lists in the place of the sets. */
static ssize_t count_names(const struct ez_node *graph)
{
	size_t n = 0;

	for (size_t i = 0; i < graph->n_items; i += 2) {
		const struct ez_node *set = graph->items[i + 1];

		if (graph->items[i]->kind != EZ_NODE_STR ||
		    (set->kind != EZ_NODE_SET && set->kind != EZ_NODE_LIST))
			return -EBADMSG;
		for (size_t k = 0; k < set->n_items; k++)
			if (set->items[k]->kind != EZ_NODE_STR)
				return -EBADMSG;
		n += 1 + set->n_items;
		/* One set may stand behind many keys: what it unfolds to is bounded as well. */
		if (n > DAG_NODES_MAX)
			return -EMSGSIZE;
	}
	return (ssize_t)n;
}

/* All names, sorted, each once. Returns how many. */
static size_t collect_names(const struct ez_node *graph, struct ez_str *names)
{
	size_t n = 0, unique = 0;

	for (size_t i = 0; i < graph->n_items; i += 2) {
		const struct ez_node *set = graph->items[i + 1];

		names[n++] = graph->items[i]->text;
		for (size_t k = 0; k < set->n_items; k++)
			names[n++] = set->items[k]->text;
	}
	qsort(names, n, sizeof(*names), compare_names);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || compare_names(&names[i], &names[unique - 1]) != 0)
			names[unique++] = names[i];
	return unique;
}

static size_t index_of(const struct ez_str *names, size_t n, const struct ez_node *node)
{
	const struct ez_str *found = bsearch(&node->text, names, n, sizeof(*names), compare_names);

	return (size_t)(found - names);
}

static int build_dag(const struct ez_node *graph, const struct ez_str *names, size_t n,
		     struct ez_dag **ret_dag)
{
	struct ez_dag *dag = ez_dag_new(n);
	int err = dag ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < n; i++)
		err = memchr(names[i].data, '\0', names[i].len)
			      ? -EBADMSG
			      : ez_dag_set_name(dag, i, names[i].data, names[i].len);
	for (size_t i = 0; !err && i < graph->n_items; i += 2) {
		const struct ez_node *set = graph->items[i + 1];
		size_t from = index_of(names, n, graph->items[i]);

		for (size_t k = 0; !err && k < set->n_items; k++)
			err = ez_dag_add_successor(dag, from, index_of(names, n, set->items[k]));
	}
	if (err) {
		ez_dag_free(dag);
		return err;
	}
	*ret_dag = dag;
	return 0;
}

int ez_dag_of_node(const struct ez_node *graph, struct ez_dag **ret_dag)
{
	ssize_t n = graph->n_items % 2 ? -EBADMSG : count_names(graph);
	struct ez_str *names;
	int err;

	if (n < 0)
		return (int)n;
	names = calloc((size_t)n + 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	err = build_dag(graph, names, collect_names(graph, names), ret_dag);
	free(names);
	return err;
}

int ez_pickle_read_dag(const void *data, size_t len, struct ez_dag **ret_dag)
{
	struct ez_pickle_tree *tree;
	const struct ez_node *graph;
	int err = ez_pickle_tree_parse(data, len, DAG_NODES_MAX, &tree);

	if (err)
		return err;
	graph = graph_of(ez_pickle_tree_root(tree));
	err = graph ? ez_dag_of_node(graph, ret_dag) : -EBADMSG;
	ez_pickle_tree_free(tree);
	return err;
}
