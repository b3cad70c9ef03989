/* SPDX-License-Identifier: MIT */
#include "pickle_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pickle_opcodes.h"
#include "pickle_stack.h"

#define MARK ((size_t)-1)

static int op_tuple(struct ez_pickle_tree *tree, size_t n, enum ez_node_kind kind)
{
	struct ez_node *node;
	size_t from;
	int err;

	if (n == MARK) {
		err = ez_pickle_pop_mark(tree, &from);
		if (err)
			return err;
	} else {
		if (tree->stack.n - ez_pickle_floor(tree) < n)
			return -EBADMSG;
		from = tree->stack.n - n;
	}
	err = ez_pickle_new(tree, kind, &node);
	if (!err)
		node->is_frozen = kind == EZ_NODE_SET;
	if (!err)
		err = ez_pickle_take(tree, from, node);
	return err ? err : ez_node_list_push(&tree->stack, node);
}

/*
 * n values, or those above the mark, go into the container below them: APPEND(S), SETITEM(S),
 * ADDITEMS.
 */
static int op_fill(struct ez_pickle_tree *tree, size_t n, size_t multiple)
{
	struct ez_node *container;
	size_t from, floor;
	int err;

	if (n == MARK) {
		err = ez_pickle_pop_mark(tree, &from);
		if (err)
			return err;
	} else {
		from = tree->stack.n < n ? 0 : tree->stack.n - n;
	}
	floor = ez_pickle_floor(tree);
	if (from <= floor || (tree->stack.n - from) % multiple)
		return -EBADMSG;
	container = tree->stack.nodes[from - 1];
	switch (container->kind) {
	case EZ_NODE_LIST:
	case EZ_NODE_SET:
	case EZ_NODE_DICT:
	case EZ_NODE_CALL:
		container->has_pairs = multiple == 2;
		return ez_pickle_take(tree, from, container);
	default:
		return -EBADMSG;
	}
}

static int op_text(struct ez_pickle_tree *tree, enum ez_node_kind kind, size_t width)
{
	const uint8_t *p;
	struct ez_node *node;
	uint64_t len = 0;
	int err = ez_read_bytes(&tree->in, width, &p);

	if (err)
		return err;
	for (size_t i = width; i > 0; i--)
		len = len << 8 | p[i - 1];
	if (len > tree->in.len)
		return -EBADMSG;
	err = ez_read_bytes(&tree->in, (size_t)len, &p);
	if (!err)
		err = ez_pickle_push_new(tree, kind, &node);
	if (err)
		return err;
	node->text = (struct ez_str){(const char *)p, (size_t)len};
	return 0;
}

/* A little-endian integer; sign_bytes = how wide it is if signed, 0 if unsigned. */
static int op_int(struct ez_pickle_tree *tree, size_t width, bool is_signed)
{
	const uint8_t *p;
	struct ez_node *node;
	uint64_t value = 0;
	int err = ez_read_bytes(&tree->in, width, &p);

	if (!err)
		err = ez_pickle_push_new(tree, width > 8 ? EZ_NODE_BIGINT : EZ_NODE_INT, &node);
	if (err)
		return err;
	if (width > 8) {
		node->text = (struct ez_str){(const char *)p, width};
		return 0;
	}
	if (is_signed && width && (p[width - 1] & 0x80))
		value = UINT64_MAX;
	for (size_t i = width; i > 0; i--)
		value = value << 8 | p[i - 1];
	node->integer = (int64_t)value;
	return 0;
}

static int op_float(struct ez_pickle_tree *tree)
{
	const uint8_t *p;
	struct ez_node *node;
	uint64_t bits = 0;
	int err = ez_read_bytes(&tree->in, 8, &p);

	if (!err)
		err = ez_pickle_push_new(tree, EZ_NODE_FLOAT, &node);
	if (err)
		return err;
	for (int i = 0; i < 8; i++)
		bits = bits << 8 | p[i];
	memcpy(&node->number, &bits, sizeof(bits));
	return 0;
}

static int op_small(struct ez_pickle_tree *tree, enum ez_node_kind kind, int64_t integer)
{
	struct ez_node *node;
	int err = ez_pickle_push_new(tree, kind, &node);

	if (!err)
		node->integer = integer;
	return err;
}

static int op_stack_global(struct ez_pickle_tree *tree)
{
	struct ez_node *module, *name, *node;
	int err = ez_pickle_pop(tree, &name);

	if (!err)
		err = ez_pickle_pop(tree, &module);
	if (err)
		return err;
	if (module->kind != EZ_NODE_STR || name->kind != EZ_NODE_STR)
		return -EBADMSG;
	err = ez_pickle_push_new(tree, EZ_NODE_GLOBAL, &node);
	if (err)
		return err;
	node->text = module->text;
	node->name = name->text;
	return 0;
}

static int read_line(struct ez_pickle_tree *tree, struct ez_str *ret_line)
{
	const uint8_t *start = tree->in.data + tree->in.pos;
	const uint8_t *end = memchr(start, '\n', tree->in.len - tree->in.pos);

	if (!end)
		return -EBADMSG;
	*ret_line = (struct ez_str){(const char *)start, (size_t)(end - start)};
	tree->in.pos += ret_line->len + 1;
	return 0;
}

static int op_global(struct ez_pickle_tree *tree)
{
	struct ez_str module, name;
	struct ez_node *node;
	int err = read_line(tree, &module);

	if (!err)
		err = read_line(tree, &name);
	if (!err)
		err = ez_pickle_push_new(tree, EZ_NODE_GLOBAL, &node);
	if (err)
		return err;
	node->text = module;
	node->name = name;
	return 0;
}

static int op_call(struct ez_pickle_tree *tree, bool is_new)
{
	struct ez_node *callee, *args, *node;
	int err = ez_pickle_pop(tree, &args);

	if (!err)
		err = ez_pickle_pop(tree, &callee);
	if (err)
		return err;
	if (args->kind != EZ_NODE_TUPLE)
		return -EBADMSG;
	err = ez_pickle_push_new(tree, EZ_NODE_CALL, &node);
	if (err)
		return err;
	node->is_new = is_new;
	node->callee = callee;
	node->args = args;
	return 0;
}

static int op_build(struct ez_pickle_tree *tree)
{
	struct ez_node *state, *object;
	int err = ez_pickle_pop(tree, &state);

	if (!err)
		err = ez_pickle_top(tree, &object);
	if (err)
		return err;
	if (object->kind != EZ_NODE_CALL)
		return -EBADMSG;
	object->state = state;
	return 0;
}

static int op_put(struct ez_pickle_tree *tree, size_t width)
{
	const uint8_t *p;
	struct ez_node *node;
	size_t index = tree->memo.n;
	int err = ez_pickle_top(tree, &node);

	if (!err && width)
		err = ez_read_bytes(&tree->in, width, &p);
	if (err)
		return err;
	if (width) {
		index = 0;
		for (size_t i = width; i > 0; i--)
			index = index << 8 | p[i - 1];
	}
	return ez_pickle_memo_put(tree, index, node);
}

static int op_get(struct ez_pickle_tree *tree, size_t width)
{
	const uint8_t *p;
	size_t index = 0;
	int err = ez_read_bytes(&tree->in, width, &p);

	if (err)
		return err;
	for (size_t i = width; i > 0; i--)
		index = index << 8 | p[i - 1];
	if (index >= tree->memo.n || !tree->memo.nodes[index])
		return -EBADMSG;
	return ez_node_list_push(&tree->stack, tree->memo.nodes[index]);
}

static int op_buffer(struct ez_pickle_tree *tree)
{
	return op_small(tree, EZ_NODE_BUFFER, (int64_t)tree->n_buffers++);
}

static int op_long1(struct ez_pickle_tree *tree)
{
	uint8_t width;
	int err = ez_read_u8(&tree->in, &width);

	return err ? err : op_int(tree, width, true);
}

static int op_pop_mark(struct ez_pickle_tree *tree)
{
	size_t from;
	int err = ez_pickle_pop_mark(tree, &from);

	if (!err)
		tree->stack.n = from;
	return err;
}

static int op_stop(struct ez_pickle_tree *tree)
{
	return ez_pickle_pop(tree, &tree->root);
}

static int skip(struct ez_pickle_tree *tree, size_t n)
{
	const uint8_t *p;

	return ez_read_bytes(&tree->in, n, &p);
}

static int play(struct ez_pickle_tree *tree, uint8_t opcode)
{
	struct ez_node *node;

	switch (opcode) {
#define EZ_PLAY(name, code, statement) \
	case code: \
		return statement;
		EZ_PICKLE_OPCODES(EZ_PLAY)
#undef EZ_PLAY
	default:
		return -ENOTSUP;
	}
}

int ez_pickle_tree_parse(const void *data, size_t len, size_t max_nodes,
			 struct ez_pickle_tree **ret_tree)
{
	struct ez_pickle_tree *tree = calloc(1, sizeof(*tree));
	int err = 0;

	if (!tree)
		return -ENOMEM;
	tree->max_nodes = max_nodes;
	ez_reader_init(&tree->in, data, len);
	while (!err && !tree->root) {
		uint8_t opcode;

		err = ez_read_u8(&tree->in, &opcode);
		if (!err)
			err = play(tree, opcode);
	}
	if (err) {
		ez_pickle_tree_free(tree);
		return err == -EAGAIN ? -EBADMSG : err;
	}
	*ret_tree = tree;
	return 0;
}

static bool str_equals(struct ez_str str, const char *text)
{
	return str.len == strlen(text) && memcmp(str.data, text, str.len) == 0;
}

bool ez_node_is_global(const struct ez_node *node, const char *module, const char *name)
{
	return node && node->kind == EZ_NODE_GLOBAL && str_equals(node->text, module) &&
	       str_equals(node->name, name);
}

bool ez_node_is_str(const struct ez_node *node, const char *text)
{
	return node && node->kind == EZ_NODE_STR && str_equals(node->text, text);
}

const struct ez_node *ez_node_lookup(const struct ez_node *dict, const char *key)
{
	if (!dict || dict->kind != EZ_NODE_DICT)
		return NULL;
	for (size_t i = 0; i + 1 < dict->n_items; i += 2)
		if (ez_node_is_str(dict->items[i], key))
			return dict->items[i + 1];
	return NULL;
}
