/* SPDX-License-Identifier: MIT */
/* Messages arrive, all of them, in order, over each transport. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph_fixture.h"

#define ODD_COUNT 1007

static void open_graph(const struct graph *graph, struct ez_context **ret_context)
{
	assert_int_equal(ez_context_create(graph->address, ret_context), 0);
}

static void test_local(void **state)
{
	struct ez_context *context;
	struct ez_publisher *publisher;
	struct ez_subscriber *subscriber;
	struct ez_message message;
	uint64_t messages, bytes, drops, sent, sent_bytes, i;

	open_graph(*state, &context);
	assert_int_equal(ez_publisher_create(context, "T", NULL, &publisher), 0);
	assert_int_equal(ez_subscriber_create(context, "T", NULL, &subscriber), 0);
	assert_int_equal(ez_publisher_channels(publisher), 1);
	for (i = 0; i < ODD_COUNT; i++) {
		send_number(publisher, i);
		assert_int_equal(receive_number(subscriber, i), i);
	}
	assert_int_equal(ez_publish_bytes(publisher, "x", 1, 0), 0);
	assert_int_equal(ez_receive(subscriber, 0, &message), 0);
	assert_int_equal(message.via, EZ_VIA_LOCAL);
	assert_string_equal(message.topic, "T");
	ez_message_release(&message);
	ez_publisher_totals(publisher, &sent, &sent_bytes);
	ez_subscriber_totals(subscriber, &messages, &bytes, &drops);
	assert_int_equal(sent, ODD_COUNT + 1);
	assert_int_equal(messages, sent);
	assert_int_equal(bytes, sent_bytes);
	assert_int_equal(drops, 0);
	ez_context_destroy(context);
}

/* To another process and back again, so that both ends are looked at. */
static void run_remote(struct graph *graph, bool tcp, const char *expected)
{
	const struct ez_publisher_options options = {.force_tcp = tcp, .num_buffers = 7};
	struct ez_context *context;
	struct ez_publisher *publisher;
	struct peer peer;
	uint64_t i;

	open_graph(graph, &context);
	assert_int_equal(ez_publisher_create(context, "T", &options, &publisher), 0);
	peer_start(&peer, graph);
	peer_tell(&peer, "ok", "sub T");
	assert_int_equal(ez_publisher_channels(publisher), 2);
	peer_send(&peer, "recv %d", ODD_COUNT);
	for (i = 0; i < ODD_COUNT; i++)
		send_number(publisher, i);
	peer_expect(&peer, expected);
	peer_stop(&peer);
	wait_channels(publisher, 1);
	ez_context_destroy(context);
}

static void test_shm(void **state)
{
	run_remote(*state, false, "got 1007 49343 shm");
}

static void test_tcp(void **state)
{
	run_remote(*state, true, "got 1007 49343 tcp");
}

static void receive_from_peer(struct graph *graph, const char *flag, enum ez_via via)
{
	struct ez_context *context;
	struct ez_subscriber *subscriber;
	struct ez_message message;
	struct peer peer;
	int i;

	open_graph(graph, &context);
	assert_int_equal(ez_subscriber_create(context, "T", NULL, &subscriber), 0);
	peer_start(&peer, graph);
	peer_tell(&peer, "ok", "pub T 4 %s", flag);
	peer_send(&peer, "send 101 1000");
	for (i = 0; i < 101; i++) {
		assert_int_equal(ez_receive(subscriber, PATIENCE_NS, &message), 0);
		assert_int_equal(message.id, i);
		assert_int_equal(message.via, via);
		assert_int_equal(message.bytes, 1000);
		ez_message_release(&message);
	}
	peer_expect(&peer, "sent 101");
	peer_stop(&peer);
	ez_context_destroy(context);
}

static void test_receive_shm(void **state)
{
	receive_from_peer(*state, "shm", EZ_VIA_SHM);
}

static void test_receive_tcp(void **state)
{
	receive_from_peer(*state, "tcp", EZ_VIA_TCP);
}

/* Larger than a slot, than a socket's buffer, and than what was there before. */
static void test_growing_messages(void **state)
{
	static const unsigned int sizes[] = {10,     65000,   66000,  70000,
					     500000, 3000000, 200000, 7000001};
	struct graph *graph = *state;
	struct ez_context *context;
	struct ez_subscriber *subscriber;
	struct ez_message message;
	struct peer peer;
	size_t i;
	int tcp;

	for (tcp = 0; tcp < 2; tcp++) {
		open_graph(graph, &context);
		assert_int_equal(ez_subscriber_create(context, "T", NULL, &subscriber), 0);
		peer_start(&peer, graph);
		peer_tell(&peer, "ok", "pub T 3 %s", tcp ? "tcp" : "shm");
		for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			peer_send(&peer, "send 3 %u", sizes[i]);
			for (int k = 0; k < 3; k++) {
				assert_int_equal(ez_receive(subscriber, PATIENCE_NS, &message), 0);
				assert_int_equal(message.bytes, sizes[i]);
				assert_int_equal(message.type, EZ_TYPE_BYTES);
				ez_message_release(&message);
			}
			peer_expect(&peer, "sent 3");
		}
		peer_stop(&peer);
		ez_context_destroy(context);
	}
}

/* A message that is held while its publisher moves to a larger segment stays what it was. */
static void test_held_over_resize(void **state)
{
	const struct ez_publisher_options options = {.num_buffers = 4, .buffer_bytes = 1024};
	struct ez_context *context;
	struct ez_publisher *publisher;
	struct ez_subscriber *subscriber;
	struct ez_message held, message;
	char content[5000];
	struct peer peer;

	open_graph(*state, &context);
	assert_int_equal(ez_publisher_create(context, "T", &options, &publisher), 0);
	assert_int_equal(ez_subscriber_create(context, "T", NULL, &subscriber), 0);
	peer_start(&peer, *state);
	peer_tell(&peer, "ok", "sub T");
	assert_int_equal(ez_publish_bytes(publisher, "kept", 4, PATIENCE_NS), 0);
	assert_int_equal(ez_receive(subscriber, PATIENCE_NS, &held), 0);
	peer_tell(&peer, "took 0", "take");
	memset(content, 'y', sizeof(content));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ez_publish_bytes(publisher, content, sizeof(content), PATIENCE_NS),
				 0);
		assert_int_equal(ez_receive(subscriber, PATIENCE_NS, &message), 0);
		assert_memory_equal(message.data, content, sizeof(content));
		ez_message_release(&message);
	}
	assert_memory_equal(held.data, "kept", 4);
	peer_tell(&peer, "got 3", "recv 3");
	assert_int_equal(ez_publish_bytes(publisher, "z", 1, SECOND_NS / 20), -ETIMEDOUT);
	peer_tell(&peer, "released", "release");
	ez_message_release(&held);
	assert_int_equal(ez_publish_bytes(publisher, "z", 1, PATIENCE_NS), 0);
	peer_tell(&peer, "got 1", "recv 1");
	peer_stop(&peer);
	ez_context_destroy(context);
}

/* Two publishers, three subscribers in two processes, one channel per process and publisher. */
static void test_many(void **state)
{
	struct ez_context *context;
	struct ez_publisher *publishers[2];
	struct ez_subscriber *subscribers[2];
	struct peer peer;
	uint64_t i;

	open_graph(*state, &context);
	for (i = 0; i < 2; i++) {
		assert_int_equal(ez_publisher_create(context, "T", NULL, &publishers[i]), 0);
		assert_int_equal(ez_subscriber_create(context, "T", NULL, &subscribers[i]), 0);
	}
	peer_start(&peer, *state);
	peer_tell(&peer, "ok", "sub T");
	peer_send(&peer, "recv 202");
	for (i = 0; i < 101; i++) {
		send_number(publishers[0], i);
		send_number(publishers[1], i);
		for (int k = 0; k < 2; k++) {
			receive_number(subscribers[k], i);
			receive_number(subscribers[k], i);
		}
	}
	peer_expect(&peer, "got 202");
	assert_int_equal(ez_publisher_channels(publishers[0]), 2);
	peer_stop(&peer);
	ez_context_destroy(context);
}

static void test_values(void **state)
{
	static const uint64_t shape[] = {3, 4};
	static const uint8_t none[] = {0x80, 5, 0x4e, 0x2e};
	struct iovec raw = {(void *)(uintptr_t)none, sizeof(none)};
	float elements[12] = {1, 2, 3};
	struct ez_context *context;
	struct ez_publisher *publisher;
	struct ez_subscriber *subscriber;
	struct ez_message message;

	open_graph(*state, &context);
	assert_int_equal(ez_publisher_create(context, "T", NULL, &publisher), 0);
	assert_int_equal(ez_subscriber_create(context, "T", NULL, &subscriber), 0);
	assert_int_equal(ez_publish_array(publisher, "f4", shape, 2, elements, PATIENCE_NS), 0);
	assert_int_equal(ez_publish_array(publisher, "zz", shape, 2, elements, 0), -EINVAL);
	assert_int_equal(ez_publish_array(publisher, "f4", shape, 0, elements, 0), -EINVAL);
	assert_int_equal(ez_publish_buffers(publisher, &raw, 1, PATIENCE_NS), 0);
	assert_int_equal(ez_publish_buffers(publisher, &raw, 0, 0), -EINVAL);

	assert_int_equal(ez_receive(subscriber, PATIENCE_NS, &message), 0);
	assert_int_equal(message.type, EZ_TYPE_ARRAY);
	assert_string_equal(message.dtype, "<f4");
	assert_int_equal(message.dimensions, 2);
	assert_int_equal(message.shape[1], 4);
	assert_memory_equal(message.data, elements, sizeof(elements));
	ez_message_release(&message);
	assert_int_equal(ez_receive(subscriber, PATIENCE_NS, &message), 0);
	assert_int_equal(message.type, EZ_TYPE_NONE);
	assert_int_equal(message.num_buffers, 1);
	assert_memory_equal(message.buffers[0].iov_base, none, sizeof(none));
	ez_message_release(&message);
	ez_context_destroy(context);
}

int main(void)
{
#define GRAPH_TEST(name) cmocka_unit_test_setup_teardown(name, graph_setup, graph_teardown)
	const struct CMUnitTest tests[] = {
		GRAPH_TEST(test_local),	      GRAPH_TEST(test_shm),
		GRAPH_TEST(test_tcp),	      GRAPH_TEST(test_receive_shm),
		GRAPH_TEST(test_receive_tcp), GRAPH_TEST(test_growing_messages),
		GRAPH_TEST(test_many),	      GRAPH_TEST(test_held_over_resize),
		GRAPH_TEST(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
