/* SPDX-License-Identifier: MIT */
/* Topics and edges: reachability, cycles, owners, and that nothing is left over. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "graph.h"

#define SESSION 7

static int change(struct ezprof_graph *graph, bool connect, const char *from, const char *to,
		  uint64_t owner)
{
	struct ezprof_topic *f = ezprof_graph_hold(graph, from, strlen(from));
	struct ezprof_topic *t = ezprof_graph_hold(graph, to, strlen(to));
	int result;

	assert_non_null(f);
	assert_non_null(t);
	result = connect ? ezprof_graph_connect(graph, f, t, owner)
			 : ezprof_graph_disconnect(graph, f, t, owner);
	ezprof_graph_release(graph, f);
	ezprof_graph_release(graph, t);
	return result;
}

static int add(struct ezprof_graph *graph, const char *from, const char *to)
{
	return change(graph, true, from, to, EZPROF_OWNER_NOBODY);
}

static int cut(struct ezprof_graph *graph, const char *from, const char *to)
{
	return change(graph, false, from, to, EZPROF_OWNER_NOBODY);
}

static void list(struct ezprof_topic *topic, void *arg)
{
	strcat(arg, topic->name);
}

static void check_reach(struct ezprof_graph *graph, const char *name, const char *down,
			const char *up)
{
	struct ezprof_topic *topic = ezprof_graph_hold(graph, name, strlen(name));
	char seen[100] = "";

	ezprof_graph_downstream(graph, topic, list, seen);
	assert_string_equal(seen, down);
	*seen = '\0';
	ezprof_graph_upstream(graph, topic, list, seen);
	assert_string_equal(seen, up);
	ezprof_graph_release(graph, topic);
}

static void test_reach(void **state)
{
	struct ezprof_graph graph = {0};

	(void)state;
	assert_int_equal(add(&graph, "A", "B"), 1);
	assert_int_equal(add(&graph, "A", "C"), 1);
	assert_int_equal(add(&graph, "B", "D"), 1);
	assert_int_equal(add(&graph, "C", "D"), 1);
	assert_int_equal(add(&graph, "D", "E"), 1);
	check_reach(&graph, "A", "ABCDE", "A");
	check_reach(&graph, "E", "E", "EDBCA");
	check_reach(&graph, "C", "CDE", "CA");
	check_reach(&graph, "Z", "Z", "Z");
	assert_int_equal(HASH_COUNT(graph.topics), 5);
	ezprof_graph_clear(&graph);
	assert_null(graph.topics);
}

static void test_cycles(void **state)
{
	struct ezprof_graph graph = {0};

	(void)state;
	assert_int_equal(add(&graph, "A", "A"), -ELOOP);
	assert_null(graph.topics);
	assert_int_equal(add(&graph, "A", "B"), 1);
	assert_int_equal(add(&graph, "B", "A"), -ELOOP);
	assert_int_equal(add(&graph, "B", "C"), 1);
	assert_int_equal(add(&graph, "C", "A"), -ELOOP);
	assert_int_equal(add(&graph, "A", "C"), 1);
	assert_int_equal(graph.n_edges, 3);
	assert_int_equal(cut(&graph, "B", "C"), 1);
	assert_int_equal(cut(&graph, "A", "C"), 1);
	assert_int_equal(add(&graph, "C", "A"), 1);
	ezprof_graph_clear(&graph);
}

static void test_repeated_and_missing(void **state)
{
	struct ezprof_graph graph = {0};

	(void)state;
	assert_int_equal(add(&graph, "A", "B"), 1);
	assert_int_equal(add(&graph, "A", "B"), 0);
	assert_int_equal(cut(&graph, "A", "B"), 1);
	assert_int_equal(cut(&graph, "A", "B"), 0);
	assert_int_equal(cut(&graph, "X", "Y"), 0);
	assert_null(graph.topics);
}

static void test_owners(void **state)
{
	struct ezprof_graph graph = {0};

	(void)state;
	assert_int_equal(change(&graph, true, "A", "B", SESSION), 1);
	assert_int_equal(cut(&graph, "A", "B"), 0);
	assert_int_equal(add(&graph, "A", "B"), 0);
	assert_int_equal(change(&graph, false, "A", "B", SESSION), 0);
	assert_int_equal(graph.n_edges, 1);
	assert_int_equal(cut(&graph, "A", "B"), 1);
	assert_null(graph.topics);
}

static void test_session_ends(void **state)
{
	struct ezprof_graph graph = {0};
	char gone[100] = "";

	(void)state;
	assert_int_equal(change(&graph, true, "A", "B", SESSION), 1);
	assert_int_equal(change(&graph, true, "B", "C", SESSION), 1);
	assert_int_equal(change(&graph, true, "C", "D", SESSION), 1);
	assert_int_equal(add(&graph, "B", "C"), 0);
	assert_int_equal(add(&graph, "Q", "A"), 1);
	ezprof_graph_drop_owner(&graph, SESSION, list, gone);
	assert_int_equal(strlen(gone), 2);
	assert_non_null(strchr(gone, 'B'));
	assert_non_null(strchr(gone, 'D'));
	assert_int_equal(graph.n_edges, 2);
	assert_null(ezprof_graph_find(&graph, "D", 1));
	ezprof_graph_drop_owner(&graph, SESSION, list, gone);
	assert_int_equal(strlen(gone), 2);
	ezprof_graph_clear(&graph);
}

static void test_dag(void **state)
{
	struct ezprof_graph graph = {0};
	struct ezprof_topic *held = ezprof_graph_hold(&graph, "HELD", 4);
	struct ez_dag *dag;

	(void)state;
	assert_int_equal(add(&graph, "A", "B"), 1);
	dag = ezprof_graph_dag(&graph);
	/* A topic that only somebody publishes on is no part of it. */
	assert_int_equal(dag->n_topics, 2);
	assert_string_equal(dag->topics[0].name, "A");
	assert_int_equal(dag->topics[0].n_successors, 1);
	assert_int_equal(dag->topics[0].successors[0], 1);
	assert_int_equal(dag->topics[1].n_successors, 0);
	ez_dag_free(dag);
	ezprof_graph_release(&graph, held);
	ezprof_graph_clear(&graph);
}

static void count(struct ezprof_topic *topic, void *arg)
{
	(void)topic;
	++*(size_t *)arg;
}

/* Layers of diamonds: exponentially many paths, each topic seen once. */
static void test_many_paths(void **state)
{
	struct ezprof_graph graph = {0};
	size_t seen = 0;
	char from[16], to[16];

	(void)state;
	for (int layer = 0; layer < 50; layer++)
		for (int i = 0; i < 10; i++)
			for (int k = 0; k < 10; k++) {
				snprintf(from, sizeof(from), "%d/%d", layer, i);
				snprintf(to, sizeof(to), "%d/%d", layer + 1, k);
				assert_int_equal(add(&graph, from, to), 1);
			}
	ezprof_graph_downstream(&graph, ezprof_graph_find(&graph, "0/0", 3), count, &seen);
	assert_int_equal(seen, 1 + 50 * 10);
	assert_int_equal(add(&graph, "50/9", "0/0"), -ELOOP);
	ezprof_graph_clear(&graph);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reach),
		cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_repeated_and_missing),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_session_ends),
		cmocka_unit_test(test_dag),
		cmocka_unit_test(test_many_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
