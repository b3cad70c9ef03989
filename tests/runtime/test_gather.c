/* SPDX-License-Identifier: MIT */
/*
 * Frames and acknowledgements that wait for the next ones: which do, and that none does for long.
 * That a flow is one depends on the machine, so it is said here, not timed.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "channel.h"
#include "clock.h"
#include "graph_fixture.h"
#include "publisher.h"
#include "subscriber.h"

#define ROUNDS 20

struct side {
	struct ez_context *context;
	struct ez_publisher *publisher;
	struct peer peer;
};

static void open_publisher(struct side *side, void **state, uint32_t num_buffers, bool tcp)
{
	const struct ez_publisher_options options = {
		.num_buffers = num_buffers, .buffer_bytes = 1024, .force_tcp = tcp};
	const struct graph *graph = *state;

	assert_int_equal(ez_context_create(graph->address, &side->context), 0);
	assert_int_equal(ez_publisher_create(side->context, "T", &options, &side->publisher), 0);
	peer_start(&side->peer, graph);
	peer_tell(&side->peer, "ok", "sub T");
	wait_channels(side->publisher, 2);
}

static void close_publisher(struct side *side)
{
	peer_stop(&side->peer);
	ez_context_destroy(side->context);
}

/* The next message is one of many that come quickly. */
static void say_flow(struct ez_publisher *publisher)
{
	pthread_mutex_lock(&publisher->lock);
	publisher->quick = publisher->quick_needed;
	publisher->left_ns = 0;
	pthread_mutex_unlock(&publisher->lock);
}

static uint32_t held(struct ez_publisher *publisher)
{
	uint32_t n;

	pthread_mutex_lock(&publisher->lock);
	n = publisher->gather.held;
	pthread_mutex_unlock(&publisher->lock);
	return n;
}

static uint32_t needed(struct ez_publisher *publisher)
{
	uint32_t n;

	pthread_mutex_lock(&publisher->lock);
	n = publisher->quick_needed;
	pthread_mutex_unlock(&publisher->lock);
	return n;
}

static void publish(struct ez_publisher *publisher, size_t bytes)
{
	static const char content[1 << 20];

	assert_int_equal(ez_publish_bytes(publisher, content, bytes, PATIENCE_NS), 0);
}

/* No buffer is leased: none has to be waited for, which would look like more of the same burst. */
static void wait_free(struct ez_publisher *publisher)
{
	ez_mono_ns_t end_ns = ez_clock_deadline_ns(PATIENCE_NS / EZ_NS_PER_MS);
	uint64_t open;

	do {
		nap_ms(1);
		pthread_mutex_lock(&publisher->lock);
		open = publisher->slots.open;
		pthread_mutex_unlock(&publisher->lock);
	} while (open && ez_clock_mono_ns() < end_ns);
	assert_int_equal(open, 0);
}

/* Bursts of 16 with a pause before each: every message is written before publish returns. */
static void test_alone(void **state)
{
	struct side side;

	open_publisher(&side, state, 32, false);
	for (int round = 0; round < ROUNDS; round++) {
		wait_free(side.publisher);
		for (int i = 0; i < 16; i++) {
			publish(side.publisher, 8);
			assert_int_equal(held(side.publisher), 0);
		}
		peer_tell(&side.peer, "got 16", "recv 16");
	}
	close_publisher(&side);
}

/* Nobody comes back: it is sent all the same, and the next burst must be longer to be a flow. */
static void check_backstop(void **state, bool tcp)
{
	uint32_t before, most = 0, n;
	struct side side;

	open_publisher(&side, state, 32, tcp);
	for (int round = 0; round < ROUNDS; round++) {
		before = needed(side.publisher);
		say_flow(side.publisher);
		publish(side.publisher, 8);
		n = held(side.publisher);
		most = n > most ? n : most;
		peer_tell(&side.peer, "got 1", "recv 1");
		assert_int_equal(held(side.publisher), 0);
		n = needed(side.publisher);
		assert_true(n == before || n == 2 * before || before > 8192);
	}
	assert_int_equal(most, 1);
	assert_true(needed(side.publisher) > 16);
	close_publisher(&side);
}

static void test_backstop_shm(void **state)
{
	check_backstop(state, false);
}

static void test_backstop_tcp(void **state)
{
	check_backstop(state, true);
}

/* Whoever has few buffers needs each at once. */
static void test_few_buffers(void **state)
{
	struct side side;

	for (uint32_t n = 1; n <= 3; n++) {
		assert_int_equal(ez_gather_limit(n), 0);
		open_publisher(&side, state, n, false);
		for (int round = 0; round < ROUNDS; round++) {
			say_flow(side.publisher);
			publish(side.publisher, 8);
			assert_int_equal(held(side.publisher), 0);
			peer_tell(&side.peer, "got 1", "recv 1");
		}
		close_publisher(&side);
	}
	assert_int_equal(ez_gather_limit(32), 8);
	assert_int_equal(ez_gather_limit(1000), EZ_GATHER_MAX);
}

static bool any_shared(struct ez_publisher *publisher)
{
	const struct ez_link *link;
	bool any = false;

	ez_io_take_seat(publisher->context->io);
	for (link = publisher->links; link; link = link->next)
		any = any || link->stream.source.shared || link->stream.source.left;
	ez_io_leave_seat(publisher->context->io);
	return any;
}

/* So many that it has to wait. */
static void fill(struct side *side, uint32_t num_buffers)
{
	peer_send(&side->peer, "recv %u", 3 * num_buffers);
	for (uint32_t i = 0; i < 3 * num_buffers; i++)
		publish(side->publisher, 8);
	peer_expect(&side->peer, "got");
}

/* Whoever has a descriptor is not inside: nothing waits for that thread, neither way. */
static void check_descriptor(void **state, bool tcp)
{
	struct side side;
	struct peer other;
	int tries = 0;

	open_publisher(&side, state, 32, tcp);
	/* It has waited for its sockets, so they are its own first. */
	while (!any_shared(side.publisher)) {
		assert_true(tries++ < 1000);
		fill(&side, 32);
	}
	say_flow(side.publisher);
	publish(side.publisher, 8);
	assert_true(ez_publisher_fd(side.publisher) >= 0);
	assert_int_equal(held(side.publisher), 0);
	peer_tell(&side.peer, "got 1", "recv 1");
	for (int round = 0; round < ROUNDS; round++) {
		say_flow(side.publisher);
		publish(side.publisher, 8);
		assert_int_equal(held(side.publisher), 0);
		peer_tell(&side.peer, "got 1", "recv 1");
	}
	/* Nor does a new channel bring that back. */
	peer_start(&other, *state);
	peer_tell(&other, "ok", "sub T");
	peer_stop(&other);
	wait_channels(side.publisher, 2);
	fill(&side, 32);
	assert_false(any_shared(side.publisher));
	close_publisher(&side);
}

static void test_descriptor(void **state)
{
	check_descriptor(state, false);
	check_descriptor(state, true);
}

/* What was published arrives, also if the publisher goes at once. */
static void test_end(void **state)
{
	struct side side;

	for (int round = 0; round < ROUNDS; round++) {
		open_publisher(&side, state, 32, round % 2);
		say_flow(side.publisher);
		publish(side.publisher, 8);
		ez_publisher_destroy(side.publisher);
		peer_tell(&side.peer, "got 1", "recv 1");
		close_publisher(&side);
	}
}

/* And if its process ends without a word. */
static void check_exit(void **state, const char *transport)
{
	const struct graph *graph = *state;
	struct ez_context *context;
	struct ez_subscriber *subscriber;
	struct ez_message message;
	struct peer peer;

	assert_int_equal(ez_context_create(graph->address, &context), 0);
	assert_int_equal(ez_subscriber_create(context, "T", NULL, &subscriber), 0);
	peer_start(&peer, graph);
	peer_tell(&peer, "ok", "pub T 32 %s", transport);
	peer_send(&peer, "leave 3000 8");
	for (uint64_t i = 0; i < 3000; i++) {
		assert_int_equal(ez_receive(subscriber, PATIENCE_NS, &message), 0);
		assert_int_equal(message.id, i);
		ez_message_release(&message);
	}
	assert_int_equal(waitpid(peer.pid, NULL, 0), peer.pid);
	fclose(peer.to);
	fclose(peer.from);
	ez_context_destroy(context);
}

static void test_exit(void **state)
{
	for (int round = 0; round < ROUNDS / 2; round++)
		check_exit(state, round % 2 ? "tcp" : "shm");
}

/* Messages that don't fit behind ones that wait. */
static void test_resize(void **state)
{
	static const unsigned int bytes[] = {8, 100, 5000, 7, 30000, 30000, 9, 500000};
	struct side side;

	for (int tcp = 0; tcp < 2; tcp++) {
		open_publisher(&side, state, 32, tcp);
		for (size_t i = 0; i < 32; i++) {
			say_flow(side.publisher);
			publish(side.publisher, bytes[i % 8]);
		}
		peer_tell(&side.peer, "sum 32 2260496", "sum 32");
		close_publisher(&side);
	}
}

/* Both ends are paused, and answer SYNC, while something waits. */
static void test_sync(void **state)
{
	struct side side;

	open_publisher(&side, state, 32, false);
	say_flow(side.publisher);
	publish(side.publisher, 8);
	peer_send(&side.peer, "recv 1");
	assert_int_equal(ez_sync(side.context, PATIENCE_NS), 0);
	peer_expect(&side.peer, "got 1");
	assert_int_equal(ez_resume(side.context), 0);
	close_publisher(&side);
}

/* ---- acknowledgements ---- */

struct other_side {
	struct ez_context *context;
	struct ez_subscriber *subscriber;
	struct ez_message message;
	struct peer peer;
};

/* They come one by one: a message that is taken before the next one is here has none behind it. */
static void wait_queued(struct ez_subscriber *subscriber, size_t n)
{
	ez_mono_ns_t end_ns = ez_clock_deadline_ns(PATIENCE_NS / EZ_NS_PER_MS);
	size_t queued;

	do {
		nap_ms(1);
		pthread_mutex_lock(&subscriber->lock);
		queued = subscriber->taps ? subscriber->taps->queued : 0;
		pthread_mutex_unlock(&subscriber->lock);
	} while (queued < n && ez_clock_mono_ns() < end_ns);
	assert_int_equal(queued, n);
}

/* The peer's 8 buffers are all taken; the first message is here. */
static void take_first(struct other_side *side, void **state)
{
	const struct graph *graph = *state;

	assert_int_equal(ez_context_create(graph->address, &side->context), 0);
	assert_int_equal(ez_subscriber_create(side->context, "T", NULL, &side->subscriber), 0);
	peer_start(&side->peer, graph);
	peer_tell(&side->peer, "ok", "pub T 8");
	peer_tell(&side->peer, "sent 8", "send 8 8");
	wait_queued(side->subscriber, 8);
	assert_int_equal(ez_receive(side->subscriber, PATIENCE_NS, &side->message), 0);
	peer_tell(&side->peer, "error -110", "try 8 20");
}

static struct ez_channel *channel_of(const struct ez_message *message)
{
	return ((struct ez_item *)message->internal[0])->tap->channel;
}

/* As if this thread had done with it in no time. */
static void acknowledge_soon(struct ez_channel *channel, uint64_t id)
{
	pthread_mutex_lock(&channel->lock);
	ez_channel_acknowledge_soon_locked(channel, id, ez_clock_mono_ns());
	assert_int_equal(channel->gather.held, 1);
	assert_int_equal(channel->acks.len, 9);
	pthread_mutex_unlock(&channel->lock);
}

static void test_ack_backstop(void **state)
{
	struct other_side side;

	take_first(&side, state);
	acknowledge_soon(channel_of(&side.message), side.message.id);
	/* This thread stays away, and the publisher gets its buffer. */
	peer_tell(&side.peer, "sent 1", "try 8 20000");
	/* Known already. */
	ez_message_release(&side.message);
	for (uint64_t i = 1; i < 9; i++) {
		assert_int_equal(ez_receive(side.subscriber, PATIENCE_NS, &side.message), 0);
		assert_int_equal(side.message.id, i);
		ez_message_release(&side.message);
	}
	peer_tell(&side.peer, "sent 8", "send 8 8");
	peer_stop(&side.peer);
	ez_context_destroy(side.context);
}

/* With the release of the last one that is there everything leaves. */
static void test_ack_last(void **state)
{
	struct ez_channel *channel;
	struct other_side side;

	take_first(&side, state);
	channel = ez_channel_ref(channel_of(&side.message));
	for (uint64_t i = 0; i < 8; i++) {
		if (i)
			assert_int_equal(ez_receive(side.subscriber, 0, &side.message), 0);
		assert_int_equal(((struct ez_item *)side.message.internal[0])->followed, i < 7);
		ez_message_release(&side.message);
	}
	pthread_mutex_lock(&channel->lock);
	assert_int_equal(channel->gather.held, 0);
	assert_int_equal(channel->acks.len, 0);
	pthread_mutex_unlock(&channel->lock);
	ez_channel_unref(channel);
	peer_tell(&side.peer, "sent 8", "send 8 8");
	peer_stop(&side.peer);
	ez_context_destroy(side.context);
}

/* A subscriber that goes takes nothing with it: the publisher has all of its buffers again. */
static void test_ack_end(void **state)
{
	struct other_side side;

	take_first(&side, state);
	acknowledge_soon(channel_of(&side.message), side.message.id);
	ez_message_release(&side.message);
	ez_subscriber_destroy(side.subscriber);
	peer_tell(&side.peer, "sent 8", "send 8 8");
	peer_stop(&side.peer);
	ez_context_destroy(side.context);
}

/* ---- frames ---- */

static size_t read_all(int fd, uint8_t *to)
{
	size_t got = 0;
	ssize_t n;

	while ((n = recv(fd, to + got, 7000, MSG_DONTWAIT)) > 0)
		got += (size_t)n;
	return got;
}

/* Frames of both kinds through a socket that takes them in pieces. */
static void test_frames(void **state)
{
	static uint8_t body[200000], got[16 * sizeof(body)];
	struct ez_frames_out out = {0};
	size_t total = 0, received = 0;
	int fds[2], err, times = 0;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
	memset(body, 0xee, sizeof(body));
	for (uint64_t i = 0; i < 4; i++) {
		ez_frames_out_add_shm(&out, i, "psm_a");
		ez_frames_out_add_shm(&out, i, "psm_bc");
		assert_true(ez_frames_out_have_room(&out));
		ez_frames_out_add_tcp(&out, i, body, sizeof(body) - i);
		total += 17 + 5 + 17 + 6 + 17 + sizeof(body) - i;
	}
	while ((err = ez_frames_out_write(&out, fds[0])) == -EAGAIN) {
		received += read_all(fds[1], got + received);
		times++;
	}
	received += read_all(fds[1], got + received);
	assert_int_equal(err, 0);
	assert_true(times > 1);
	assert_int_equal(received, total);
	for (uint64_t i = 0, at = 0; i < 4; i++) {
		assert_memory_equal(got + at + 17, "psm_a", 5);
		assert_memory_equal(got + at + 22 + 17, "psm_bc", 6);
		assert_int_equal(got[at + 1], i);
		assert_int_equal(got[at + 45 + 1], i);
		assert_memory_equal(got + at + 45 + 17, body, sizeof(body) - i);
		at += 45 + 17 + sizeof(body) - i;
	}
	assert_int_equal(out.parts, 0);
	for (total = 0; ez_frames_out_have_room(&out); total++)
		ez_frames_out_add_tcp(&out, total, body, 1);
	assert_int_equal(total, EZ_GATHER_MAX);
	close(fds[1]);
	assert_int_equal(ez_frames_out_write(&out, fds[0]), -EPIPE);
	close(fds[0]);
}

int main(void)
{
#define GRAPH_TEST(name) cmocka_unit_test_setup_teardown(name, graph_setup, graph_teardown)
	const struct CMUnitTest tests[] = {
		GRAPH_TEST(test_alone),	       GRAPH_TEST(test_backstop_shm),
		GRAPH_TEST(test_backstop_tcp), GRAPH_TEST(test_few_buffers),
		GRAPH_TEST(test_descriptor),   GRAPH_TEST(test_end),
		GRAPH_TEST(test_exit),	       GRAPH_TEST(test_resize),
		GRAPH_TEST(test_sync),	       GRAPH_TEST(test_ack_backstop),
		GRAPH_TEST(test_ack_last),     GRAPH_TEST(test_ack_end),
		cmocka_unit_test(test_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
