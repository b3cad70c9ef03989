/* SPDX-License-Identifier: MIT */
/*
 * What a pickle is played on: a stack with marks, a memo, and the nodes made so far, which the tree
 * owns. Private to the pickle files. All functions: 0, -EBADMSG (not possible in a valid pickle),
 * -EMSGSIZE, -ENOMEM.
 */
#ifndef EZ_PICKLE_STACK_H
#define EZ_PICKLE_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "frame.h"
#include "pickle_tree.h"

struct ez_node_list {
	struct ez_node **nodes;
	size_t n, capacity;
};

struct ez_pickle_tree {
	struct ez_node_list all; /* owns every node */
	struct ez_node_list memo;
	struct ez_node_list stack;
	size_t *marks;
	size_t n_marks, marks_capacity;
	size_t max_nodes;
	uint64_t n_buffers;
	struct ez_node *root;
	struct ez_reader in;
};

int ez_node_list_push(struct ez_node_list *list, struct ez_node *node);

/* A fresh node; and one that is on the stack at once. */
int ez_pickle_new(struct ez_pickle_tree *tree, enum ez_node_kind kind, struct ez_node **ret_node);
int ez_pickle_push_new(struct ez_pickle_tree *tree, enum ez_node_kind kind,
		       struct ez_node **ret_node);

/* The value on top, above the last mark; taken away or left there. */
int ez_pickle_pop(struct ez_pickle_tree *tree, struct ez_node **ret_node);
int ez_pickle_top(struct ez_pickle_tree *tree, struct ez_node **ret_node);

/* Where the values above the last mark begin; the bottom of the stack if there is none. */
size_t ez_pickle_floor(const struct ez_pickle_tree *tree);

int ez_pickle_push_mark(struct ez_pickle_tree *tree);

/* Forgets the last mark; ret_from = where the values above it begin. */
int ez_pickle_pop_mark(struct ez_pickle_tree *tree, size_t *ret_from);

/* Moves the values from `from` to the top into node, which isn't among them. */
int ez_pickle_take(struct ez_pickle_tree *tree, size_t from, struct ez_node *node);

int ez_pickle_memo_put(struct ez_pickle_tree *tree, size_t index, struct ez_node *node);

#endif
