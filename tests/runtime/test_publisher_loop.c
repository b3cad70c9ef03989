/* SPDX-License-Identifier: MIT */
/* Event loops that publish with a time-out of 0 only, whenever the descriptor says so. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "graph_fixture.h"

#define PATIENCE_MS 20000
#define MESSAGES UINT64_C(100000)
#define BUFFERS 8

static void watch(int epoll_fd, int fd, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.fd = fd};

	assert_int_equal(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event), 0);
}

/* Which one is readable. */
static int wait_any(int epoll_fd)
{
	struct epoll_event event;

	assert_int_equal(epoll_wait(epoll_fd, &event, 1, PATIENCE_MS), 1);
	return event.data.fd;
}

/* A subscriber of the same context: it counts, and rests now and then. */
struct counter {
	uint64_t expected;
	uint64_t rest_after; /* 0: never */
};

static void count(const struct ez_message *message, void *user)
{
	struct counter *counter = user;
	uint64_t n;

	assert_int_equal(message->bytes, sizeof(n));
	memcpy(&n, message->data, sizeof(n));
	assert_int_equal(n, counter->expected);
	counter->expected++;
	if (counter->rest_after && n % counter->rest_after == 0)
		nap_ms(1);
}

static void subscribe(struct ez_context *context, struct counter *counter)
{
	const struct ez_subscriber_options options = {.callback = count, .user = counter};
	struct ez_subscriber *subscriber;

	assert_int_equal(ez_subscriber_create(context, "T", &options, &subscriber), 0);
}

struct loop {
	struct ez_context *context;
	struct ez_publisher *publisher;
	int epoll_fd;
	int ready_fd;
	int timer_fd;
	struct peer fast, slow; /* the loop stops that one, and lets it go on by a timer */
};

static void open_loop(struct loop *loop, const struct graph *graph, bool tcp)
{
	const struct ez_publisher_options options = {.num_buffers = BUFFERS, .force_tcp = tcp};

	assert_int_equal(ez_context_create(graph->address, &loop->context), 0);
	assert_int_equal(ez_publisher_create(loop->context, "T", &options, &loop->publisher), 0);
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	loop->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	loop->ready_fd = ez_publisher_fd(loop->publisher);
	watch(loop->epoll_fd, loop->ready_fd, EPOLLIN);
	watch(loop->epoll_fd, loop->timer_fd, EPOLLIN);
}

static void start_peer(struct peer *peer, const struct graph *graph)
{
	peer_start(peer, graph);
	peer_tell(peer, "ok", "sub T");
	peer_send(peer, "recv %d", (int)MESSAGES);
}

static void stop_slow(struct loop *loop)
{
	const struct itimerspec soon = {.it_value.tv_nsec = 5000000};

	assert_int_equal(kill(loop->slow.pid, SIGSTOP), 0);
	assert_int_equal(timerfd_settime(loop->timer_fd, 0, &soon, NULL), 0);
}

static void go_on(struct loop *loop)
{
	uint64_t times;

	assert_int_equal(read(loop->timer_fd, &times, sizeof(times)), sizeof(times));
	assert_int_equal(kill(loop->slow.pid, SIGCONT), 0);
}

/* One thread publishes, nobody pauses: what the descriptor says always holds. */
static void run_loop(struct loop *loop)
{
	uint64_t n = 0;

	while (n < MESSAGES) {
		if (wait_any(loop->epoll_fd) == loop->timer_fd) {
			go_on(loop);
			continue;
		}
		if (n % 5000 == 0)
			stop_slow(loop);
		assert_int_equal(ez_publish_bytes(loop->publisher, &n, sizeof(n), 0), 0);
		n++;
	}
	assert_int_equal(kill(loop->slow.pid, SIGCONT), 0);
}

static void run_all(void **state, bool tcp)
{
	struct counter steady = {0}, resting = {.rest_after = 1000};
	uint64_t messages, bytes;
	struct loop loop = {0};

	open_loop(&loop, *state, tcp);
	subscribe(loop.context, &steady);
	subscribe(loop.context, &resting);
	start_peer(&loop.fast, *state);
	start_peer(&loop.slow, *state);
	run_loop(&loop);
	peer_expect(&loop.fast, "got 100000 ");
	peer_expect(&loop.slow, "got 100000 ");
	assert_int_equal(ez_sync(loop.context, PATIENCE_NS), 0);
	ez_publisher_totals(loop.publisher, &messages, &bytes);
	assert_int_equal(messages, MESSAGES);
	peer_stop(&loop.fast);
	peer_stop(&loop.slow);
	ez_context_destroy(loop.context);
	close(loop.epoll_fd);
	close(loop.timer_fd);
	assert_int_equal(steady.expected, MESSAGES);
	assert_int_equal(resting.expected, MESSAGES);
}

static void test_level_shm(void **state)
{
	run_all(state, false);
}

static void test_level_tcp(void **state)
{
	run_all(state, true);
}

/* An edge comes each time, so a loop that publishes until -ETIMEDOUT never stands still. */
static void test_edge(void **state)
{
	const uint64_t messages = MESSAGES / 5;
	struct loop loop = {0};
	struct counter counter = {.rest_after = 1000};
	uint64_t n = 0;

	open_loop(&loop, *state, false);
	subscribe(loop.context, &counter);
	assert_int_equal(epoll_ctl(loop.epoll_fd, EPOLL_CTL_DEL, loop.ready_fd, NULL), 0);
	watch(loop.epoll_fd, loop.ready_fd, EPOLLIN | EPOLLET);
	while (n < messages) {
		assert_int_equal(wait_any(loop.epoll_fd), loop.ready_fd);
		while (n < messages && !ez_publish_bytes(loop.publisher, &n, sizeof(n), 0))
			n++;
	}
	assert_int_equal(ez_sync(loop.context, PATIENCE_NS), 0);
	ez_context_destroy(loop.context);
	close(loop.epoll_fd);
	close(loop.timer_fd);
	assert_int_equal(counter.expected, messages);
}

/* ---- several loops on one publisher ---- */

#define LOOPS 3
#define EACH 5000

/* Small ones; some that are copied while others may look; some in steps. */
static int publish_some(struct ez_publisher *publisher, unsigned int i)
{
	static const char content[40000];
	struct ez_slot slot;
	int err;

	if (i % 3)
		return ez_publish_bytes(publisher, content, i % 3 == 1 ? 1 : sizeof(content), 0);
	err = ez_publish_begin(publisher, 10, 0, &slot);
	if (err)
		return err;
	memset(slot.data, 0, 10);
	return ez_publish_commit(&slot, 10);
}

static void *loop_until_sent(void *publisher)
{
	struct epoll_event event = {.events = EPOLLIN};
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	int err = epoll_ctl(epoll_fd, EPOLL_CTL_ADD, ez_publisher_fd(publisher), &event);
	unsigned int i = 0;

	while (i < EACH && !err) {
		if (epoll_wait(epoll_fd, &event, 1, PATIENCE_MS) != 1)
			break;
		err = publish_some(publisher, i);
		i += !err;
		if (err == -ETIMEDOUT)
			err = 0; /* another was quicker */
	}
	close(epoll_fd);
	return i == EACH ? NULL : publisher;
}

static void test_several(void **state)
{
	const struct graph *graph = *state;
	const struct ez_publisher_options options = {.num_buffers = 4};
	struct ez_publisher *publisher;
	struct ez_context *context;
	pthread_t threads[LOOPS];
	struct peer peers[2];
	void *failed;

	assert_int_equal(ez_context_create(graph->address, &context), 0);
	assert_int_equal(ez_publisher_create(context, "T", &options, &publisher), 0);
	for (int i = 0; i < 2; i++) {
		peer_start(&peers[i], graph);
		peer_tell(&peers[i], "ok", "sub T");
		peer_send(&peers[i], "recv %d", LOOPS * EACH);
	}
	for (int i = 0; i < LOOPS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, loop_until_sent, publisher), 0);
	for (int i = 0; i < LOOPS; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	for (int i = 0; i < 2; i++) {
		peer_expect(&peers[i], "got 15000 ");
		peer_stop(&peers[i]);
	}
	ez_context_destroy(context);
}

int main(void)
{
#define GRAPH_TEST(name) cmocka_unit_test_setup_teardown(name, graph_setup, graph_teardown)
	const struct CMUnitTest tests[] = {
		GRAPH_TEST(test_level_shm),
		GRAPH_TEST(test_level_tcp),
		GRAPH_TEST(test_edge),
		GRAPH_TEST(test_several),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
