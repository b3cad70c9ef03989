/* SPDX-License-Identifier: MIT */
#include "pickle.h"

#include <errno.h>
#include <string.h>

#include "pickle_opcodes.h"
#include "pickle_tree.h"
#include "utf8.h"

#define VALUE_NODES_MAX 256
#define FRAME_BYTES_MIN 4     /* CPython frames nothing shorter, */
#define FRAME_BYTES_MAX 65536 /* and writes a text of this length or more outside of any frame */

static void put_le(struct ez_buffer *out, uint64_t value, int width)
{
	for (int i = 0; i < width; i++)
		ez_put_u8(out, (uint8_t)(value >> (8 * i)));
}

/* A pickle of this body (all but PROTO and STOP). */
static void put_pickle(struct ez_buffer *out, const void *body, size_t len)
{
	ez_put_u8(out, EZ_OP_PROTO);
	ez_put_u8(out, 5);
	if (len + 1 >= FRAME_BYTES_MIN) {
		ez_put_u8(out, EZ_OP_FRAME);
		ez_put_u64(out, len + 1);
	}
	ez_buffer_append(out, body, len);
	ez_put_u8(out, EZ_OP_STOP);
}

void ez_pickle_none(struct ez_buffer *out)
{
	put_pickle(out, "N", 1);
}

void ez_pickle_bool(struct ez_buffer *out, bool value)
{
	uint8_t opcode = value ? EZ_OP_NEWTRUE : EZ_OP_NEWFALSE;

	put_pickle(out, &opcode, 1);
}

/* An int in the shortest of CPython's forms; at most 11 bytes. */
static size_t int_body(int64_t value, uint8_t body[16])
{
	size_t width;

	if (value >= 0 && value <= 0xffff) {
		body[0] = value <= 0xff ? EZ_OP_BININT1 : EZ_OP_BININT2;
		width = value <= 0xff ? 1 : 2;
	} else if (value >= INT32_MIN && value <= INT32_MAX) {
		body[0] = EZ_OP_BININT;
		width = 4;
	} else {
		body[0] = EZ_OP_LONG1;
		ez_store_u64(body + 2, (uint64_t)value);
		/* As few bytes as keep the sign. */
		for (width = 8; width > 1; width--)
			if ((value >> (8 * (width - 1) - 1)) != 0 &&
			    (value >> (8 * (width - 1) - 1)) != -1)
				break;
		body[1] = (uint8_t)width;
		return 2 + width;
	}
	for (size_t i = 0; i < width; i++)
		body[1 + i] = (uint8_t)((uint64_t)value >> (8 * i));
	return 1 + width;
}

void ez_pickle_i64(struct ez_buffer *out, int64_t value)
{
	uint8_t body[16];

	put_pickle(out, body, int_body(value, body));
}

void ez_pickle_f64(struct ez_buffer *out, double value)
{
	uint8_t body[9] = {EZ_OP_BINFLOAT};
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	for (int i = 0; i < 8; i++)
		body[1 + i] = (uint8_t)(bits >> (56 - 8 * i));
	put_pickle(out, body, sizeof(body));
}

/* One text opcode of the fitting width, in a frame where CPython has one. */
static void put_text_pickle(struct ez_buffer *out, const uint8_t opcodes[3], const void *data,
			    size_t len)
{
	int width = len < 256 ? 1 : len <= UINT32_MAX ? 4 : 8;

	ez_put_u8(out, EZ_OP_PROTO);
	ez_put_u8(out, 5);
	if (len < FRAME_BYTES_MAX) {
		ez_put_u8(out, EZ_OP_FRAME);
		ez_put_u64(out, 1 + (size_t)width + len + 2);
	}
	ez_put_u8(out, opcodes[width == 1 ? 0 : width == 4 ? 1 : 2]);
	put_le(out, len, width);
	ez_buffer_append(out, data, len);
	ez_put_u8(out, EZ_OP_MEMOIZE);
	ez_put_u8(out, EZ_OP_STOP);
}

void ez_pickle_bytes(struct ez_buffer *out, const void *data, size_t len)
{
	static const uint8_t opcodes[] = {EZ_OP_SHORT_BINBYTES, EZ_OP_BINBYTES, EZ_OP_BINBYTES8};

	put_text_pickle(out, opcodes, data, len);
}

int ez_pickle_str(struct ez_buffer *out, const char *data, size_t len)
{
	static const uint8_t opcodes[] = {EZ_OP_SHORT_BINUNICODE, EZ_OP_BINUNICODE,
					  EZ_OP_BINUNICODE8};

	if (!ez_utf8_is_valid(data, len))
		return -EILSEQ;
	put_text_pickle(out, opcodes, data, len);
	return 0;
}

uint32_t ez_dtype_bytes(const char *dtype)
{
	static const struct {
		char kind;
		const char *sizes;
	} kinds[] = {{'b', " 1 "},
		     {'i', " 1 2 4 8 "},
		     {'u', " 1 2 4 8 "},
		     {'f', " 2 4 8 16 "},
		     {'c', " 8 16 32 "}};
	char wanted[8];

	if (strnlen(dtype, 5) < 3 || strnlen(dtype, 5) > 4 || !strchr("<>|", dtype[0]))
		return 0;
	strcpy(wanted, " ");
	strcat(wanted, dtype + 2);
	strcat(wanted, " ");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].kind != dtype[1] || !strstr(kinds[i].sizes, wanted))
			continue;
		/* Byte order is '|' for single bytes and for nothing else. */
		if ((dtype[0] == '|') != (strcmp(dtype + 2, "1") == 0))
			return 0;
		return dtype[3] ? (uint32_t)(10 * (dtype[2] - '0') + dtype[3] - '0')
				: (uint32_t)(dtype[2] - '0');
	}
	return 0;
}

static int array_bytes(const struct ez_ndarray *array, uint64_t *ret_bytes)
{
	uint64_t bytes = ez_dtype_bytes(array->dtype);

	if (!bytes || array->n_dims > EZ_NDIM_MAX)
		return -EINVAL;
	for (uint32_t i = 0; i < array->n_dims; i++)
		if (__builtin_mul_overflow(bytes, array->shape[i], &bytes) || bytes > INT64_MAX)
			return -EINVAL;
	*ret_bytes = bytes;
	return 0;
}

static void put_short_str(struct ez_buffer *out, const char *text)
{
	ez_put_u8(out, EZ_OP_SHORT_BINUNICODE);
	ez_put_u8(out, (uint8_t)strlen(text));
	ez_buffer_append_text(out, text);
	ez_put_u8(out, EZ_OP_MEMOIZE);
}

static void put_opcodes(struct ez_buffer *out, const char *opcodes, size_t n)
{
	ez_buffer_append(out, opcodes, n);
}

static void put_shape(struct ez_buffer *out, const struct ez_ndarray *array)
{
	static const uint8_t tuples[] = {EZ_OP_EMPTY_TUPLE, EZ_OP_TUPLE1, EZ_OP_TUPLE2,
					 EZ_OP_TUPLE3};
	uint8_t body[16];

	if (array->n_dims > 3)
		ez_put_u8(out, EZ_OP_MARK_OBJECT);
	for (uint32_t i = 0; i < array->n_dims; i++)
		ez_buffer_append(out, body, int_body((int64_t)array->shape[i], body));
	ez_put_u8(out, array->n_dims > 3 ? EZ_OP_TUPLE : tuples[array->n_dims]);
	if (array->n_dims)
		ez_put_u8(out, EZ_OP_MEMOIZE);
}

/* numpy.core.numeric._frombuffer(buffer, dtype, shape, order); numpy 2 still knows this name. */
static void put_array_body(struct ez_buffer *out, const struct ez_ndarray *array)
{
	const char order[2] = {array->dtype[0], '\0'};

	put_short_str(out, "numpy.core.numeric");
	put_short_str(out, "_frombuffer");
	put_opcodes(out, "\x93\x94(\x97", 4);
	put_short_str(out, "numpy");
	put_short_str(out, "dtype");
	put_opcodes(out, "\x93\x94", 2);
	put_short_str(out, array->dtype + 1);
	put_opcodes(out, "\x89\x88\x87\x94R\x94(K\x03", 9);
	put_short_str(out, order);
	/* No subarray, names or fields; item size and alignment as the kind says; no flags. */
	put_opcodes(out, "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00t\x94\x62", 18);
	put_shape(out, array);
	put_short_str(out, array->fortran_order ? "F" : "C");
	put_opcodes(out, "t\x94R\x94", 4);
}

int ez_pickle_ndarray(struct ez_buffer *out, const struct ez_ndarray *array)
{
	struct ez_buffer body;
	uint64_t bytes;
	int err = array_bytes(array, &bytes);

	if (err)
		return err;
	ez_buffer_init(&body, 1024);
	put_array_body(&body, array);
	if (body.err)
		out->err = body.err;
	else
		put_pickle(out, body.data, body.len);
	ez_buffer_free(&body);
	return 0;
}

/* dtype('f4', False, True) with the state (3, '<', None, None, None, -1, -1, 0). */
static int read_dtype(const struct ez_node *node, char out[8])
{
	const struct ez_node *kind, *state = node->state;

	if (node->kind != EZ_NODE_CALL || !ez_node_is_global(node->callee, "numpy", "dtype") ||
	    node->args->n_items < 1 || !state || state->kind != EZ_NODE_TUPLE || state->n_items < 8)
		return -ENOTSUP;
	kind = node->args->items[0];
	if (kind->kind != EZ_NODE_STR || kind->text.len < 2 || kind->text.len > 3 ||
	    state->items[1]->kind != EZ_NODE_STR || state->items[1]->text.len != 1)
		return -ENOTSUP;
	for (int i = 2; i < 5; i++)
		if (state->items[i]->kind != EZ_NODE_NONE)
			return -ENOTSUP;
	memset(out, 0, 8);
	out[0] = state->items[1]->text.data[0];
	memcpy(out + 1, kind->text.data, kind->text.len);
	return ez_dtype_bytes(out) ? 0 : -ENOTSUP;
}

static int read_array(const struct ez_node *root, struct ez_ndarray *ret_array)
{
	const struct ez_node *args = root->args, *shape;
	struct ez_ndarray array = {0};
	int err;

	if (!ez_node_is_global(root->callee, "numpy.core.numeric", "_frombuffer") &&
	    !ez_node_is_global(root->callee, "numpy._core.numeric", "_frombuffer"))
		return -ENOTSUP;
	if (args->n_items != 4 || args->items[0]->kind != EZ_NODE_BUFFER ||
	    args->items[0]->integer != 0)
		return -ENOTSUP;
	err = read_dtype(args->items[1], array.dtype);
	shape = args->items[2];
	if (err || shape->kind != EZ_NODE_TUPLE || shape->n_items > EZ_NDIM_MAX)
		return -ENOTSUP;
	array.n_dims = (uint32_t)shape->n_items;
	for (uint32_t i = 0; i < array.n_dims; i++) {
		if (shape->items[i]->kind != EZ_NODE_INT || shape->items[i]->integer < 0)
			return -ENOTSUP;
		array.shape[i] = (uint64_t)shape->items[i]->integer;
	}
	array.fortran_order = ez_node_is_str(args->items[3], "F");
	if (!array.fortran_order && !ez_node_is_str(args->items[3], "C"))
		return -ENOTSUP;
	if (array_bytes(&array, &array.data_bytes))
		return -EBADMSG;
	*ret_array = array;
	return 0;
}

static int read_node(const struct ez_node *root, struct ez_value *value)
{
	switch (root->kind) {
	case EZ_NODE_NONE:
		value->type = EZ_VALUE_NONE;
		return 0;
	case EZ_NODE_BOOL:
		value->type = EZ_VALUE_BOOL;
		value->boolean = root->integer;
		return 0;
	case EZ_NODE_INT:
		value->type = EZ_VALUE_INT;
		value->integer = root->integer;
		return 0;
	case EZ_NODE_FLOAT:
		value->type = EZ_VALUE_FLOAT;
		value->number = root->number;
		return 0;
	case EZ_NODE_STR:
	case EZ_NODE_BYTES:
		value->type = root->kind == EZ_NODE_STR ? EZ_VALUE_STR : EZ_VALUE_BYTES;
		value->text = root->text;
		return 0;
	case EZ_NODE_CALL:
		value->type = EZ_VALUE_NDARRAY;
		return read_array(root, &value->array);
	default:
		return -ENOTSUP;
	}
}

int ez_pickle_read(const void *data, size_t len, struct ez_value *ret_value)
{
	struct ez_value value = {0};
	struct ez_pickle_tree *tree;
	int err = ez_pickle_tree_parse(data, len, VALUE_NODES_MAX, &tree);

	/* More nodes than any of our values has: something else, not something broken. */
	if (err)
		return err == -EMSGSIZE ? -ENOTSUP : err;
	err = read_node(ez_pickle_tree_root(tree), &value);
	ez_pickle_tree_free(tree);
	if (!err)
		*ret_value = value;
	return err;
}
