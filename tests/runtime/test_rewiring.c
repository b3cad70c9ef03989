/* SPDX-License-Identifier: MIT */
/* Edges come and go while messages flow: none is lost or heard that shouldn't be, nothing piles up.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "graph_fixture.h"

#define ROUNDS 60
#define READ_EACH 25

struct source {
	pthread_t thread;
	struct ez_publisher *publisher;
	bool end; /* atomic */
};

static void *publish_numbers(void *argument)
{
	struct source *source = argument;

	for (uint64_t n = 0; !__atomic_load_n(&source->end, __ATOMIC_RELAXED); n++) {
		if (ez_publish_bytes(source->publisher, &n, sizeof(n), PATIENCE_NS))
			return source;
		/* Alone on its CPU it would send a million of them to nobody. */
		usleep(200);
	}
	return NULL;
}

static void start(struct source *source, struct ez_context *context, const char *topic, bool tcp)
{
	const struct ez_publisher_options options = {.num_buffers = 8, .force_tcp = tcp};

	*source = (struct source){0};
	assert_int_equal(ez_publisher_create(context, topic, &options, &source->publisher), 0);
	assert_int_equal(pthread_create(&source->thread, NULL, publish_numbers, source), 0);
}

static void stop(struct source *source)
{
	void *failed;

	__atomic_store_n(&source->end, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(source->thread, &failed), 0);
	assert_null(failed);
}

static uint64_t take(struct ez_subscriber *subscriber, int64_t timeout_ns, int *ret_err)
{
	struct ez_message message;
	uint64_t n = 0;

	*ret_err = ez_receive(subscriber, timeout_ns, &message);
	if (*ret_err)
		return 0;
	memcpy(&n, message.data, sizeof(n));
	assert_int_equal(n, message.id);
	ez_message_release(&message);
	return n;
}

/*
 * CONNECT and DISCONNECT are answered before the subscriber was told; between the first message
 * that it hears and the last one there is no gap, and after that one it hears no more.
 */
static void connected_once(struct ez_context *context, const char *topic,
			   struct ez_subscriber *subscriber)
{
	uint64_t n, next = 0;
	int err, late = 0;

	assert_int_equal(ez_connect(context, topic, "S"), 0);
	for (int i = 0; i < READ_EACH; i++) {
		n = take(subscriber, PATIENCE_NS, &err);
		assert_int_equal(err, 0);
		assert_true(!i || n == next);
		next = n + 1;
	}
	assert_int_equal(ez_disconnect(context, topic, "S"), 0);
	while (n = take(subscriber, SECOND_NS / 20, &err), !err) {
		assert_int_equal(n, next++);
		assert_true(late++ < 100000);
	}
	assert_int_equal(err, -ETIMEDOUT);
}

/* Shares a channel with the one above, and notices nothing. */
struct steady {
	uint64_t next;
	bool gap; /* atomic */
};

static void expect_next(const struct ez_message *message, void *user)
{
	struct steady *steady = user;

	if (steady->next && message->id != steady->next)
		__atomic_store_n(&steady->gap, true, __ATOMIC_RELAXED);
	steady->next = message->id + 1;
}

static size_t count_fds(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += lseek(fd, 0, SEEK_CUR) >= 0 || errno != EBADF;
	return n;
}

static void test_rewiring(void **state)
{
	const struct graph *graph = *state;
	static const char *const topics[] = {"A", "B", "C"};
	struct steady steady = {0};
	const struct ez_subscriber_options options = {.callback = expect_next, .user = &steady};
	struct ez_context *context, *other;
	struct ez_subscriber *subscriber, *neighbour;
	struct source sources[3];
	size_t fds = 0;

	assert_int_equal(ez_context_create(graph->address, &context), 0);
	assert_int_equal(ez_context_create(graph->address, &other), 0);
	/* By shm, by tcp, and within the context. */
	start(&sources[0], other, topics[0], false);
	start(&sources[1], other, topics[1], true);
	start(&sources[2], context, topics[2], false);
	assert_int_equal(ez_subscriber_create(context, "S", NULL, &subscriber), 0);
	assert_int_equal(ez_subscriber_create(context, "A", &options, &neighbour), 0);
	for (int round = 0; round < ROUNDS; round++) {
		connected_once(context, topics[round % 3], subscriber);
		if (round == ROUNDS / 2)
			fds = count_fds();
	}
	assert_true(count_fds() <= fds);
	for (int i = 0; i < 3; i++)
		stop(&sources[i]);
	ez_subscriber_destroy(neighbour);
	assert_true(steady.next > ROUNDS && !steady.gap);
	wait_channels(sources[0].publisher, 1);
	wait_channels(sources[1].publisher, 1);
	ez_context_destroy(other);
	ez_context_destroy(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rewiring, graph_setup, graph_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
