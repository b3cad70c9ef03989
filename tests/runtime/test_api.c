/* SPDX-License-Identifier: MIT */
/* Slots that the caller fills, pieces, the descriptor to poll, deadlines, counting only. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "graph_fixture.h"

#define SHORT_NS (SECOND_NS / 20)
#define BUFFERS 4

/* Two contexts: what one of them publishes reaches the other by shm or tcp. */
struct fixture {
	struct graph *graph;
	struct ez_context *context;
	struct ez_context *other;
	struct ez_publisher *publisher;
	struct ez_subscriber *subscriber;
};

static void open_all(struct fixture *f, void **state, enum ez_via via)
{
	const struct ez_publisher_options options = {
		.num_buffers = BUFFERS,
		.buffer_bytes = 1024,
		.force_tcp = via == EZ_VIA_TCP,
	};

	f->graph = *state;
	assert_int_equal(ez_context_create(f->graph->address, &f->context), 0);
	assert_int_equal(ez_context_create(f->graph->address, &f->other), 0);
	assert_int_equal(ez_publisher_create(f->context, "T", &options, &f->publisher), 0);
	assert_int_equal(ez_subscriber_create(via == EZ_VIA_LOCAL ? f->context : f->other, "T",
					      NULL, &f->subscriber),
			 0);
}

static void close_all(struct fixture *f)
{
	ez_context_destroy(f->other);
	ez_context_destroy(f->context);
}

static void fill(uint8_t *data, size_t bytes, unsigned int seed)
{
	for (size_t i = 0; i < bytes; i++)
		data[i] = (uint8_t)(seed + i * 7);
}

static void receive_filled(struct fixture *f, enum ez_via via, size_t bytes, unsigned int seed,
			   uint64_t id)
{
	struct ez_message message;
	uint8_t *expected = malloc(bytes + 1);

	assert_non_null(expected);
	fill(expected, bytes, seed);
	assert_int_equal(ez_receive(f->subscriber, PATIENCE_NS, &message), 0);
	assert_int_equal(message.type, EZ_TYPE_BYTES);
	assert_int_equal(message.via, via);
	assert_int_equal(message.id, id);
	assert_int_equal(message.bytes, bytes);
	assert_memory_equal(message.data, expected, bytes);
	assert_int_equal((uintptr_t)message.data % 64, 0);
	ez_message_release(&message);
	free(expected);
}

/* Sizes around the turns of the encoding; the last ones need a larger segment. */
static void run_slots(void **state, enum ez_via via)
{
	static const size_t sizes[] = {0, 1, 255, 256, 900, 70000, 300000};
	struct fixture f;
	struct ez_slot slot;
	uint64_t id = 0, messages, bytes;

	open_all(&f, state, via);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(ez_publish_begin(f.publisher, sizes[i] + 10, PATIENCE_NS, &slot),
				 0);
		assert_int_equal(slot.bytes, sizes[i] + 10);
		assert_int_equal((uintptr_t)slot.data % 64, 0);
		fill(slot.data, slot.bytes, (unsigned int)i);
		assert_int_equal(ez_publish_commit(&slot, slot.bytes + 1), -EINVAL);
		assert_int_equal(ez_publish_commit(&slot, sizes[i]), 0);
		assert_null(slot.publisher);
		receive_filled(&f, via, sizes[i], (unsigned int)i, id++);
		/* An aborted one leaves no trace. */
		assert_int_equal(ez_publish_begin(f.publisher, 5, PATIENCE_NS, &slot), 0);
		memset(slot.data, 'x', 5);
		ez_publish_abort(&slot);
		ez_publish_abort(&slot);
		assert_int_equal(ez_publish_commit(&slot, 0), -EINVAL);
	}
	ez_publisher_totals(f.publisher, &messages, &bytes);
	assert_int_equal(messages, id);
	close_all(&f);
}

static void test_slots_local(void **state)
{
	run_slots(state, EZ_VIA_LOCAL);
}

static void test_slots_shm(void **state)
{
	run_slots(state, EZ_VIA_SHM);
}

static void test_slots_tcp(void **state)
{
	run_slots(state, EZ_VIA_TCP);
}

static void receive_array(struct fixture *f, enum ez_via via, const char *dtype, double sum)
{
	struct ez_message message;
	double got = 0;

	assert_int_equal(ez_receive(f->subscriber, PATIENCE_NS, &message), 0);
	assert_int_equal(message.type, EZ_TYPE_ARRAY);
	assert_int_equal(message.via, via);
	assert_string_equal(message.dtype, dtype);
	assert_int_equal((uintptr_t)message.data % 64, 0);
	for (size_t i = 0; i < message.bytes / sizeof(double); i++)
		got += ((const double *)message.data)[i];
	assert_true(got == sum);
	ez_message_release(&message);
}

static void run_arrays(void **state, enum ez_via via)
{
	const uint64_t shapes[][3] = {{4, 1, 1}, {2, 3, 1}, {17, 4, 3}, {300, 20, 1}};
	struct fixture f;
	struct ez_slot slot;
	double sum;

	open_all(&f, state, via);
	for (size_t i = 0; i < 4; i++) {
		size_t n = (size_t)(shapes[i][0] * shapes[i][1] * shapes[i][2]);
		double *copy;

		assert_int_equal(ez_publish_begin_array(f.publisher, "f8", shapes[i], 1 + i % 3,
							PATIENCE_NS, &slot),
				 0);
		n = slot.bytes / sizeof(double);
		sum = 0;
		for (size_t k = 0; k < n; k++)
			sum += ((double *)slot.data)[k] = (double)(k + i);
		assert_int_equal(ez_publish_commit(&slot, slot.bytes - 8), -EINVAL);
		copy = malloc(slot.bytes);
		assert_non_null(copy);
		memcpy(copy, slot.data, slot.bytes);
		assert_int_equal(ez_publish_commit(&slot, slot.bytes), 0);
		receive_array(&f, via, "<f8", sum);
		assert_int_equal(ez_publish_array(f.publisher, "f8", shapes[i], 1 + i % 3, copy,
						  PATIENCE_NS),
				 0);
		receive_array(&f, via, "<f8", sum);
		free(copy);
	}
	assert_int_equal(
		ez_publish_begin_array(f.publisher, "q9", shapes[0], 1, PATIENCE_NS, &slot),
		-EINVAL);
	close_all(&f);
}

static void test_arrays_local(void **state)
{
	run_arrays(state, EZ_VIA_LOCAL);
}

static void test_arrays_shm(void **state)
{
	run_arrays(state, EZ_VIA_SHM);
}

static void test_arrays_tcp(void **state)
{
	run_arrays(state, EZ_VIA_TCP);
}

struct pinned {
	struct ez_publisher *publisher;
	int result;
};

static void *publish_elsewhere(void *argument)
{
	struct pinned *pinned = argument;

	pinned->result = ez_publish_bytes(pinned->publisher, "later", 5, PATIENCE_NS);
	return NULL;
}

/* While a slot is out: other threads wait, SYNC waits, no buffer is taken for granted. */
static void test_slot_turn(void **state)
{
	struct fixture f;
	struct pinned pinned;
	struct ez_message message;
	struct ez_slot slot;
	pthread_t thread;

	open_all(&f, state, EZ_VIA_LOCAL);
	pinned.publisher = f.publisher;
	assert_int_equal(ez_publish_begin(f.publisher, 5, PATIENCE_NS, &slot), 0);
	assert_int_equal(ez_publish_bytes(f.publisher, "x", 1, SHORT_NS), -ETIMEDOUT);
	assert_int_equal(ez_sync(f.context, SHORT_NS), -ETIMEDOUT);
	assert_int_equal(pthread_create(&thread, NULL, publish_elsewhere, &pinned), 0);
	memcpy(slot.data, "first", 5);
	assert_int_equal(ez_publish_commit(&slot, 5), 0);
	assert_int_equal(ez_receive(f.subscriber, PATIENCE_NS, &message), 0);
	assert_memory_equal(message.data, "first", 5);
	ez_message_release(&message);
	/* SYNC has paused it. */
	assert_int_equal(ez_resume(f.context), 0);
	assert_int_equal(ez_receive(f.subscriber, PATIENCE_NS, &message), 0);
	assert_memory_equal(message.data, "later", 5);
	ez_message_release(&message);
	pthread_join(thread, NULL);
	assert_int_equal(pinned.result, 0);
	for (int i = 0; i < BUFFERS; i++)
		assert_int_equal(ez_publish_bytes(f.publisher, "x", 1, PATIENCE_NS), 0);
	assert_int_equal(ez_publish_begin(f.publisher, 5, SHORT_NS, &slot), -ETIMEDOUT);
	assert_int_equal(ez_receive(f.subscriber, PATIENCE_NS, &message), 0);
	ez_message_release(&message);
	assert_int_equal(ez_publish_begin(f.publisher, 5, PATIENCE_NS, &slot), 0);
	ez_publish_abort(&slot);
	close_all(&f);
}

static void test_pieces(void **state)
{
	struct fixture f;
	struct iovec pieces[40];
	uint8_t data[40 * 11];

	open_all(&f, state, EZ_VIA_SHM);
	fill(data, sizeof(data), 3);
	for (size_t i = 0; i < 40; i++)
		pieces[i] = (struct iovec){data + i * 11, 11};
	for (size_t n = 0; n <= 40; n += 10) {
		struct ez_message message;

		assert_int_equal(ez_publish_bytesv(f.publisher, pieces, n, PATIENCE_NS), 0);
		assert_int_equal(ez_receive(f.subscriber, PATIENCE_NS, &message), 0);
		assert_int_equal(message.type, EZ_TYPE_BYTES);
		assert_int_equal(message.bytes, n * 11);
		assert_memory_equal(message.data, data, n * 11);
		ez_message_release(&message);
	}
	pieces[1].iov_base = NULL;
	assert_int_equal(ez_publish_bytesv(f.publisher, pieces, 2, PATIENCE_NS), -EINVAL);
	pieces[1] = (struct iovec){data, SIZE_MAX - 4};
	assert_int_equal(ez_publish_bytesv(f.publisher, pieces, 2, PATIENCE_NS), -EMSGSIZE);
	close_all(&f);
}

static bool readable(int fd, int timeout_ms)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

	return poll(&poll_fd, 1, timeout_ms) == 1;
}

#define PATIENCE_MS 20000

/* Level: readable exactly while there is something. */
static void test_fd_level(void **state)
{
	struct fixture f;
	struct ez_message message;
	int fd;

	open_all(&f, state, EZ_VIA_SHM);
	send_number(f.publisher, 0);
	fd = ez_subscriber_fd(f.subscriber);
	assert_true(fd >= 0);
	assert_int_equal(ez_subscriber_fd(f.subscriber), fd);
	assert_true(readable(fd, PATIENCE_MS));
	send_number(f.publisher, 1);
	receive_number(f.subscriber, 0);
	assert_true(readable(fd, PATIENCE_MS));
	receive_number(f.subscriber, 1);
	assert_false(readable(fd, 20));
	assert_int_equal(ez_receive(f.subscriber, 0, &message), -ETIMEDOUT);
	/* The server's end is something to tell. */
	graph_end_server(f.graph);
	assert_true(readable(fd, PATIENCE_MS));
	assert_int_equal(ez_receive(f.subscriber, 0, &message), -ECONNRESET);
	assert_true(readable(fd, 0));
	close_all(&f);
}

/* Edge: one for each time that the queue was empty, so a loop that empties it misses nothing. */
static void test_fd_edge(void **state)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};
	struct fixture f;
	struct ez_message message;
	uint64_t got = 0, value;
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);

	open_all(&f, state, EZ_VIA_SHM);
	assert_int_equal(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, ez_subscriber_fd(f.subscriber), &event),
			 0);
	for (uint64_t sent = 0; sent < 200;) {
		for (uint64_t i = 0; i <= sent % BUFFERS; i++)
			send_number(f.publisher, sent++);
		while (got < sent) {
			assert_int_equal(epoll_wait(epoll_fd, &event, 1, PATIENCE_MS), 1);
			while (!ez_receive(f.subscriber, 0, &message)) {
				memcpy(&value, message.data, sizeof(value));
				assert_int_equal(value, got++);
				ez_message_release(&message);
			}
		}
	}
	assert_int_equal(epoll_wait(epoll_fd, &event, 1, 20), 0);
	close(epoll_fd);
	close_all(&f);
}

static void ignore(const struct ez_message *message, void *user)
{
	(void)message;
	(void)user;
}

static void test_fd_of_callback(void **state)
{
	const struct ez_subscriber_options options = {.callback = ignore};
	struct ez_subscriber *subscriber;
	struct fixture f;

	open_all(&f, state, EZ_VIA_LOCAL);
	assert_int_equal(ez_subscriber_create(f.context, "T", &options, &subscriber), 0);
	assert_int_equal(ez_subscriber_fd(subscriber), -EINVAL);
	close_all(&f);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * (uint64_t)SECOND_NS + (uint64_t)t.tv_nsec;
}

static void test_until(void **state)
{
	struct fixture f;
	struct ez_message message;
	uint64_t deadline_ns = now_ns() + (uint64_t)SHORT_NS;

	open_all(&f, state, EZ_VIA_LOCAL);
	assert_int_equal(ez_receive_until(f.subscriber, deadline_ns, &message), -ETIMEDOUT);
	assert_true(now_ns() >= deadline_ns);
	assert_int_equal(ez_receive_until(f.subscriber, 0, &message), -ETIMEDOUT);
	send_number(f.publisher, 0);
	/* What is there counts also after the deadline. */
	assert_int_equal(ez_receive_until(f.subscriber, deadline_ns, &message), 0);
	ez_message_release(&message);
	close_all(&f);
}

static void test_count_only(void **state)
{
	const struct ez_subscriber_options options = {.count_only = true};
	struct ez_subscriber *subscriber;
	struct ez_message message;
	struct fixture f;

	open_all(&f, state, EZ_VIA_LOCAL);
	assert_int_equal(ez_subscriber_create(f.other, "T", &options, &subscriber), 0);
	send_number(f.publisher, 0);
	assert_int_equal(ez_receive(subscriber, PATIENCE_NS, &message), 0);
	assert_int_equal(message.type, EZ_TYPE_OTHER);
	assert_null(message.data);
	assert_int_equal(message.num_buffers, 0);
	assert_true(message.total_bytes > 26 + 8);
	assert_string_equal(message.topic, "T");
	ez_message_release(&message);
	receive_number(f.subscriber, 0);
	close_all(&f);
}

#define THREADS 4
#define MESSAGES 4001

struct crowd {
	struct ez_subscriber *subscriber;
	uint8_t seen[MESSAGES]; /* atomic */
	uint32_t taken;		/* atomic */
	uint32_t ended;		/* atomic: threads that were told of the end */
};

static void *take_until_closed(void *argument)
{
	struct crowd *crowd = argument;
	struct ez_message message;
	uint64_t number;
	int err;

	while (!(err = ez_receive(crowd->subscriber, EZ_FOREVER, &message))) {
		memcpy(&number, message.data, sizeof(number));
		__atomic_add_fetch(&crowd->seen[number], 1, __ATOMIC_RELAXED);
		ez_message_release(&message);
		__atomic_add_fetch(&crowd->taken, 1, __ATOMIC_RELAXED);
	}
	__atomic_add_fetch(&crowd->ended, err == -EPIPE, __ATOMIC_RELAXED);
	return NULL;
}

static void run_crowd(void **state, enum ez_via via)
{
	struct crowd *crowd = calloc(1, sizeof(*crowd));
	pthread_t threads[THREADS];
	struct fixture f;
	int tries = 0;

	assert_non_null(crowd);
	open_all(&f, state, via);
	crowd->subscriber = f.subscriber;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_until_closed, crowd), 0);
	for (uint64_t i = 0; i < MESSAGES; i++) {
		send_number(f.publisher, i);
		if (i % 1000 == 0)
			nap_ms(20); /* until all wait again */
	}
	while (__atomic_load_n(&crowd->taken, __ATOMIC_RELAXED) < MESSAGES && tries++ < 2000)
		nap_ms(10);
	nap_ms(20); /* until all wait once more */
	ez_subscriber_destroy(f.subscriber);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(crowd->ended, THREADS);
	for (int i = 0; i < MESSAGES; i++)
		assert_int_equal(crowd->seen[i], 1);
	free(crowd);
	close_all(&f);
}

/* Several threads wait for one subscriber: each message to one of them, the end to all. */
static void test_crowd_shm(void **state)
{
	run_crowd(state, EZ_VIA_SHM);
}

static void test_crowd_tcp(void **state)
{
	run_crowd(state, EZ_VIA_TCP);
}

static void test_crowd_local(void **state)
{
	run_crowd(state, EZ_VIA_LOCAL);
}

#define GRAPH_TEST(test) cmocka_unit_test_setup_teardown(test, graph_setup, graph_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		GRAPH_TEST(test_slots_local),	 GRAPH_TEST(test_slots_shm),
		GRAPH_TEST(test_slots_tcp),	 GRAPH_TEST(test_arrays_local),
		GRAPH_TEST(test_arrays_shm),	 GRAPH_TEST(test_arrays_tcp),
		GRAPH_TEST(test_slot_turn),	 GRAPH_TEST(test_pieces),
		GRAPH_TEST(test_fd_level),	 GRAPH_TEST(test_fd_edge),
		GRAPH_TEST(test_fd_of_callback), GRAPH_TEST(test_until),
		GRAPH_TEST(test_count_only),	 GRAPH_TEST(test_crowd_shm),
		GRAPH_TEST(test_crowd_tcp),	 GRAPH_TEST(test_crowd_local),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
