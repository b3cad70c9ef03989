/* SPDX-License-Identifier: MIT */
/* The graph as a pickle: what real servers sent is read, what we write is read back. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pickle_dag.h"
#include "pickle_tree.h"

/* ezmsg 3.9.0, three edges; 3.7.3, none */
static const char three_edges[] =
	"800495f8000000000000008c0e657a6d73672e636f72652e646167948c034441479493942981947d9428"
	"8c056772617068948c0b636f6c6c656374696f6e73948c0b64656661756c74646963749493948c086275"
	"696c74696e73948c0373657494939485945294288c0b5359532f5352432f4f5554948f94288c0b535953"
	"2f53494e4b2f494e948c0a5359532f5441502f494e949068108f9468118f948c0b5359532f5441502f4f"
	"5554948f94288c0a5359532f4c4f472f494e949068168f94758c0b656467655f6f776e657273947d9428"
	"680e681086948f94284e908c0b5359532f5352432f4f555494681186948f94284e906814681686948f94"
	"284e907575622e";
static const char no_edges[] =
	"8004955e000000000000008c0e657a6d73672e636f72652e646167948c034441479493942981947d948c"
	"056772617068948c0b636f6c6c656374696f6e73948c0b64656661756c74646963749493948c08627569"
	"6c74696e73948c037365749493948594529473622e";

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

static bool has_edge(const struct ez_dag *dag, const char *from, const char *to)
{
	for (size_t i = 0; i < dag->n_topics; i++)
		for (size_t k = 0; k < dag->topics[i].n_successors; k++)
			if (strcmp(dag->topics[i].name, from) == 0 &&
			    strcmp(dag->topics[dag->topics[i].successors[k]].name, to) == 0)
				return true;
	return false;
}

static void test_recorded(void **state)
{
	uint8_t data[512];
	struct ez_dag *dag;
	size_t n;

	(void)state;
	n = from_hex(three_edges, data);
	assert_int_equal(ez_pickle_read_dag(data, n, &dag), 0);
	assert_int_equal(dag->n_topics, 5);
	assert_true(has_edge(dag, "SYS/SRC/OUT", "SYS/SINK/IN"));
	assert_true(has_edge(dag, "SYS/SRC/OUT", "SYS/TAP/IN"));
	assert_true(has_edge(dag, "SYS/TAP/OUT", "SYS/LOG/IN"));
	assert_false(has_edge(dag, "SYS/TAP/IN", "SYS/LOG/IN"));
	ez_dag_free(dag);
	for (size_t cut = 0; cut < n; cut++)
		assert_int_equal(ez_pickle_read_dag(data, cut, &dag), -EBADMSG);
	n = from_hex(no_edges, data);
	assert_int_equal(ez_pickle_read_dag(data, n, &dag), 0);
	assert_int_equal(dag->n_topics, 0);
	ez_dag_free(dag);
}

static void test_every_byte_changed(void **state)
{
	uint8_t data[512];
	size_t n = from_hex(three_edges, data);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		for (int value = 0; value < 256; value++) {
			uint8_t saved = data[i];
			struct ez_dag *dag;

			data[i] = (uint8_t)value;
			if (ez_pickle_read_dag(data, n, &dag) == 0)
				ez_dag_free(dag);
			data[i] = saved;
		}
	}
}

static void test_round_trip(void **state)
{
	char long_name[400];
	struct ez_dag *dag = ez_dag_new(3), *back;
	struct ez_buffer buffer;

	(void)state;
	memset(long_name, 'L', sizeof(long_name));
	assert_int_equal(ez_dag_set_name(dag, 0, "A", 1), 0);
	assert_int_equal(ez_dag_set_name(dag, 1, long_name, 399), 0);
	assert_int_equal(ez_dag_set_name(dag, 2, "B", 1), 0);
	long_name[399] = '\0';
	assert_int_equal(ez_dag_add_successor(dag, 0, 1), 0);
	assert_int_equal(ez_dag_add_successor(dag, 0, 2), 0);
	assert_int_equal(ez_dag_add_successor(dag, 2, 1), 0);
	ez_buffer_init(&buffer, 1 << 20);
	ez_pickle_dag(&buffer, dag);
	assert_int_equal(buffer.err, 0);
	assert_int_equal(ez_pickle_read_dag(buffer.data, buffer.len, &back), 0);
	assert_int_equal(back->n_topics, 3);
	assert_true(has_edge(back, "A", long_name));
	assert_true(has_edge(back, "A", "B"));
	assert_true(has_edge(back, "B", long_name));
	assert_false(has_edge(back, "B", "A"));
	ez_dag_free(back);
	ez_dag_free(dag);
	ez_buffer_free(&buffer);
}

/* A set that is shared by many keys unfolds to more names than the pickle has bytes. */
static void test_bomb(void **state)
{
	struct ez_buffer b;
	struct ez_dag *dag;
	static const char head[] = "\x80\x04\x8c\x0e"
				   "ezmsg.core.dag\x8c\x03"
				   "DAG\x93)\x81}\x8c\x05graph}";

	(void)state;
	ez_buffer_init(&b, 1 << 20);
	ez_buffer_append(&b, head, sizeof(head) - 1);
	ez_buffer_append_text(&b, "(\x8c\x01k\x8f(");
	for (int i = 0; i < 5000; i++)
		ez_buffer_append(&b, "\x8c\x01n", 3);
	ez_buffer_append(&b, "\x90\x94", 2);
	for (int i = 0; i < 5000; i++)
		ez_buffer_append(&b, "\x8c\x01mh\x00", 5);
	ez_buffer_append_text(&b, "usb.");
	assert_int_equal(b.err, 0);
	assert_int_equal(ez_pickle_read_dag(b.data, b.len, &dag), -EMSGSIZE);
	ez_buffer_free(&b);
}

static void test_contains_itself(void **state)
{
	/* d = {}; d["graph"] = d */
	static const char pickle[] = "\x80\x04}\x94\x8c\x05graphh\x00s.";
	struct ez_pickle_tree *tree;
	struct ez_dag *dag;

	(void)state;
	assert_int_equal(ez_pickle_read_dag(pickle, sizeof(pickle) - 1, &dag), -EBADMSG);
	assert_int_equal(ez_pickle_tree_parse(pickle, sizeof(pickle) - 1, 100, &tree), 0);
	assert_ptr_equal(ez_node_lookup(ez_pickle_tree_root(tree), "graph"),
			 ez_pickle_tree_root(tree));
	ez_pickle_tree_free(tree);
	assert_int_equal(ez_pickle_tree_parse(pickle, sizeof(pickle) - 1, 1, &tree), -EMSGSIZE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recorded),	cmocka_unit_test(test_every_byte_changed),
		cmocka_unit_test(test_round_trip),	cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_contains_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
