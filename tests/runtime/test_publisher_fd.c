/* SPDX-License-Identifier: MIT */
/* The descriptor that is readable exactly while a publish wouldn't wait: buffers, pauses, ends. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "ready_fixture.h"

static void run_level(void **state, enum ez_via via)
{
	struct fixture f;

	open_all(&f, state, via, 2);
	assert_int_equal(ez_publisher_fd(f.publisher), f.fd);
	send_one(&f);
	send_one(&f);
	expect_shut(&f);
	take(&f);
	expect_shut(&f);
	release(&f);
	send_one(&f);
	expect_shut(&f);
	for (int i = 0; i < 100; i++) {
		take(&f);
		release(&f);
		send_one(&f);
		assert_false(readable(f.fd, 0));
	}
	close_all(&f);
}

static void test_level_local(void **state)
{
	run_level(state, EZ_VIA_LOCAL);
}

static void test_level_shm(void **state)
{
	run_level(state, EZ_VIA_SHM);
}

static void test_level_tcp(void **state)
{
	run_level(state, EZ_VIA_TCP);
}

/* ---- several who read ---- */

static void run_slower(void **state, enum ez_via via)
{
	struct ez_subscriber *slower;
	struct ez_message message;
	struct fixture f;

	open_all(&f, state, via, 1);
	assert_int_equal(ez_subscriber_create(f.context, "T", NULL, &slower), 0);
	send_one(&f);
	take(&f);
	release(&f);
	expect_shut(&f);
	assert_int_equal(ez_receive(slower, PATIENCE_NS, &message), 0);
	expect_shut(&f);
	ez_message_release(&message);
	send_one(&f);
	/* The other way round, and this one leaves without having read. */
	assert_int_equal(ez_receive(slower, PATIENCE_NS, &message), 0);
	ez_message_release(&message);
	expect_shut(&f);
	take(&f);
	release(&f);
	send_one(&f);
	take(&f);
	release(&f);
	expect_shut(&f);
	ez_subscriber_destroy(slower);
	send_one(&f);
	close_all(&f);
}

/* Two of one process; of two processes by shm, and by tcp. */
static void test_slower(void **state)
{
	run_slower(state, EZ_VIA_LOCAL);
	run_slower(state, EZ_VIA_SHM);
	run_slower(state, EZ_VIA_TCP);
}

static void run_killed(void **state, enum ez_via via)
{
	struct fixture f;

	open_all(&f, state, via, 2);
	send_one(&f);
	take(&f);
	send_one(&f);
	expect_shut(&f);
	peer_kill(&f.peer);
	for (int i = 0; i < 5; i++)
		send_one(&f);
	assert_true(readable(f.fd, 0));
	ez_context_destroy(f.context);
}

static void test_killed(void **state)
{
	run_killed(state, EZ_VIA_SHM);
	run_killed(state, EZ_VIA_TCP);
}

/* ---- pauses and ends ---- */

static void test_pause(void **state)
{
	struct fixture f;

	open_all(&f, state, EZ_VIA_SHM, 2);
	assert_int_equal(ez_publisher_pause(f.publisher), 0);
	assert_false(readable(f.fd, 0));
	expect_shut(&f);
	assert_int_equal(ez_publisher_resume(f.publisher), 0);
	assert_true(readable(f.fd, 0));
	send_one(&f);
	send_one(&f);
	/* Free, but paused: both are needed. */
	assert_int_equal(ez_publisher_pause(f.publisher), 0);
	peer_tell(&f.peer, "got 2", "recv 2");
	expect_shut(&f);
	assert_int_equal(ez_publisher_resume(f.publisher), 0);
	send_one(&f);
	send_one(&f);
	assert_int_equal(ez_publisher_pause(f.publisher), 0);
	assert_int_equal(ez_publisher_resume(f.publisher), 0);
	expect_shut(&f);
	close_all(&f);
}

static void test_graph_pause(void **state)
{
	struct fixture f;

	open_all(&f, state, EZ_VIA_LOCAL, 2);
	assert_int_equal(ez_pause(f.context), 0);
	expect_shut(&f);
	assert_int_equal(ez_resume(f.context), 0);
	send_one(&f);
	/* SYNC pauses at once, also while it isn't answered. */
	assert_int_equal(ez_sync(f.context, SECOND_NS / 20), -ETIMEDOUT);
	expect_shut(&f);
	take(&f);
	release(&f);
	expect_shut(&f);
	assert_int_equal(ez_sync(f.context, PATIENCE_NS), 0);
	expect_shut(&f);
	assert_int_equal(ez_resume(f.context), 0);
	send_one(&f);
	close_all(&f);
}

static void test_start_paused(void **state)
{
	const struct ez_publisher_options options = {.num_buffers = 1, .start_paused = true};
	struct fixture f;

	open_publisher(&f, state, EZ_VIA_LOCAL, &options);
	f.fd = ez_publisher_fd(f.publisher);
	expect_shut(&f);
	assert_int_equal(ez_publisher_resume(f.publisher), 0);
	send_one(&f);
	expect_shut(&f);
	close_all(&f);
}

/* Something to tell, whatever held it up. */
static void run_server_lost(void **state, bool paused)
{
	struct fixture f;

	open_all(&f, state, EZ_VIA_LOCAL, 1);
	if (paused)
		assert_int_equal(ez_publisher_pause(f.publisher), 0);
	else
		send_one(&f);
	expect_shut(&f);
	graph_end_server(f.graph);
	assert_true(readable(f.fd, PATIENCE_MS));
	assert_int_equal(publish_now(&f), -ECONNRESET);
	assert_true(readable(f.fd, 0));
	close_all(&f);
}

static void test_server_lost_full(void **state)
{
	run_server_lost(state, false);
}

static void test_server_lost_paused(void **state)
{
	run_server_lost(state, true);
}

/* It ends with the publisher, also where a message keeps that one's memory. */
static void test_destroy(void **state)
{
	struct fixture f;

	open_all(&f, state, EZ_VIA_LOCAL, 2);
	send_one(&f);
	take(&f);
	ez_publisher_destroy(f.publisher);
	assert_int_equal(fcntl(f.fd, F_GETFD), -1);
	assert_int_equal(errno, EBADF);
	assert_memory_equal(f.message.data, "x", 1);
	release(&f);
	close_all(&f);
}

/* Without descriptors there is none; later there is. */
static void test_no_descriptor(void **state)
{
	struct rlimit limit, none;
	struct fixture f;
	int highest;

	open_publisher(&f, state, EZ_VIA_LOCAL, &(struct ez_publisher_options){.num_buffers = 1});
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	highest = dup(STDIN_FILENO);
	assert_true(highest >= 0);
	none = (struct rlimit){(rlim_t)highest, limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	close(highest);
	assert_int_equal(ez_publisher_fd(f.publisher), -EMFILE);
	assert_int_equal(publish_now(&f), 0);
	assert_int_equal(publish_now(&f), -ETIMEDOUT);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	f.fd = ez_publisher_fd(f.publisher);
	assert_true(f.fd >= 0);
	expect_shut(&f);
	take(&f);
	release(&f);
	send_one(&f);
	close_all(&f);
}

int main(void)
{
#define GRAPH_TEST(name) cmocka_unit_test_setup_teardown(name, graph_setup, graph_teardown)
	const struct CMUnitTest tests[] = {
		GRAPH_TEST(test_level_local),	   GRAPH_TEST(test_level_shm),
		GRAPH_TEST(test_level_tcp),	   GRAPH_TEST(test_slower),
		GRAPH_TEST(test_killed),	   GRAPH_TEST(test_pause),
		GRAPH_TEST(test_graph_pause),	   GRAPH_TEST(test_start_paused),
		GRAPH_TEST(test_server_lost_full), GRAPH_TEST(test_server_lost_paused),
		GRAPH_TEST(test_destroy),	   GRAPH_TEST(test_no_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
