/* SPDX-License-Identifier: MIT */
#include "pickle_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pickle_opcodes.h"

#define MARK ((size_t)-1)

struct node_list {
	struct ez_node **nodes;
	size_t n, capacity;
};

struct ez_pickle_tree {
	struct node_list all; /* owns every node */
	struct node_list memo;
	struct node_list stack;
	size_t *marks;
	size_t n_marks, marks_capacity;
	size_t max_nodes;
	uint64_t n_buffers;
	struct ez_node *root;
	struct ez_reader in;
};

static int list_push(struct node_list *list, struct ez_node *node)
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
	struct node_list list = {node->items, node->n_items, node->capacity};
	int err = list_push(&list, item);

	node->items = list.nodes;
	node->n_items = list.n;
	node->capacity = list.capacity;
	return err;
}

static int new_node(struct ez_pickle_tree *tree, enum ez_node_kind kind, struct ez_node **ret_node)
{
	struct ez_node *node;

	if (tree->all.n >= tree->max_nodes)
		return -EMSGSIZE;
	node = calloc(1, sizeof(*node));
	if (!node)
		return -ENOMEM;
	node->kind = kind;
	if (list_push(&tree->all, node)) {
		free(node);
		return -ENOMEM;
	}
	*ret_node = node;
	return 0;
}

static int push_new(struct ez_pickle_tree *tree, enum ez_node_kind kind, struct ez_node **ret_node)
{
	int err = new_node(tree, kind, ret_node);

	return err ? err : list_push(&tree->stack, *ret_node);
}

/* Where the values above the last mark begin; the bottom of the stack if there is none. */
static size_t floor_of(const struct ez_pickle_tree *tree)
{
	return tree->n_marks ? tree->marks[tree->n_marks - 1] : 0;
}

static int pop(struct ez_pickle_tree *tree, struct ez_node **ret_node)
{
	if (tree->stack.n <= floor_of(tree))
		return -EBADMSG;
	*ret_node = tree->stack.nodes[--tree->stack.n];
	return 0;
}

static int top(struct ez_pickle_tree *tree, struct ez_node **ret_node)
{
	if (tree->stack.n <= floor_of(tree))
		return -EBADMSG;
	*ret_node = tree->stack.nodes[tree->stack.n - 1];
	return 0;
}

static int push_mark(struct ez_pickle_tree *tree)
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

/* Forgets the last mark; ret_from = where the values above it begin. */
static int pop_mark(struct ez_pickle_tree *tree, size_t *ret_from)
{
	if (!tree->n_marks)
		return -EBADMSG;
	*ret_from = tree->marks[--tree->n_marks];
	return 0;
}

/* Moves the values from `from` to the top into node, which isn't among them. */
static int take_items(struct ez_pickle_tree *tree, size_t from, struct ez_node *node)
{
	int err = 0;

	for (size_t i = from; !err && i < tree->stack.n; i++)
		err = node_add(node, tree->stack.nodes[i]);
	tree->stack.n = from;
	return err;
}

static int op_tuple(struct ez_pickle_tree *tree, size_t n, enum ez_node_kind kind)
{
	struct ez_node *node;
	size_t from;
	int err;

	if (n == MARK) {
		err = pop_mark(tree, &from);
		if (err)
			return err;
	} else {
		if (tree->stack.n - floor_of(tree) < n)
			return -EBADMSG;
		from = tree->stack.n - n;
	}
	err = new_node(tree, kind, &node);
	if (!err)
		err = take_items(tree, from, node);
	return err ? err : list_push(&tree->stack, node);
}

/* n values, or those above the mark, go into the container below them: APPEND(S), SETITEM(S),
 * ADDITEMS. */
static int op_fill(struct ez_pickle_tree *tree, size_t n, size_t multiple)
{
	struct ez_node *container;
	size_t from, floor;
	int err;

	if (n == MARK) {
		err = pop_mark(tree, &from);
		if (err)
			return err;
	} else {
		from = tree->stack.n < n ? 0 : tree->stack.n - n;
	}
	floor = floor_of(tree);
	if (from <= floor || (tree->stack.n - from) % multiple)
		return -EBADMSG;
	container = tree->stack.nodes[from - 1];
	switch (container->kind) {
	case EZ_NODE_LIST:
	case EZ_NODE_SET:
	case EZ_NODE_DICT:
	case EZ_NODE_CALL:
		return take_items(tree, from, container);
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
		err = push_new(tree, kind, &node);
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
		err = push_new(tree, width > 8 ? EZ_NODE_BIGINT : EZ_NODE_INT, &node);
	if (err || width > 8)
		return err;
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
		err = push_new(tree, EZ_NODE_FLOAT, &node);
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
	int err = push_new(tree, kind, &node);

	if (!err)
		node->integer = integer;
	return err;
}

static int op_stack_global(struct ez_pickle_tree *tree)
{
	struct ez_node *module, *name, *node;
	int err = pop(tree, &name);

	if (!err)
		err = pop(tree, &module);
	if (err)
		return err;
	if (module->kind != EZ_NODE_STR || name->kind != EZ_NODE_STR)
		return -EBADMSG;
	err = push_new(tree, EZ_NODE_GLOBAL, &node);
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
		err = push_new(tree, EZ_NODE_GLOBAL, &node);
	if (err)
		return err;
	node->text = module;
	node->name = name;
	return 0;
}

static int op_call(struct ez_pickle_tree *tree, bool is_new)
{
	struct ez_node *callee, *args, *node;
	int err = pop(tree, &args);

	if (!err)
		err = pop(tree, &callee);
	if (err)
		return err;
	if (args->kind != EZ_NODE_TUPLE)
		return -EBADMSG;
	err = push_new(tree, EZ_NODE_CALL, &node);
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
	int err = pop(tree, &state);

	if (!err)
		err = top(tree, &object);
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
	int err = top(tree, &node);

	if (!err && width)
		err = ez_read_bytes(&tree->in, width, &p);
	if (err)
		return err;
	if (width) {
		index = 0;
		for (size_t i = width; i > 0; i--)
			index = index << 8 | p[i - 1];
	}
	if (index > tree->max_nodes || index > tree->in.len)
		return -EMSGSIZE;
	while (tree->memo.n <= index) {
		err = list_push(&tree->memo, NULL);
		if (err)
			return err;
	}
	tree->memo.nodes[index] = node;
	return 0;
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
	return list_push(&tree->stack, tree->memo.nodes[index]);
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
	int err = pop_mark(tree, &from);

	if (!err)
		tree->stack.n = from;
	return err;
}

static int op_stop(struct ez_pickle_tree *tree)
{
	return pop(tree, &tree->root);
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
