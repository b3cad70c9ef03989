/* SPDX-License-Identifier: MIT */
/* Large messages that go to sockets from the caller's memory: what is sent, and when it is free. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "frames_out.h"
#include "graph_fixture.h"

#define LARGE_BYTES ((size_t)24 << 20) /* more than two sockets' buffers hold */
#define FRAME_BYTES_MAX 256

ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);

/* A socket that takes so many bytes, and what it took; -1: a real one. */
static int fake_fd = -1;
static size_t room;
static uint8_t sent[FRAME_BYTES_MAX];
static size_t sent_bytes;
/* Whether a message was sent from there; both atomic. */
static const void *watched;
static int times_watched;

static ssize_t take(const struct msghdr *message)
{
	size_t before = sent_bytes;

	for (size_t i = 0; i < message->msg_iovlen; i++) {
		const struct iovec *part = &message->msg_iov[i];
		size_t n = part->iov_len < room ? part->iov_len : room;

		if (n)
			memcpy(sent + sent_bytes, part->iov_base, n);
		sent_bytes += n;
		room -= n;
	}
	if (sent_bytes > before)
		return (ssize_t)(sent_bytes - before);
	errno = EAGAIN;
	return -1;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
	const void *from = __atomic_load_n(&watched, __ATOMIC_ACQUIRE);

	if (fd == fake_fd)
		return take(message);
	for (size_t i = 0; from && i < message->msg_iovlen; i++)
		if (message->msg_iov[i].iov_base == from)
			__atomic_add_fetch(&times_watched, 1, __ATOMIC_RELAXED);
	return __real_sendmsg(fd, message, flags);
}

/* The frame of a message whose first `first` bytes a full socket takes, the caller's memory then.
 */
static size_t send_in_two(size_t first, const struct ez_outgoing *outgoing, uint8_t *memory,
			  size_t memory_bytes)
{
	struct ez_frames_out out = {0};
	uint8_t slot[FRAME_BYTES_MAX];
	size_t bytes;
	int err;

	sent_bytes = 0;
	assert_int_equal(ez_outgoing_size(outgoing, &bytes), 0);
	assert_true(ez_frames_out_fits(outgoing));
	ez_frames_out_add_pieces(&out, 5, outgoing, bytes);
	room = first;
	err = ez_frames_out_write(&out, fake_fd);
	if (err) {
		assert_int_equal(err, -EAGAIN);
		ez_outgoing_write(outgoing, 5, slot);
		ez_frames_out_move(&out, slot, bytes);
		memset(memory, 0xee, memory_bytes);
		room = sizeof(sent);
		err = ez_frames_out_write(&out, fake_fd);
	}
	assert_int_equal(err, 0);
	assert_int_equal(out.parts, 0);
	return bytes;
}

static void test_every_cut(void **state)
{
	uint8_t memory[11];
	const struct iovec pieces[] = {{memory, 2}, {NULL, 0}, {memory + 2, 1}};
	const struct iovec buffers[] = {{memory + 3, 7}, {NULL, 0}, {memory + 10, 1}};
	const struct ez_outgoing outgoing = {pieces, 3, buffers, 3};
	uint8_t expected[FRAME_BYTES_MAX] = {0x0d, 5};
	size_t bytes, first;

	(void)state;
	fake_fd = -2;
	for (first = 0, bytes = 1; first <= 17 + bytes; first++) {
		memcpy(memory, "abcdefghijk", sizeof(memory));
		ez_outgoing_write(&outgoing, 5, expected + 17);
		bytes = send_in_two(first, &outgoing, memory, sizeof(memory));
		expected[9] = (uint8_t)bytes;
		assert_int_equal(sent_bytes, 17 + bytes);
		assert_memory_equal(sent, expected, 17 + bytes);
	}
	assert_int_equal(bytes, 18 + 4 * 8 + sizeof(memory));
	fake_fd = -1;
}

static void test_too_many(void **state)
{
	struct iovec many[64] = {{NULL, 0}};
	struct ez_outgoing outgoing = {many, 1, many, 0};

	(void)state;
	while (ez_frames_out_fits(&outgoing))
		outgoing.n_buffers++;
	assert_in_range(outgoing.n_buffers, 16, 2 * EZ_GATHER_MAX);
	outgoing.n_buffers = 0;
	while (ez_frames_out_fits(&outgoing))
		outgoing.n_pieces++;
	assert_int_equal(outgoing.n_pieces, 2 * EZ_GATHER_MAX);
}

struct fixture {
	struct ez_context *context;
	struct ez_publisher *publisher;
	uint8_t *memory;
	struct peer peers[2];
};

static void open_fixture(struct fixture *f, const struct graph *graph, bool tcp)
{
	const struct ez_publisher_options options = {
		.num_buffers = 2, .buffer_bytes = LARGE_BYTES + 4096, .force_tcp = tcp};

	f->memory = malloc(LARGE_BYTES);
	assert_non_null(f->memory);
	assert_int_equal(ez_context_create(graph->address, &f->context), 0);
	assert_int_equal(ez_publisher_create(f->context, "T", &options, &f->publisher), 0);
	for (int i = 0; i < 2; i++) {
		peer_start(&f->peers[i], graph);
		peer_tell(&f->peers[i], "ok", "sub T");
	}
	wait_channels(f->publisher, 3);
	__atomic_store_n(&times_watched, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&watched, f->memory, __ATOMIC_RELEASE);
}

static void close_fixture(struct fixture *f)
{
	__atomic_store_n(&watched, NULL, __ATOMIC_RELEASE);
	for (int i = 0; i < 2; i++)
		peer_stop(&f->peers[i]);
	ez_context_destroy(f->context);
	free(f->memory);
}

/* Other bytes each time; returns their sum. */
static uint64_t fill(struct fixture *f, unsigned int seed)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < LARGE_BYTES; i++)
		sum += f->memory[i] = (uint8_t)((i * 31 + seed) >> 3);
	return sum;
}

static void expect_sum(struct fixture *f, uint64_t sum)
{
	char expected[64];

	snprintf(expected, sizeof(expected), "saw %ju\n", (uintmax_t)sum);
	for (int i = 0; i < 2; i++) {
		peer_tell(&f->peers[i], "took", "take");
		peer_tell(&f->peers[i], expected, "look");
		peer_tell(&f->peers[i], "released", "release");
	}
}

/* After publish the memory is the caller's, also where one receiver has taken only a part. */
static void test_full_socket(void **state)
{
	struct fixture f;
	uint64_t sum;

	open_fixture(&f, *state, true);
	for (unsigned int round = 0; round < 3; round++) {
		sum = fill(&f, round);
		kill(f.peers[1].pid, SIGSTOP);
		assert_int_equal(
			ez_publish_bytes(f.publisher, f.memory, LARGE_BYTES, SECOND_NS / 20), 0);
		memset(f.memory, 0xee, LARGE_BYTES);
		kill(f.peers[1].pid, SIGCONT);
		expect_sum(&f, sum);
	}
	assert_true(times_watched >= 6);
	close_fixture(&f);
}

static void test_ways(void **state)
{
	const uint64_t shape[] = {LARGE_BYTES};
	struct iovec many[40];
	struct fixture f;
	uint64_t sum;
	size_t i;

	open_fixture(&f, *state, true);
	sum = fill(&f, 9);
	for (i = 0; i < 40; i++)
		many[i] = (struct iovec){f.memory + i * 4096, 4096};
	many[39].iov_len = LARGE_BYTES - 39 * 4096;
	assert_int_equal(ez_publish_bytesv(f.publisher, many, 40, PATIENCE_NS), 0);
	expect_sum(&f, sum);
	assert_int_equal(times_watched, 0);
	many[7].iov_len = LARGE_BYTES - (size_t)7 * 4096;
	assert_int_equal(ez_publish_bytesv(f.publisher, many, 8, PATIENCE_NS), 0);
	expect_sum(&f, sum);
	assert_int_equal(times_watched, 2);
	assert_int_equal(ez_publish_array(f.publisher, "u1", shape, 1, f.memory, PATIENCE_NS), 0);
	expect_sum(&f, sum);
	assert_true(times_watched >= 4);
	close_fixture(&f);
}

/* Where somebody reads the slot the message has to be there. */
static void test_slot_is_read(void **state)
{
	const struct ez_subscriber_options options = {0};
	struct ez_subscriber *own;
	struct ez_message message;
	struct fixture f;
	uint64_t sum;

	open_fixture(&f, *state, false);
	sum = fill(&f, 3);
	assert_int_equal(ez_publish_bytes(f.publisher, f.memory, LARGE_BYTES, PATIENCE_NS), 0);
	expect_sum(&f, sum);
	for (int i = 0; i < 2; i++)
		peer_tell(&f.peers[i], "ok", "unsub 0");
	assert_int_equal(ez_subscriber_create(f.context, "T", &options, &own), 0);
	assert_int_equal(ez_publish_bytes(f.publisher, f.memory, LARGE_BYTES, PATIENCE_NS), 0);
	assert_int_equal(ez_receive(own, PATIENCE_NS, &message), 0);
	assert_int_equal(message.bytes, LARGE_BYTES);
	assert_memory_equal(message.data, f.memory, LARGE_BYTES);
	ez_message_release(&message);
	assert_int_equal(times_watched, 0);
	close_fixture(&f);
}

int main(void)
{
#define GRAPH_TEST(name) cmocka_unit_test_setup_teardown(name, graph_setup, graph_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_cut), cmocka_unit_test(test_too_many),
		GRAPH_TEST(test_full_socket),	  GRAPH_TEST(test_ways),
		GRAPH_TEST(test_slot_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
