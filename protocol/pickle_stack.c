/* SPDX-License-Identifier: MIT */
#include "pickle_stack.h"

#include <errno.h>
#include <stdlib.h>

int ez_node_list_push(struct ez_node_list *list, struct ez_node *node)
{
	if (list->n == list->capacity) {
		size_t capacity = list->capacity ? 2 * list->capacity : 16;
		struct ez_node **nodes = realloc(list->nodes, capacity * sizeof(*nodes));

		if (!nodes)
			return -ENOMEM;
		list->nodes = nodes;
		list->capacity = capacity;
	}
	list->nodes[list->n++] = node;
	return 0;
}

static int node_add(struct ez_node *node, struct ez_node *item)
{
	struct ez_node_list list = {node->items, node->n_items, node->capacity};
	int err = ez_node_list_push(&list, item);

	node->items = list.nodes;
	node->n_items = list.n;
	node->capacity = list.capacity;
	return err;
}

int ez_pickle_new(struct ez_pickle_tree *tree, enum ez_node_kind kind, struct ez_node **ret_node)
{
	struct ez_node *node;

	if (tree->all.n >= tree->max_nodes)
		return -EMSGSIZE;
	node = calloc(1, sizeof(*node));
	if (!node)
		return -ENOMEM;
	node->kind = kind;
	if (ez_node_list_push(&tree->all, node)) {
		free(node);
		return -ENOMEM;
	}
	*ret_node = node;
	return 0;
}

int ez_pickle_push_new(struct ez_pickle_tree *tree, enum ez_node_kind kind,
		       struct ez_node **ret_node)
{
	int err = ez_pickle_new(tree, kind, ret_node);

	return err ? err : ez_node_list_push(&tree->stack, *ret_node);
}

size_t ez_pickle_floor(const struct ez_pickle_tree *tree)
{
	return tree->n_marks ? tree->marks[tree->n_marks - 1] : 0;
}

int ez_pickle_pop(struct ez_pickle_tree *tree, struct ez_node **ret_node)
{
	if (tree->stack.n <= ez_pickle_floor(tree))
		return -EBADMSG;
	*ret_node = tree->stack.nodes[--tree->stack.n];
	return 0;
}

int ez_pickle_top(struct ez_pickle_tree *tree, struct ez_node **ret_node)
{
	if (tree->stack.n <= ez_pickle_floor(tree))
		return -EBADMSG;
	*ret_node = tree->stack.nodes[tree->stack.n - 1];
	return 0;
}

int ez_pickle_push_mark(struct ez_pickle_tree *tree)
{
	if (tree->n_marks == tree->marks_capacity) {
		size_t capacity = tree->marks_capacity ? 2 * tree->marks_capacity : 16;
		size_t *marks = realloc(tree->marks, capacity * sizeof(*marks));

		if (!marks)
			return -ENOMEM;
		tree->marks = marks;
		tree->marks_capacity = capacity;
	}
	tree->marks[tree->n_marks++] = tree->stack.n;
	return 0;
}

int ez_pickle_pop_mark(struct ez_pickle_tree *tree, size_t *ret_from)
{
	if (!tree->n_marks)
		return -EBADMSG;
	*ret_from = tree->marks[--tree->n_marks];
	return 0;
}

int ez_pickle_take(struct ez_pickle_tree *tree, size_t from, struct ez_node *node)
{
	int err = 0;

	for (size_t i = from; !err && i < tree->stack.n; i++)
		err = node_add(node, tree->stack.nodes[i]);
	tree->stack.n = from;
	return err;
}

int ez_pickle_memo_put(struct ez_pickle_tree *tree, size_t index, struct ez_node *node)
{
	/* A memo has no more entries than the pickle has bytes, whatever index it claims. */
	if (index > tree->max_nodes || index > tree->in.len)
		return -EMSGSIZE;
	while (tree->memo.n <= index) {
		int err = ez_node_list_push(&tree->memo, NULL);

		if (err)
			return err;
	}
	tree->memo.nodes[index] = node;
	return 0;
}

const struct ez_node *ez_pickle_tree_root(const struct ez_pickle_tree *tree)
{
	return tree->root;
}

void ez_pickle_tree_free(struct ez_pickle_tree *tree)
{
	if (!tree)
		return;
	for (size_t i = 0; i < tree->all.n; i++) {
		free(tree->all.nodes[i]->items);
		free(tree->all.nodes[i]);
	}
	free(tree->all.nodes);
	free(tree->memo.nodes);
	free(tree->stack.nodes);
	free(tree->marks);
	free(tree);
}
