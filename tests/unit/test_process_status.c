/* SPDX-License-Identifier: MIT */
/* Texts of /proc, and the process that a thread belongs to. */
#include "process_status.h"
#include "graph_address.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
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
	pid_t pid = 0;
	int64_t offset_ns = -1;

	(void)state;
	assert_int_equal(ezprof_process_namespaces(getpid(), &pid, &offset_ns), 0);
	assert_true(pid > 0);
	assert_int_equal(ezprof_process_of_thread(gettid(), &pid), 0);
	assert_int_equal(pid, getpid());
	assert_int_equal(ezprof_process_of_thread(0x7ffffff0, &pid), -ESRCH);
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
		cmocka_unit_test(test_ns_pid),
		cmocka_unit_test(test_time_offsets),
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_same_graph),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
