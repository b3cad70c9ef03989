/* SPDX-License-Identifier: MIT */
/* Backpressure: how many messages may be under way, and what lets the next one go. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph_fixture.h"

#define SHORT_NS (SECOND_NS / 20)

struct fixture {
	struct graph *graph;
	struct ez_context *context;
	struct ez_publisher *publisher;
};

static void open_publisher(struct fixture *f, void **state, uint32_t buffers, bool tcp)
{
	const struct ez_publisher_options options = {.num_buffers = buffers, .force_tcp = tcp};

	f->graph = *state;
	assert_int_equal(ez_context_create(f->graph->address, &f->context), 0);
	assert_int_equal(ez_publisher_create(f->context, "T", &options, &f->publisher), 0);
}

static struct ez_subscriber *subscribe(struct fixture *f, const char *topic)
{
	struct ez_subscriber *subscriber;

	assert_int_equal(ez_subscriber_create(f->context, topic, NULL, &subscriber), 0);
	return subscriber;
}

static int send_short(struct fixture *f)
{
	return ez_publish_bytes(f->publisher, "x", 1, SHORT_NS);
}

/* N buffers: the N+1st message waits until the first is released, and for no other. */
static void test_slots_local(void **state)
{
	struct fixture f;
	struct ez_subscriber *subscriber;
	struct ez_message messages[3];
	int i;

	open_publisher(&f, state, 3, false);
	subscriber = subscribe(&f, "T");
	for (i = 0; i < 3; i++) {
		assert_int_equal(send_short(&f), 0);
		assert_int_equal(ez_receive(subscriber, PATIENCE_NS, &messages[i]), 0);
	}
	assert_int_equal(send_short(&f), -ETIMEDOUT);
	ez_message_release(&messages[2]);
	ez_message_release(&messages[1]);
	assert_int_equal(send_short(&f), -ETIMEDOUT);
	ez_message_release(&messages[0]);
	assert_int_equal(send_short(&f), 0);
	assert_int_equal(send_short(&f), 0);
	assert_int_equal(send_short(&f), 0);
	assert_int_equal(send_short(&f), -ETIMEDOUT);
	ez_context_destroy(f.context);
}

static void run_slots_remote(void **state, bool tcp)
{
	struct fixture f;
	struct peer peer;

	open_publisher(&f, state, 2, tcp);
	peer_start(&peer, f.graph);
	peer_tell(&peer, "ok", "sub T");
	assert_int_equal(send_short(&f), 0);
	assert_int_equal(send_short(&f), 0);
	assert_int_equal(send_short(&f), -ETIMEDOUT);
	peer_tell(&peer, "took 0", "take");
	assert_int_equal(send_short(&f), -ETIMEDOUT);
	peer_tell(&peer, "released", "release");
	assert_int_equal(ez_publish_bytes(f.publisher, "x", 1, PATIENCE_NS), 0);
	assert_int_equal(send_short(&f), -ETIMEDOUT);
	/* A reader that vanishes with two unread messages frees both. */
	peer_kill(&peer);
	assert_int_equal(ez_publish_bytes(f.publisher, "x", 1, PATIENCE_NS), 0);
	assert_int_equal(ez_publish_bytes(f.publisher, "x", 1, PATIENCE_NS), 0);
	wait_channels(f.publisher, 1);
	ez_context_destroy(f.context);
}

static void test_slots_shm(void **state)
{
	run_slots_remote(state, false);
}

static void test_slots_tcp(void **state)
{
	run_slots_remote(state, true);
}

/* Two subscribers of one process share a buffer: it is free after the second has released it. */
static void test_two_in_one_process(void **state)
{
	struct fixture f;
	struct ez_subscriber *a, *b;
	struct ez_message message, other;

	open_publisher(&f, state, 1, false);
	a = subscribe(&f, "T");
	b = subscribe(&f, "T");
	assert_int_equal(send_short(&f), 0);
	assert_int_equal(ez_receive(a, PATIENCE_NS, &message), 0);
	ez_message_release(&message);
	assert_int_equal(send_short(&f), -ETIMEDOUT);
	assert_int_equal(ez_receive(b, PATIENCE_NS, &other), 0);
	ez_message_release(&other);
	assert_int_equal(send_short(&f), 0);
	/* One that leaves without having read doesn't keep the buffer either. */
	assert_int_equal(ez_receive(a, PATIENCE_NS, &message), 0);
	ez_message_release(&message);
	assert_int_equal(send_short(&f), -ETIMEDOUT);
	ez_subscriber_destroy(b);
	assert_int_equal(send_short(&f), 0);
	ez_context_destroy(f.context);
}

static void test_leaky(void **state)
{
	const struct ez_subscriber_options options = {.leaky = true, .max_queue = 2};
	struct fixture f;
	struct ez_subscriber *subscriber;
	uint64_t i, messages, bytes, drops;

	open_publisher(&f, state, 4, false);
	assert_int_equal(ez_subscriber_create(f.context, "T", &options, &subscriber), 0);
	for (i = 0; i < 101; i++)
		send_number(f.publisher, i);
	assert_int_equal(receive_number(subscriber, 99), 99);
	assert_int_equal(receive_number(subscriber, 100), 100);
	ez_subscriber_totals(subscriber, &messages, &bytes, &drops);
	assert_int_equal(messages, 101);
	assert_int_equal(drops, 99);
	ez_context_destroy(f.context);
}

static void test_leaky_remote(void **state)
{
	struct fixture f;
	struct peer peer;
	uint64_t i;

	open_publisher(&f, state, 4, false);
	peer_start(&peer, f.graph);
	peer_tell(&peer, "ok", "sub T leaky");
	for (i = 0; i < 101; i++)
		send_number(f.publisher, i);
	peer_tell(&peer, "got 1", "recv 1");
	peer_stop(&peer);
	ez_context_destroy(f.context);
}

/* Who joins late gets what is sent from then on. */
static void test_late_join(void **state)
{
	struct fixture f;
	struct ez_subscriber *subscriber;

	open_publisher(&f, state, 0, false);
	for (uint64_t i = 0; i < 50; i++)
		send_number(f.publisher, i);
	subscriber = subscribe(&f, "T");
	send_number(f.publisher, 50);
	assert_int_equal(receive_number(subscriber, 50), 50);
	ez_context_destroy(f.context);
}

/* ---- many threads ---- */

#define SENDERS 8
#define SENT_EACH 501

static void *send_some(void *publisher)
{
	int i, err = 0;

	for (i = 0; i < SENT_EACH && !err; i++)
		err = ez_publish_bytes(publisher, "abc", 3, PATIENCE_NS);
	return err ? publisher : NULL;
}

static void count_message(const struct ez_message *message, void *user)
{
	uint64_t *count = user;

	assert_int_equal(message->bytes, 3);
	__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

static void test_threads(void **state)
{
	struct ez_subscriber_options options = {.callback = count_message};
	uint64_t counts[2] = {0}, messages, bytes;
	struct ez_subscriber *subscribers[2];
	pthread_t threads[SENDERS];
	struct ez_message message;
	struct fixture f;
	struct peer peer;
	void *failed;
	int i;

	open_publisher(&f, state, 5, false);
	for (i = 0; i < 2; i++) {
		options.user = &counts[i];
		assert_int_equal(ez_subscriber_create(f.context, "T", &options, &subscribers[i]),
				 0);
	}
	assert_int_equal(ez_receive(subscribers[0], 0, &message), -EINVAL);
	peer_start(&peer, f.graph);
	peer_tell(&peer, "ok", "sub T");
	peer_send(&peer, "recv %d", SENDERS * SENT_EACH);
	for (i = 0; i < SENDERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, send_some, f.publisher), 0);
	for (i = 0; i < SENDERS; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	peer_expect(&peer, "got 4008");
	assert_int_equal(ez_sync(f.context, PATIENCE_NS), 0);
	ez_publisher_totals(f.publisher, &messages, &bytes);
	assert_int_equal(messages, SENDERS * SENT_EACH);
	for (i = 0; i < 2; i++)
		assert_int_equal(counts[i], SENDERS * SENT_EACH);
	peer_stop(&peer);
	ez_context_destroy(f.context);
}

int main(void)
{
#define GRAPH_TEST(name) cmocka_unit_test_setup_teardown(name, graph_setup, graph_teardown)
	const struct CMUnitTest tests[] = {
		GRAPH_TEST(test_slots_local), GRAPH_TEST(test_slots_shm),
		GRAPH_TEST(test_slots_tcp),   GRAPH_TEST(test_two_in_one_process),
		GRAPH_TEST(test_leaky),	      GRAPH_TEST(test_leaky_remote),
		GRAPH_TEST(test_late_join),   GRAPH_TEST(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
