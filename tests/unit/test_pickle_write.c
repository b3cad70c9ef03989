/* SPDX-License-Identifier: MIT */
/*
 * Nodes of a pickle written again: CPython 3.11's pickles come out as the same tree, and what can't
 * be written is refused.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pickle_write.h"

#define NODES_MAX 1000

static size_t from_hex(const char *hex, uint8_t *out)
{
	size_t n = strlen(hex) / 2;

	for (size_t i = 0; i < n; i++) {
		unsigned int byte;

		assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
		out[i] = (uint8_t)byte;
	}
	return n;
}

static void assert_same(const struct ez_node *a, const struct ez_node *b);

static void assert_same_text(struct ez_str a, struct ez_str b)
{
	assert_int_equal(a.len, b.len);
	assert_memory_equal(a.data, b.data, a.len);
}

static void assert_same_call(const struct ez_node *a, const struct ez_node *b)
{
	assert_int_equal(a->is_new, b->is_new);
	assert_int_equal(a->n_items == 0 || a->has_pairs, b->n_items == 0 || b->has_pairs);
	assert_same(a->callee, b->callee);
	assert_same(a->args, b->args);
	assert_int_equal(!a->state, !b->state);
	if (a->state)
		assert_same(a->state, b->state);
}

static void assert_same(const struct ez_node *a, const struct ez_node *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->is_frozen, b->is_frozen);
	assert_int_equal(a->n_items, b->n_items);
	for (size_t i = 0; i < a->n_items; i++)
		assert_same(a->items[i], b->items[i]);
	switch (a->kind) {
	case EZ_NODE_BOOL:
	case EZ_NODE_INT:
		assert_int_equal(a->integer, b->integer);
		break;
	case EZ_NODE_FLOAT:
		assert_memory_equal(&a->number, &b->number, sizeof(a->number));
		break;
	case EZ_NODE_GLOBAL:
		assert_same_text(a->name, b->name);
		assert_same_text(a->text, b->text);
		break;
	case EZ_NODE_STR:
	case EZ_NODE_BYTES:
	case EZ_NODE_BIGINT:
		assert_same_text(a->text, b->text);
		break;
	case EZ_NODE_CALL:
		assert_same_call(a, b);
		break;
	default:
		break;
	}
}

static int write_again(const char *hex, size_t max, struct ez_pickle_tree **ret_tree, uint8_t *data,
		       struct ez_buffer *out)
{
	size_t n = from_hex(hex, data);
	int err;

	assert_int_equal(ez_pickle_tree_parse(data, n, NODES_MAX, ret_tree), 0);
	ez_buffer_init(out, max);
	err = ez_pickle_put_node(out, ez_pickle_tree_root(*ret_tree));
	ez_put_u8(out, EZ_OP_STOP);
	return err;
}

static void test_values(void **state)
{
	static const char *const pickles[] = {
		/*
		 * [None, True, False, 0, -1, 70000,
		 * 1 << 40, -(1 << 80), 1.5, "x" * 20, b"ab", b"y" * 10]
		 */
		"8004955b000000000000005d94284e88894b004affffffff4a701101008a060000000000018a"
		"0b00000000000000000000ff473ff80000000000008c14787878787878787878787878787878"
		"7878787878944302616294430a7979797979797979797994652e",
		/* {"a": (), "b": (1, "a"), "c": {1}, "d": frozenset({2}), 3: [[]]} */
		"8004952e000000000000007d94288c016194298c0162944b01680186948c0163948f94284b01"
		"908c016494284b0291944b035d945d9461752e",
		/* OrderedDict(a=1, b=[2]): REDUCE and SETITEMS */
		"80049533000000000000008c0b636f6c6c656374696f6e73948c0b4f72646572656444696374"
		"949394295294288c0161944b018c0162945d944b0261752e",
		/* an instance: NEWOBJ and BUILD */
		"8004952c000000000000008c085f5f6d61696e5f5f948c01439493942981947d94288c017894"
		"4b018c0179944b018c017a94869475622e",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pickles) / sizeof(pickles[0]); i++) {
		struct ez_pickle_tree *tree, *again;
		struct ez_buffer out;
		uint8_t data[1024];

		assert_int_equal(write_again(pickles[i], 4096, &tree, data, &out), 0);
		assert_int_equal(ez_pickle_tree_parse(out.data, out.len, NODES_MAX, &again), 0);
		assert_same(ez_pickle_tree_root(tree), ez_pickle_tree_root(again));
		ez_pickle_tree_free(again);
		ez_pickle_tree_free(tree);
		ez_buffer_free(&out);
	}
}

/* A list in itself; one of 2^16 lists that share themselves; a buffer from elsewhere. */
static void test_refused(void **state)
{
	static const char *const pickles[] = {
		"80045d946800612e",
		"80045d945d286800680065945d286801680165945d286802680265945d286803680365945d28"
		"6804680465945d286805680565945d286806680665945d286807680765945d28680868086594"
		"5d286809680965945d28680a680a65945d28680b680b65945d28680c680c65945d28680d680d"
		"65945d28680e680e65945d28680f680f65945d286810681065942e",
		"8005972e",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pickles) / sizeof(pickles[0]); i++) {
		struct ez_pickle_tree *tree;
		struct ez_buffer out;
		uint8_t data[256];

		assert_int_equal(write_again(pickles[i], 1 << 16, &tree, data, &out),
				 i == 1 ? -EMSGSIZE : -ENOTSUP);
		ez_pickle_tree_free(tree);
		ez_buffer_free(&out);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
