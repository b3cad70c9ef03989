/* SPDX-License-Identifier: MIT */
/* A publisher's descriptor while others publish, with large messages, and with leases that end. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "ready_fixture.h"

#define LEASE_TIMEOUT_MS 100

static void run_slot(void **state, enum ez_via via)
{
	struct ez_slot slot;
	struct fixture f;

	open_all(&f, state, via, 2);
	assert_true(readable(f.fd, 0));
	assert_int_equal(ez_publish_begin(f.publisher, 1, 0, &slot), 0);
	assert_false(readable(f.fd, 0));
	expect_shut(&f);
	ez_publish_abort(&slot);
	assert_true(readable(f.fd, 0));
	assert_int_equal(ez_publish_begin(f.publisher, 1, 0, &slot), 0);
	*(char *)slot.data = 'x';
	assert_int_equal(ez_publish_commit(&slot, 1), 0);
	assert_true(readable(f.fd, 0));
	/* What is released meanwhile doesn't show while it has the turn. */
	assert_int_equal(ez_publish_begin(f.publisher, 1, 0, &slot), 0);
	take(&f);
	release(&f);
	expect_shut(&f);
	/* It is sent also when paused meanwhile. */
	assert_int_equal(ez_publisher_pause(f.publisher), 0);
	assert_int_equal(ez_publish_commit(&slot, 1), 0);
	expect_shut(&f);
	assert_int_equal(ez_publisher_resume(f.publisher), 0);
	send_one(&f);
	expect_shut(&f);
	close_all(&f);
}

static void test_slot(void **state)
{
	run_slot(state, EZ_VIA_LOCAL);
	run_slot(state, EZ_VIA_SHM);
}

/* A publish that fails gives its turn back. */
static void test_failing(void **state)
{
	const struct iovec piece = {(void *)(uintptr_t) "x", SIZE_MAX / 8};
	struct ez_slot slot;
	struct fixture f;

	open_all(&f, state, EZ_VIA_LOCAL, 2);
	assert_int_equal(ez_publish_buffers(f.publisher, &piece, 1, 0), -EMSGSIZE);
	assert_true(readable(f.fd, 0));
	assert_int_equal(ez_publish_begin(f.publisher, SIZE_MAX / 8, 0, &slot), -EMSGSIZE);
	assert_true(readable(f.fd, 0));
	send_one(&f);
	close_all(&f);
}

static void *publish_waiting(void *publisher)
{
	return ez_publish_bytes(publisher, "w", 1, PATIENCE_NS) ? publisher : NULL;
}

/* A thread waits, on its sockets where there are such, when the descriptor is asked for. */
static void run_waiter(void **state, enum ez_via via)
{
	struct fixture f;
	pthread_t thread;
	void *failed;

	open_publisher(&f, state, via, &(struct ez_publisher_options){.num_buffers = 1});
	assert_int_equal(publish_now(&f), 0);
	assert_int_equal(pthread_create(&thread, NULL, publish_waiting, f.publisher), 0);
	nap_ms(50);
	f.fd = ez_publisher_fd(f.publisher);
	for (int i = 0; i < 3; i++) {
		expect_shut(&f);
		take(&f);
		release(&f);
		assert_int_equal(pthread_join(thread, &failed), 0);
		assert_null(failed);
		/* Its own message is there now. */
		expect_shut(&f);
		assert_int_equal(pthread_create(&thread, NULL, publish_waiting, f.publisher), 0);
	}
	take(&f);
	release(&f);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	take(&f);
	release(&f);
	send_one(&f);
	close_all(&f);
}

static void test_waiter(void **state)
{
	run_waiter(state, EZ_VIA_LOCAL);
	run_waiter(state, EZ_VIA_SHM);
	run_waiter(state, EZ_VIA_TCP);
}

/* ---- large messages ---- */

static void run_resize(void **state, enum ez_via via)
{
	static const char content[1 << 20];
	const struct ez_publisher_options options = {.num_buffers = 3, .buffer_bytes = 1024};
	struct fixture f;

	open_publisher(&f, state, via, &options);
	f.fd = ez_publisher_fd(f.publisher);
	send_one(&f);
	take(&f);
	assert_true(readable(f.fd, 0));
	assert_int_equal(ez_publish_bytes(f.publisher, content, 100000, 0), 0);
	assert_true(readable(f.fd, PATIENCE_MS));
	assert_int_equal(ez_publish_bytes(f.publisher, content, sizeof(content), 0), 0);
	expect_shut(&f);
	release(&f);
	send_one(&f);
	expect_shut(&f);
	for (int i = 0; i < 3; i++) {
		take(&f);
		release(&f);
	}
	send_one(&f);
	close_all(&f);
}

static void test_resize(void **state)
{
	run_resize(state, EZ_VIA_LOCAL);
	run_resize(state, EZ_VIA_SHM);
	run_resize(state, EZ_VIA_TCP);
}

struct large {
	struct fixture f;
	int err;
	bool done; /* atomic */
};

static void *publish_large(void *argument)
{
	static const char content[16 << 20];
	struct large *large = argument;

	large->err = ez_publish_bytes(large->f.publisher, content, sizeof(content), PATIENCE_NS);
	__atomic_store_n(&large->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void begin_large(struct large *large, pthread_t *thread)
{
	__atomic_store_n(&large->done, false, __ATOMIC_RELAXED);
	assert_int_equal(pthread_create(thread, NULL, publish_large, large), 0);
}

/* Others may look while a large message is copied: a publish of theirs would have to wait. */
static void test_large_copy(void **state)
{
	const struct ez_publisher_options options = {.num_buffers = 4, .buffer_bytes = 17 << 20};
	bool seen = false;
	struct large large;
	pthread_t thread;

	open_publisher(&large.f, state, EZ_VIA_LOCAL, &options);
	large.f.fd = ez_publisher_fd(large.f.publisher);
	for (int tries = 0; tries < 100 && !seen; tries++) {
		begin_large(&large, &thread);
		while (!seen && !__atomic_load_n(&large.done, __ATOMIC_ACQUIRE))
			seen = !readable(large.f.fd, 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(large.err, 0);
		assert_true(readable(large.f.fd, 0));
		take(&large.f);
		release(&large.f);
	}
	assert_true(seen);
	close_all(&large.f);
}

/* And while the graph server is asked for a larger segment, which may take long. */
static void test_slow_server(void **state)
{
	struct large large;
	pthread_t thread;

	open_all(&large.f, state, EZ_VIA_LOCAL, 4);
	assert_int_equal(kill(large.f.graph->server, SIGSTOP), 0);
	begin_large(&large, &thread);
	expect_shut(&large.f);
	assert_false(__atomic_load_n(&large.done, __ATOMIC_ACQUIRE));
	assert_int_equal(kill(large.f.graph->server, SIGCONT), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(large.err, 0);
	send_one(&large.f);
	close_all(&large.f);
}

/* Buffers are free but a socket is full: the rest of the message leaves with nobody's help. */
static void test_full_socket(void **state)
{
	static const char content[(1 << 20) - 4096];
	const struct ez_publisher_options options = {.num_buffers = 32, .buffer_bytes = 1 << 20};
	struct fixture f;
	unsigned int sent = 0;

	open_publisher(&f, state, EZ_VIA_TCP, &options);
	f.fd = ez_publisher_fd(f.publisher);
	assert_int_equal(kill(f.peer.pid, SIGSTOP), 0);
	for (; readable(f.fd, 50); sent++)
		assert_int_equal(ez_publish_bytes(f.publisher, content, sizeof(content), 0), 0);
	assert_in_range(sent, 1, 31);
	expect_shut(&f);
	assert_int_equal(kill(f.peer.pid, SIGCONT), 0);
	send_one(&f);
	peer_tell(&f.peer, "got", "recv %u", sent + 1);
	close_all(&f);
}

/* ---- EZ_LEASE_TIMEOUT_MS ---- */

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Nobody waits in the library, and the buffer comes back all the same, not before its time. */
static void test_lease_timeout(void **state)
{
	struct fixture f;
	uint64_t since_ms;

	assert_int_equal(setenv("EZ_LEASE_TIMEOUT_MS", "100", 1), 0);
	open_all(&f, state, EZ_VIA_SHM, 2);
	send_one(&f);
	take(&f);
	for (int i = 0; i < 3; i++) {
		since_ms = now_ms();
		send_one(&f);
		assert_true(readable(f.fd, PATIENCE_MS));
		assert_true(now_ms() - since_ms >= LEASE_TIMEOUT_MS - 1);
	}
	/* Being paused is not being held up. */
	send_one(&f);
	assert_int_equal(ez_publisher_pause(f.publisher), 0);
	nap_ms(2 * LEASE_TIMEOUT_MS);
	since_ms = now_ms();
	assert_int_equal(ez_publisher_resume(f.publisher), 0);
	assert_true(readable(f.fd, PATIENCE_MS));
	assert_true(now_ms() - since_ms >= LEASE_TIMEOUT_MS - 1);
	/* And nobody is robbed of a buffer while that isn't needed. */
	release(&f);
	peer_tell(&f.peer, "got 4", "recv 4");
	send_one(&f);
	take(&f);
	nap_ms(3 * LEASE_TIMEOUT_MS);
	since_ms = now_ms();
	send_one(&f);
	assert_true(readable(f.fd, PATIENCE_MS));
	assert_true(now_ms() - since_ms >= LEASE_TIMEOUT_MS - 1);
	release(&f);
	unsetenv("EZ_LEASE_TIMEOUT_MS");
	close_all(&f);
}

int main(void)
{
#define GRAPH_TEST(name) cmocka_unit_test_setup_teardown(name, graph_setup, graph_teardown)
	const struct CMUnitTest tests[] = {
		GRAPH_TEST(test_slot),	      GRAPH_TEST(test_failing),
		GRAPH_TEST(test_waiter),      GRAPH_TEST(test_resize),
		GRAPH_TEST(test_large_copy),  GRAPH_TEST(test_slow_server),
		GRAPH_TEST(test_full_socket), GRAPH_TEST(test_lease_timeout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
