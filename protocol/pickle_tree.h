/* SPDX-License-Identifier: MIT */
/*
 * A pickle as a tree of plain nodes. The opcodes are played on a stack, but what would import, call
 * or build becomes a node that says so, for a reader to recognise; nothing is ever executed. Memory
 * is bounded by max_nodes, time by the length of the pickle. Nodes may be shared and, in a hostile
 * pickle, contain themselves: walk by the expected shape, never recursively without a limit.
 */
#ifndef EZ_PICKLE_TREE_H
#define EZ_PICKLE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h"

enum ez_node_kind {
	EZ_NODE_NONE,
	EZ_NODE_BOOL,	/* integer: 0 or 1 */
	EZ_NODE_INT,	/* integer */
	EZ_NODE_BIGINT, /* an int beyond 64 bits: text, little-endian two's complement */
	EZ_NODE_FLOAT,	/* number */
	EZ_NODE_STR,	/* text */
	EZ_NODE_BYTES,	/* text */
	EZ_NODE_TUPLE,	/* items */
	EZ_NODE_LIST,	/* items */
	EZ_NODE_SET,	/* items */
	EZ_NODE_DICT,	/* items: key, value, key, value ... */
	EZ_NODE_GLOBAL, /* text = module, name */
	EZ_NODE_CALL,	/* callee(*args): REDUCE, or NEWOBJ (is_new); state, items if it was filled
			   afterwards */
	EZ_NODE_BUFFER, /* integer: which out-of-band buffer */
};

struct ez_node {
	enum ez_node_kind kind;
	bool is_new;
	bool is_frozen; /* a SET that is a frozenset */
	bool has_pairs; /* a CALL whose items are keys and values */
	union {
		int64_t integer;
		double number;
		struct ez_str text; /* borrowed from the pickle */
	};
	struct ez_str name;
	struct ez_node **items;
	size_t n_items;
	size_t capacity;
	struct ez_node *callee;
	struct ez_node *args;
	struct ez_node *state;
};

struct ez_pickle_tree;

/*
 * Parses a pickle, which must stay valid as long as the tree. 0, -EBADMSG, -ENOTSUP (opcode),
 * -EMSGSIZE (nodes), -ENOMEM.
 */
int ez_pickle_tree_parse(const void *data, size_t len, size_t max_nodes,
			 struct ez_pickle_tree **ret_tree);

const struct ez_node *ez_pickle_tree_root(const struct ez_pickle_tree *tree);

void ez_pickle_tree_free(struct ez_pickle_tree *tree); /* NULL is fine */

/* Is node the class or function module.name? */
bool ez_node_is_global(const struct ez_node *node, const char *module, const char *name);

/* Is node this str? */
bool ez_node_is_str(const struct ez_node *node, const char *text);

/* The value of a str key in a dict node, NULL if there is none or node is no dict. */
const struct ez_node *ez_node_lookup(const struct ez_node *dict, const char *key);

#endif
