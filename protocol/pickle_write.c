/* SPDX-License-Identifier: MIT */
#include "pickle_write.h"

#include <errno.h>
#include <string.h>

void ez_pickle_put_str_header(struct ez_buffer *out, size_t len)
{
	int width = len < 256 ? 1 : 8;

	ez_put_u8(out, width == 1 ? EZ_OP_SHORT_BINUNICODE : EZ_OP_BINUNICODE8);
	if (width == 1)
		ez_put_u8(out, (uint8_t)len);
	else
		ez_put_u64(out, len);
}

void ez_pickle_put_str(struct ez_buffer *out, const char *data, size_t len)
{
	ez_pickle_put_str_header(out, len);
	ez_buffer_append(out, data, len);
}

void ez_pickle_put_text(struct ez_buffer *out, const char *text)
{
	ez_pickle_put_str(out, text, strlen(text));
}

void ez_pickle_put_global(struct ez_buffer *out, const char *module, const char *name)
{
	ez_pickle_put_text(out, module);
	ez_pickle_put_text(out, name);
	ez_put_u8(out, EZ_OP_STACK_GLOBAL);
}

void ez_pickle_put_int(struct ez_buffer *out, int64_t value)
{
	uint8_t bytes[8];
	size_t width = value >= INT32_MIN && value <= INT32_MAX ? 4 : 8;

	ez_store_u64(bytes, (uint64_t)value);
	ez_put_u8(out, width == 4 ? EZ_OP_BININT : EZ_OP_LONG1);
	if (width == 8)
		ez_put_u8(out, 8);
	ez_buffer_append(out, bytes, width);
}

void ez_pickle_put_float(struct ez_buffer *out, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	ez_put_u8(out, EZ_OP_BINFLOAT);
	for (int shift = 56; shift >= 0; shift -= 8)
		ez_put_u8(out, (uint8_t)(bits >> shift));
}

void ez_pickle_put_bytes(struct ez_buffer *out, const void *data, size_t len)
{
	ez_put_u8(out, len < 256 ? EZ_OP_SHORT_BINBYTES : EZ_OP_BINBYTES8);
	if (len < 256)
		ez_put_u8(out, (uint8_t)len);
	else
		ez_put_u64(out, len);
	ez_buffer_append(out, data, len);
}

static void put_node(struct ez_buffer *out, const struct ez_node *node, int depth);

static void put_items(struct ez_buffer *out, const struct ez_node *node, uint8_t fill, int depth)
{
	ez_put_u8(out, EZ_OP_MARK_OBJECT);
	for (size_t i = 0; i < node->n_items && !out->err; i++)
		put_node(out, node->items[i], depth);
	ez_put_u8(out, fill);
}

static void put_call(struct ez_buffer *out, const struct ez_node *node, int depth)
{
	put_node(out, node->callee, depth);
	put_node(out, node->args, depth);
	ez_put_u8(out, node->is_new ? EZ_OP_NEWOBJ : EZ_OP_REDUCE);
	if (node->n_items)
		put_items(out, node, node->has_pairs ? EZ_OP_SETITEMS : EZ_OP_APPENDS, depth);
	if (!node->state)
		return;
	put_node(out, node->state, depth);
	ez_put_u8(out, EZ_OP_BUILD);
}

static void put_container(struct ez_buffer *out, const struct ez_node *node, int depth)
{
	switch (node->kind) {
	case EZ_NODE_TUPLE:
		put_items(out, node, EZ_OP_TUPLE, depth);
		break;
	case EZ_NODE_LIST:
		ez_put_u8(out, EZ_OP_EMPTY_LIST);
		put_items(out, node, EZ_OP_APPENDS, depth);
		break;
	case EZ_NODE_SET:
		if (!node->is_frozen)
			ez_put_u8(out, EZ_OP_EMPTY_SET);
		put_items(out, node, node->is_frozen ? EZ_OP_FROZENSET : EZ_OP_ADDITEMS, depth);
		break;
	case EZ_NODE_DICT:
		ez_put_u8(out, EZ_OP_EMPTY_DICT);
		put_items(out, node, EZ_OP_SETITEMS, depth);
		break;
	default:
		put_call(out, node, depth);
		break;
	}
}

static void put_big_int(struct ez_buffer *out, const struct ez_node *node)
{
	if (node->text.len > UINT8_MAX) {
		out->err = out->err ? out->err : -ENOTSUP;
		return;
	}
	ez_put_u8(out, EZ_OP_LONG1);
	ez_put_u8(out, (uint8_t)node->text.len);
	ez_buffer_append(out, node->text.data, node->text.len);
}

static void put_node(struct ez_buffer *out, const struct ez_node *node, int depth)
{
	if (out->err)
		return;
	if (++depth > EZ_PICKLE_DEPTH_MAX) {
		out->err = -ENOTSUP;
		return;
	}
	switch (node->kind) {
	case EZ_NODE_NONE:
		ez_put_u8(out, EZ_OP_NONE);
		break;
	case EZ_NODE_BOOL:
		ez_put_u8(out, node->integer ? EZ_OP_NEWTRUE : EZ_OP_NEWFALSE);
		break;
	case EZ_NODE_INT:
		ez_pickle_put_int(out, node->integer);
		break;
	case EZ_NODE_BIGINT:
		put_big_int(out, node);
		break;
	case EZ_NODE_FLOAT:
		ez_pickle_put_float(out, node->number);
		break;
	case EZ_NODE_STR:
		ez_pickle_put_str(out, node->text.data, node->text.len);
		break;
	case EZ_NODE_BYTES:
		ez_pickle_put_bytes(out, node->text.data, node->text.len);
		break;
	case EZ_NODE_GLOBAL:
		ez_pickle_put_str(out, node->text.data, node->text.len);
		ez_pickle_put_str(out, node->name.data, node->name.len);
		ez_put_u8(out, EZ_OP_STACK_GLOBAL);
		break;
	case EZ_NODE_BUFFER:
		out->err = -ENOTSUP;
		break;
	default:
		put_container(out, node, depth);
		break;
	}
}

int ez_pickle_put_node(struct ez_buffer *out, const struct ez_node *node)
{
	put_node(out, node, 0);
	return out->err;
}
