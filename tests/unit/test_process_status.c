/* SPDX-License-Identifier: MIT */
/* Texts of /proc, and the process that a thread belongs to. */
#include "process_status.h"
#include "process_table.h"
#include "graph_address.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void test_ns_pid(void **state)
{
	pid_t pid = 0;

	(void)state;
	assert_int_equal(ezprof_status_ns_pid("Name:\tx\nNSpid:\t4242\n", &pid), 0);
	assert_int_equal(pid, 4242);
	assert_int_equal(ezprof_status_ns_pid("NSpid:\t4242\t17\t3\nNStgid:\t9\n", &pid), 0);
	assert_int_equal(pid, 3);
	assert_int_equal(ezprof_status_ns_pid("NSpid:\n", &pid), -EPROTO);
	assert_int_equal(ezprof_status_ns_pid("NSpid:\t-4\n", &pid), -EPROTO);
	assert_int_equal(ezprof_status_ns_pid("NSpid:\t99999999999\n", &pid), -EPROTO);
	assert_int_equal(ezprof_status_ns_pid("NSpid:\tx\n", &pid), -EPROTO);
	assert_int_equal(ezprof_status_ns_pid("", &pid), -EPROTO);
}

static void test_time_offsets(void **state)
{
	(void)state;
	assert_int_equal(ezprof_timens_monotonic_ns("monotonic           0         0\n"), 0);
	assert_true(ezprof_timens_monotonic_ns("monotonic  100  5\nboottime 1 1\n") ==
		    100000000005ll);
	assert_true(ezprof_timens_monotonic_ns("boottime 1 1\nmonotonic -2 0\n") == -2000000000ll);
	assert_int_equal(ezprof_timens_monotonic_ns("monotonic 99999999999999 0\n"), 0);
	assert_int_equal(ezprof_timens_monotonic_ns("monotonic x\n"), 0);
	assert_int_equal(ezprof_timens_monotonic_ns(""), 0);
}

static void test_self(void **state)
{
	struct ezprof_namespaces namespaces = {0};
	pid_t pid = 0;

	(void)state;
	assert_int_equal(ezprof_process_namespaces(getpid(), &namespaces), 0);
	assert_true(namespaces.ns_pid > 0);
	assert_int_equal(ezprof_process_of_thread(gettid(), &pid), 0);
	assert_int_equal(pid, getpid());
	assert_int_equal(ezprof_process_of_thread(0x7ffffff0, &pid), -ESRCH);
}

static void test_stat(void **state)
{
	struct ezprof_candidate c;

	(void)state;
	assert_true(ezprof_stat_parse("42 (a) b) S 7 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 "
				      "12345 67890 99\n",
				      &c));
	assert_int_equal(c.pid, 42);
	assert_int_equal(c.parent, 7);
	assert_int_equal(c.start_time, 12345);
	assert_int_equal(c.size_bytes, 67890);
	assert_false(ezprof_stat_parse("", &c));
	assert_false(ezprof_stat_parse("42 (x", &c));
	assert_false(ezprof_stat_parse("42 (x) S 7", &c));
}

/* A child is a descendant of who is named, a stranger isn't; who has gone is dropped. */
static void test_table(void **state)
{
	struct ezprof_process_table table = {0};
	pid_t child = fork();
	size_t i, seen = 0;

	(void)state;
	if (child == 0) {
		pause();
		_exit(0);
	}
	assert_int_equal(ezprof_process_table_name(&table, 0x7ffffff0), -ESRCH);
	assert_int_equal(ezprof_process_table_name(&table, getpid()), 0);
	assert_int_equal(ezprof_process_table_look(&table, false), 0);
	assert_int_equal(table.count, 1);
	assert_int_equal(ezprof_process_table_look(&table, true), 0);
	for (i = 0; i < table.count; i++) {
		assert_int_equal(table.list[i].named, table.list[i].pid == getpid());
		if (table.list[i].pid == child)
			assert_true(table.list[i].descendant);
		if (table.list[i].pid == getppid())
			assert_false(table.list[i].descendant);
		assert_true(!i || table.list[i - 1].pid < table.list[i].pid);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(ezprof_process_table_look(&table, true), 0);
	for (i = 0; i < table.count; i++)
		seen += table.list[i].pid == child;
	assert_int_equal(seen, 0);
	ezprof_process_table_free(&table);
}

static void test_same_graph(void **state)
{
	(void)state;
	assert_true(ezprof_same_graph("127.0.0.1:1", "localhost:1"));
	assert_true(ezprof_same_graph("Host:1", "host:1"));
	assert_false(ezprof_same_graph("127.0.0.1:1", "127.0.0.1:2"));
	assert_false(ezprof_same_graph("127.0.0.1:1", "127.0.0.2:1"));
	assert_true(ezprof_same_graph("rubbish", "rubbish"));
	assert_false(ezprof_same_graph("rubbish", "127.0.0.1:1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ns_pid), cmocka_unit_test(test_time_offsets),
		cmocka_unit_test(test_self),   cmocka_unit_test(test_stat),
		cmocka_unit_test(test_table),  cmocka_unit_test(test_same_graph),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
