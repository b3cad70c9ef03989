/* SPDX-License-Identifier: MIT */
/* What the runtime notes in the endpoint registry: who is there, and what each has counted. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph_fixture.h"
#include "registry_layout.h"

extern struct ez_registry ez_registry_table;

static const struct ez_entry *entry_at(uint32_t index)
{
	uint64_t chunk = ez_registry_table.chunks[index / EZ_REGISTRY_CHUNK_ENTRIES];

	return (const struct ez_entry *)(uintptr_t)chunk + index % EZ_REGISTRY_CHUNK_ENTRIES;
}

/* The n-th open entry of that kind; NULL if there are fewer. */
static const struct ez_entry *find(enum ez_endpoint_kind kind, int n)
{
	uint32_t i;

	/* The I/O thread opens and closes some meanwhile. */
	for (i = 0; i < __atomic_load_n(&ez_registry_table.count, __ATOMIC_ACQUIRE); i++) {
		const struct ez_entry *entry = entry_at(i);

		if (__atomic_load_n(&entry->state, __ATOMIC_ACQUIRE) == EZ_ENTRY_OPEN &&
		    entry->kind == kind && n-- == 0)
			return entry;
	}
	return NULL;
}

static const char *text_at(uint64_t address)
{
	return (const char *)(uintptr_t)address;
}

struct graph_of_one {
	struct ez_context *context;
	struct ez_publisher *publisher;
	struct ez_subscriber *subscriber;
};

static void open_all(struct graph_of_one *g, void **state, bool leaky)
{
	const struct graph *graph = *state;
	const struct ez_publisher_options publisher = {.num_buffers = 4};
	const struct ez_subscriber_options subscriber = {
		.handle = "the handle", .task = "a task", .leaky = leaky};

	assert_int_equal(ez_context_create(graph->address, &g->context), 0);
	assert_int_equal(ez_publisher_create(g->context, "T", &publisher, &g->publisher), 0);
	assert_int_equal(ez_subscriber_create(g->context, "T", &subscriber, &g->subscriber), 0);
	assert_string_equal(ez_registry_table.graph_address, graph->address);
}

static void test_identity(void **state)
{
	struct graph_of_one g;
	const struct ez_entry *publisher, *link, *channel, *client;

	open_all(&g, state, false);
	publisher = find(EZ_KIND_PUBLISHER, 0);
	link = find(EZ_KIND_LINK, 0);
	channel = find(EZ_KIND_CHANNEL, 0);
	client = find(EZ_KIND_CLIENT, 0);
	assert_non_null(publisher);
	assert_non_null(link);
	assert_non_null(channel);
	assert_non_null(client);
	assert_null(find(EZ_KIND_LINK, 1));
	assert_null(find(EZ_KIND_CLIENT, 1));
	assert_string_equal(text_at(publisher->topic), "T");
	assert_string_equal(text_at(client->handle), "the handle");
	assert_string_equal(text_at(client->task), "a task");
	assert_int_equal(publisher->num_buffers, 4);
	assert_int_equal(client->num_buffers, 4);
	assert_memory_equal(publisher->id, publisher->publisher_id, 16);
	assert_memory_equal(link->publisher_id, publisher->id, 16);
	assert_memory_equal(link->id, channel->id, 16);
	assert_memory_equal(client->channel_id, channel->id, 16);
	assert_memory_equal(client->publisher_id, publisher->id, 16);
	assert_memory_equal(client->id, client->subscriber_id, 16);
	ez_context_destroy(g.context);
	assert_null(find(EZ_KIND_PUBLISHER, 0));
	assert_null(find(EZ_KIND_LINK, 0));
	assert_null(find(EZ_KIND_CHANNEL, 0));
	assert_null(find(EZ_KIND_CLIENT, 0));
}

static void check(const struct ez_entry *entry, uint64_t leases, uint64_t frees, uint64_t bytes)
{
	assert_int_equal(entry->leases, leases);
	assert_int_equal(entry->frees, frees);
	assert_int_equal(entry->bytes, bytes);
	assert_int_equal(entry->seq % 2, 0);
}

static void test_counters(void **state)
{
	struct graph_of_one g;
	struct ez_message held;
	const struct ez_entry *client, *link;
	uint64_t i, messages, bytes;

	open_all(&g, state, false);
	for (i = 0; i < 107; i++) {
		send_number(g.publisher, i);
		receive_number(g.subscriber, i);
	}
	ez_publisher_totals(g.publisher, &messages, &bytes);
	assert_int_equal(find(EZ_KIND_PUBLISHER, 0)->messages, 107);
	assert_int_equal(find(EZ_KIND_PUBLISHER, 0)->bytes, bytes);
	client = find(EZ_KIND_CLIENT, 0);
	link = find(EZ_KIND_LINK, 0);
	check(link, 107, 107, bytes);
	check(client, 107, 107, bytes);
	assert_int_equal(find(EZ_KIND_CHANNEL, 0)->messages, 107);
	assert_int_equal(find(EZ_KIND_CHANNEL, 0)->bytes, bytes);
	assert_int_equal(link->transport, EZ_TRANSPORT_LOCAL);
	assert_int_equal(find(EZ_KIND_CHANNEL, 0)->transport, EZ_TRANSPORT_LOCAL);
	/* One queued, one being read: both in flight, with the start of their leases. */
	send_number(g.publisher, 107);
	send_number(g.publisher, 108);
	assert_int_equal(ez_receive(g.subscriber, PATIENCE_NS, &held), 0);
	check(client, 109, 107, bytes);
	check(link, 109, 107, bytes);
	assert_true(((uint64_t *)(uintptr_t)client->lease_starts)[107 % 4] > 0);
	assert_true(((uint64_t *)(uintptr_t)link->lease_starts)[108 % 4] > 0);
	ez_message_release(&held);
	assert_int_equal(((uint64_t *)(uintptr_t)client->lease_starts)[107 % 4], 0);
	check(client, 109, 108, bytes / 107 * 108);
	ez_context_destroy(g.context);
}

/* Those that leave end their leases, which is no measurement; those who are late are blocked time.
 */
static void test_departures(void **state)
{
	struct graph_of_one g;
	struct peer peer;
	const struct ez_entry *publisher, *link;

	open_all(&g, state, true);
	peer_start(&peer, *state);
	peer_tell(&peer, "ok", "sub T");
	publisher = find(EZ_KIND_PUBLISHER, 0);
	for (uint64_t i = 0; i < 4; i++)
		send_number(g.publisher, i);
	assert_int_equal(publisher->blocked_ns, 0);
	assert_int_equal(ez_publish_bytes(g.publisher, "x", 1, SECOND_NS / 20), -ETIMEDOUT);
	assert_int_equal(publisher->blocked_since_ns, 0);
	/* The time-out begins before the wait does. */
	assert_in_range(publisher->blocked_ns, SECOND_NS / 40, 10 * SECOND_NS);
	assert_int_equal(publisher->messages, 4);
	/* The leaky one has dropped three unread. */
	assert_int_equal(find(EZ_KIND_CLIENT, 0)->drops, 3);
	assert_int_equal(find(EZ_KIND_CLIENT, 0)->frees, 3);
	/* Which comes first is left open: what was closed 20 s ago is used again. */
	link = find(EZ_KIND_LINK, 1);
	assert_non_null(link);
	if (link->peer_pid != (uint32_t)peer.pid)
		link = find(EZ_KIND_LINK, 0);
	assert_int_equal(link->peer_pid, peer.pid);
	assert_int_equal(link->transport, EZ_TRANSPORT_SHM);
	peer_kill(&peer);
	wait_channels(g.publisher, 1);
	assert_null(find(EZ_KIND_LINK, 1));
	send_number(g.publisher, 4);
	assert_int_equal(publisher->disconnect_frees, 4);
	ez_context_destroy(g.context);
}

int main(void)
{
#define GRAPH_TEST(name) cmocka_unit_test_setup_teardown(name, graph_setup, graph_teardown)
	const struct CMUnitTest tests[] = {
		GRAPH_TEST(test_identity),
		GRAPH_TEST(test_counters),
		GRAPH_TEST(test_departures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
