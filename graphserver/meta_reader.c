/* SPDX-License-Identifier: MIT */
#include "meta_reader.h"

#include <errno.h>
#include <string.h>

#define NODES_MAX (1 << 19)

const struct ez_node *ezprof_meta_state(const struct ez_node *node)
{
	if (!node || node->kind != EZ_NODE_CALL || !node->state ||
	    node->state->kind != EZ_NODE_DICT)
		return NULL;
	return node->state;
}

int ezprof_meta_read(struct ez_str pickle, const char *class_name, struct ez_pickle_tree **ret_tree,
		     const struct ez_node **ret_state)
{
	const struct ez_node *root, *state;
	struct ez_pickle_tree *tree;
	int err = ez_pickle_tree_parse(pickle.data, pickle.len, NODES_MAX, &tree);

	if (err)
		return err;
	root = ez_pickle_tree_root(tree);
	state = ezprof_meta_state(root);
	if (!state || !ez_node_is_global(root->callee, EZPROF_META_MODULE, class_name)) {
		ez_pickle_tree_free(tree);
		return -EBADMSG;
	}
	*ret_tree = tree;
	*ret_state = state;
	return 0;
}

int ezprof_meta_str(const struct ez_node *state, const char *key, struct ez_str *ret_text)
{
	const struct ez_node *node = ez_node_lookup(state, key);

	if (!node || node->kind != EZ_NODE_STR)
		return -EBADMSG;
	*ret_text = node->text;
	return 0;
}

int ezprof_meta_int(const struct ez_node *state, const char *key, int64_t *ret_value)
{
	const struct ez_node *node = ez_node_lookup(state, key);

	if (!node || (node->kind != EZ_NODE_INT && node->kind != EZ_NODE_BOOL))
		return -EBADMSG;
	*ret_value = node->integer;
	return 0;
}

int ezprof_meta_number(const struct ez_node *state, const char *key, double *ret_value)
{
	const struct ez_node *node = ez_node_lookup(state, key);
	int64_t integer;
	int err;

	if (node && node->kind == EZ_NODE_FLOAT) {
		*ret_value = node->number;
		return 0;
	}
	err = ezprof_meta_int(state, key, &integer);
	if (!err)
		*ret_value = (double)integer;
	return err;
}

int ezprof_meta_strs(const struct ez_node *state, const char *key, const struct ez_node **ret_list)
{
	const struct ez_node *node = ez_node_lookup(state, key);

	if (!node || node->kind != EZ_NODE_LIST)
		return -EBADMSG;
	for (size_t i = 0; i < node->n_items; i++)
		if (node->items[i]->kind != EZ_NODE_STR)
			return -EBADMSG;
	*ret_list = node;
	return 0;
}

int ezprof_meta_uuid(const struct ez_node *node, struct ez_uuid *ret_uuid)
{
	const struct ez_node *number = ez_node_lookup(ezprof_meta_state(node), "int");
	struct ez_uuid uuid = {{0}};

	if (!number || !ez_node_is_global(node->callee, "uuid", "UUID"))
		return -EBADMSG;
	if (number->kind == EZ_NODE_INT) {
		for (int i = 0; i < 8; i++)
			uuid.bytes[EZ_UUID_BYTES - 1 - i] =
				(uint8_t)((uint64_t)number->integer >> 8 * i);
	} else if (number->kind == EZ_NODE_BIGINT) {
		/* A seventeenth byte is the sign of a number that fills all sixteen. */
		size_t n = number->text.len < EZ_UUID_BYTES ? number->text.len : EZ_UUID_BYTES;

		for (size_t i = 0; i < n; i++)
			uuid.bytes[EZ_UUID_BYTES - 1 - i] = (uint8_t)number->text.data[i];
	} else {
		return -EBADMSG;
	}
	*ret_uuid = uuid;
	return 0;
}
