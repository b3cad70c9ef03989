/* SPDX-License-Identifier: MIT */
/* Edges, PAUSE, RESUME, SYNC, PROFILE, and what happens when something ends. */
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

static struct ez_context *open_context(void **state)
{
	const struct graph *graph = *state;
	struct ez_context *context;

	assert_int_equal(ez_context_create(graph->address, &context), 0);
	return context;
}

static struct ez_publisher *publish(struct ez_context *context, const char *topic, uint32_t buffers)
{
	const struct ez_publisher_options options = {.num_buffers = buffers};
	struct ez_publisher *publisher;

	assert_int_equal(ez_publisher_create(context, topic, &options, &publisher), 0);
	return publisher;
}

static struct ez_subscriber *subscribe(struct ez_context *context, const char *topic)
{
	struct ez_subscriber *subscriber;

	assert_int_equal(ez_subscriber_create(context, topic, NULL, &subscriber), 0);
	return subscriber;
}

static void test_bad_address(void **state)
{
	struct ez_context *context;

	(void)state;
	assert_int_equal(ez_context_create("nonsense", &context), -EINVAL);
	assert_int_equal(ez_context_create("127.0.0.1:1", &context), -ECONNREFUSED);
}

/* The name has an IPv6 address too, at which no server listens. */
static void test_name(void **state)
{
	const struct graph *graph = *state;
	struct ez_context *context;
	struct ez_publisher *publisher;
	char name[64];

	snprintf(name, sizeof(name), "localhost%s", strchr(graph->address, ':'));
	assert_int_equal(ez_context_create(name, &context), 0);
	publisher = publish(context, "T", 0);
	send_number(publisher, 0);
	ez_context_destroy(context);
}

/* An edge is what lets messages through, and CONNECT answers before the subscriber was told. */
static void test_edges(void **state)
{
	struct ez_context *context = open_context(state);
	struct ez_publisher *publisher = publish(context, "A", 0);
	struct ez_subscriber *subscriber = subscribe(context, "B");
	struct ez_message message;
	uint64_t i = 0;

	send_number(publisher, 0);
	assert_int_equal(ez_receive(subscriber, SHORT_NS, &message), -ETIMEDOUT);
	assert_int_equal(ez_connect(context, "A", "B"), 0);
	assert_int_equal(ez_connect(context, "B", "A"), -ELOOP);
	assert_int_equal(ez_connect(context, "A", "A"), -ELOOP);
	do {
		assert_true(i < 400);
		send_number(publisher, ++i);
	} while (ez_receive(subscriber, SHORT_NS, &message));
	ez_message_release(&message);
	assert_int_equal(ez_disconnect(context, "A", "B"), 0);
	assert_int_equal(ez_disconnect(context, "X", "Y"), 0);
	do {
		assert_true(i < 4000);
		nap_ms(5);
		send_number(publisher, ++i);
		if (ez_receive(subscriber, SHORT_NS, &message))
			break;
		ez_message_release(&message);
	} while (true);
	ez_context_destroy(context);
}

static void test_pause_resume_sync(void **state)
{
	struct ez_context *context = open_context(state);
	struct ez_publisher *publisher = publish(context, "T", 4);
	struct ez_subscriber *subscriber = subscribe(context, "T");
	struct ez_message message;
	int tries = 0;

	assert_int_equal(ez_pause(context), 0);
	/* The pause is on its way: it is there when a message doesn't get through any more. */
	while (!ez_publish_bytes(publisher, "x", 1, SHORT_NS)) {
		assert_int_equal(ez_receive(subscriber, PATIENCE_NS, &message), 0);
		ez_message_release(&message);
		assert_true(tries++ < 2000);
		nap_ms(5);
	}
	assert_int_equal(ez_resume(context), 0);
	assert_int_equal(ez_publish_bytes(publisher, "x", 1, PATIENCE_NS), 0);
	assert_int_equal(ez_receive(subscriber, PATIENCE_NS, &message), 0);
	assert_int_equal(ez_sync(context, 4 * SHORT_NS), -ETIMEDOUT);
	ez_message_release(&message);
	assert_int_equal(ez_sync(context, PATIENCE_NS), 0);
	assert_int_equal(ez_publish_bytes(publisher, "x", 1, SHORT_NS), -ETIMEDOUT);
	assert_int_equal(ez_publisher_resume(publisher), 0);
	assert_int_equal(ez_publish_bytes(publisher, "x", 1, PATIENCE_NS), 0);
	assert_int_equal(ez_publisher_pause(publisher), 0);
	assert_int_equal(ez_publish_bytes(publisher, "x", 1, 0), -ETIMEDOUT);
	ez_context_destroy(context);
}

/* The layout of the text is the server's affair. */
static void remove_blanks(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (*text != ' ')
			*to++ = *text;
	*to = '\0';
}

static void test_profile(void **state)
{
	struct ez_context *context = open_context(state);
	struct ez_publisher *publisher = publish(context, "T", 4);
	struct ez_subscriber *subscriber = subscribe(context, "T");
	char *json = NULL;

	send_number(publisher, 0);
	receive_number(subscriber, 0);
	assert_int_equal(ez_profile(context, -1, &json), -EINVAL);
	assert_int_equal(ez_profile(context, 2.0, &json), 0);
	remove_blanks(json);
	assert_non_null(strstr(json, "\"source\":\"process\""));
	assert_non_null(strstr(json, "\"errors\":[]"));
	assert_non_null(strstr(json, "\"mode\":\"local\""));
	assert_non_null(strstr(json, "\"messages\":{\"total\":1"));
	free(json);
	ez_context_destroy(context);
}

/* ---- ends ---- */

struct blocked {
	struct ez_publisher *publisher;
	struct ez_subscriber *subscriber;
	int result;
};

static void *publish_until_told(void *argument)
{
	struct blocked *blocked = argument;
	int err;

	do {
		err = ez_publish_bytes(blocked->publisher, "x", 1, EZ_FOREVER);
	} while (!err);
	blocked->result = err;
	return NULL;
}

static void *receive_until_told(void *argument)
{
	struct blocked *blocked = argument;
	struct ez_message message;

	blocked->result = ez_receive(blocked->subscriber, EZ_FOREVER, &message);
	return NULL;
}

static void test_destroy_wakes(void **state)
{
	struct ez_context *context = open_context(state);
	struct blocked a = {.publisher = publish(context, "T", 2)};
	struct blocked b = {.subscriber = subscribe(context, "U")};
	pthread_t threads[2];

	subscribe(context, "T");
	assert_int_equal(pthread_create(&threads[0], NULL, publish_until_told, &a), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, receive_until_told, &b), 0);
	nap_ms(50);
	ez_publisher_destroy(a.publisher);
	ez_subscriber_destroy(b.subscriber);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	assert_int_equal(a.result, -EPIPE);
	assert_int_equal(b.result, -EPIPE);
	ez_context_destroy(context);
}

/* What the user holds stays readable and may be given back, whatever was destroyed meanwhile. */
static void test_held_beyond_the_end(void **state)
{
	struct ez_context *context = open_context(state);
	struct ez_publisher *publisher = publish(context, "T", 2);
	struct ez_subscriber *subscriber = subscribe(context, "T");
	struct ez_message held[3];
	struct peer peer;

	assert_int_equal(ez_publish_bytes(publisher, "first", 5, PATIENCE_NS), 0);
	assert_int_equal(ez_receive(subscriber, PATIENCE_NS, &held[0]), 0);
	peer_start(&peer, *state);
	peer_tell(&peer, "ok", "pub T 2");
	peer_tell(&peer, "sent 1", "send 1 5");
	assert_int_equal(ez_receive(subscriber, PATIENCE_NS, &held[1]), 0);
	/* Publisher gone, message still in the queue. */
	assert_int_equal(ez_publish_bytes(publisher, "queue", 5, PATIENCE_NS), 0);
	ez_publisher_destroy(publisher);
	peer_stop(&peer);
	assert_int_equal(ez_receive(subscriber, PATIENCE_NS, &held[2]), 0);
	assert_memory_equal(held[2].data, "queue", 5);
	ez_message_release(&held[2]);
	ez_subscriber_destroy(subscriber);
	assert_memory_equal(held[0].data, "first", 5);
	ez_message_release(&held[0]);
	ez_context_destroy(context);
	assert_memory_equal(held[1].data, "\0\0\0\0\0", 5);
	ez_message_release(&held[1]);
}

static void test_server_loss(void **state)
{
	struct graph *graph = *state;
	struct ez_context *context = open_context(state);
	struct ez_publisher *publisher = publish(context, "T", 4);
	struct ez_subscriber *subscriber = subscribe(context, "T");
	struct ez_message message;
	struct peer peer;
	int err;

	peer_start(&peer, graph);
	peer_tell(&peer, "ok", "sub T");
	assert_int_equal(ez_publish_bytes(publisher, "x", 1, PATIENCE_NS), 0);
	graph_end_server(graph);
	/* What is in flight is still received, then an error says why nothing follows. */
	peer_tell(&peer, "got 1", "recv 1");
	peer_tell(&peer, "-104", "fail");
	assert_int_equal(ez_receive(subscriber, PATIENCE_NS, &message), 0);
	ez_message_release(&message);
	assert_int_equal(ez_receive(subscriber, PATIENCE_NS, &message), -ECONNRESET);
	do {
		err = ez_publish_bytes(publisher, "x", 1, PATIENCE_NS);
	} while (!err);
	assert_int_equal(err, -ECONNRESET);
	assert_int_equal(ez_connect(context, "A", "B"), -ECONNREFUSED);
	peer_stop(&peer);
	ez_context_destroy(context);
}

static void test_come_and_go(void **state)
{
	struct ez_context *context = open_context(state);
	struct ez_publisher *publisher = publish(context, "T", 4);
	struct ez_subscriber *subscriber;
	struct peer peer;

	for (uint64_t i = 0; i < 20; i++) {
		subscriber = subscribe(context, "T");
		send_number(publisher, i);
		receive_number(subscriber, i);
		ez_subscriber_destroy(subscriber);
	}
	for (int i = 0; i < 3; i++) {
		peer_start(&peer, *state);
		peer_tell(&peer, "ok", "sub T");
		assert_int_equal(ez_publish_bytes(publisher, "x", 1, PATIENCE_NS), 0);
		peer_tell(&peer, "took", "take");
		peer_kill(&peer);
	}
	wait_channels(publisher, 1);
	ez_context_destroy(context);
}

int main(void)
{
#define GRAPH_TEST(name) cmocka_unit_test_setup_teardown(name, graph_setup, graph_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_address),
		GRAPH_TEST(test_name),
		GRAPH_TEST(test_edges),
		GRAPH_TEST(test_pause_resume_sync),
		GRAPH_TEST(test_profile),
		GRAPH_TEST(test_destroy_wakes),
		GRAPH_TEST(test_held_beyond_the_end),
		GRAPH_TEST(test_server_loss),
		GRAPH_TEST(test_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
