/* SPDX-License-Identifier: MIT */
/* A forked child owns nothing of its parent's, disturbs nothing, and can begin anew. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "graph_fixture.h"

struct objects {
	const struct graph *graph;
	struct ez_context *context;
	struct ez_publisher *publisher;
	struct ez_subscriber *subscriber;
	struct ez_message held;
	struct ez_slot slot;
	int fds[2]; /* for event loops */
};

/* The rest of the interface, in the order of its header. */
static int check_more_calls(struct objects *o)
{
	static const uint64_t shape = 1;
	struct iovec piece = {(void *)(uintptr_t) "x", 1};
	struct ez_message message;
	uint64_t messages, bytes, drops;
	struct ez_slot slot;
	char *json;
	const int results[] = {
		ez_publish_array(o->publisher, "u1", &shape, 1, "x", 0),
		ez_publish_buffers(o->publisher, &piece, 1, 0),
		ez_publish_bytesv(o->publisher, &piece, 1, 0),
		ez_publish_begin(o->publisher, 1, 0, &slot),
		ez_publish_begin_array(o->publisher, "u1", &shape, 1, 0, &slot),
		ez_publish_commit(&o->slot, 1),
		ez_publisher_pause(o->publisher),
		ez_publisher_resume(o->publisher),
		ez_publisher_fd(o->publisher),
		ez_receive_until(o->subscriber, 0, &message),
		ez_subscriber_fd(o->subscriber),
		ez_disconnect(o->context, "A", "B"),
		ez_resume(o->context),
		ez_sync(o->context, 0),
		ez_profile(o->context, 1, &json),
	};

	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		if (results[i] != -EOWNERDEAD)
			return 10 + (int)i;
	for (int i = 0; i < 2; i++)
		if (fcntl(o->fds[i], F_GETFD) != -1 || errno != EBADF)
			return 31 + i;
	/* Questions that can't fail: what was so when it was born, and no channel. */
	ez_publisher_totals(o->publisher, &messages, &bytes);
	ez_subscriber_totals(o->subscriber, &messages, &bytes, &drops);
	ez_publish_abort(&o->slot);
	return ez_publisher_channels(o->publisher) ? 30 : 0;
}

static int check_calls(struct objects *o)
{
	struct ez_message message;

	if (ez_publish_bytes(o->publisher, "x", 1, 0) != -EOWNERDEAD)
		return 1;
	if (ez_receive(o->subscriber, 0, &message) != -EOWNERDEAD)
		return 2;
	if (ez_connect(o->context, "A", "B") != -EOWNERDEAD || ez_pause(o->context) != -EOWNERDEAD)
		return 3;
	if (ez_subscriber_create(o->context, "T", NULL, &o->subscriber) != -EOWNERDEAD ||
	    ez_publisher_create(o->context, "T", NULL, &o->publisher) != -EOWNERDEAD)
		return 4;
	ez_message_release(&o->held);
	ez_subscriber_destroy(o->subscriber);
	ez_publisher_destroy(o->publisher);
	ez_context_destroy(o->context);
	return 0;
}

/* In the child; cmocka's asserts are the parent's. */
static int begin_anew(struct objects *o)
{
	struct ez_context *context;
	struct ez_publisher *publisher;

	if (ez_context_create(o->graph->address, &context) ||
	    ez_publisher_create(context, "U", NULL, &publisher) ||
	    ez_publish_bytes(publisher, "x", 1, PATIENCE_NS))
		return 5;
	ez_context_destroy(context);
	return 0;
}

static void test_child(void **state)
{
	struct objects o = {.graph = *state};
	struct ez_message message;
	pid_t child;
	int status;

	assert_int_equal(ez_context_create(o.graph->address, &o.context), 0);
	assert_int_equal(ez_publisher_create(o.context, "T", NULL, &o.publisher), 0);
	assert_int_equal(ez_subscriber_create(o.context, "T", NULL, &o.subscriber), 0);
	assert_int_equal(ez_publish_bytes(o.publisher, "kept", 4, PATIENCE_NS), 0);
	assert_int_equal(ez_receive(o.subscriber, PATIENCE_NS, &o.held), 0);
	o.fds[0] = ez_subscriber_fd(o.subscriber);
	o.fds[1] = ez_publisher_fd(o.publisher);
	assert_true(o.fds[0] >= 0 && o.fds[1] >= 0);
	/* The lock that a publisher has from begin to commit is somebody's for ever in the child.
	 */
	assert_int_equal(ez_publish_begin(o.publisher, 4, PATIENCE_NS, &o.slot), 0);
	child = fork();
	if (child == 0) {
		int result = check_more_calls(&o);

		if (!result)
			result = check_calls(&o);
		_exit(result ? result : begin_anew(&o));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	memcpy(o.slot.data, "slot", 4);
	assert_int_equal(ez_publish_commit(&o.slot, 4), 0);
	assert_int_equal(ez_receive(o.subscriber, PATIENCE_NS, &message), 0);
	assert_memory_equal(message.data, "slot", 4);
	ez_message_release(&message);
	/* The parent goes on as if nothing had happened. */
	assert_memory_equal(o.held.data, "kept", 4);
	ez_message_release(&o.held);
	assert_int_equal(ez_publish_bytes(o.publisher, "more", 4, PATIENCE_NS), 0);
	assert_int_equal(ez_receive(o.subscriber, PATIENCE_NS, &message), 0);
	ez_message_release(&message);
	ez_context_destroy(o.context);
}

/* A child that lives on doesn't keep its parent's links: they end with the parent's objects. */
static void test_child_holds_no_link(void **state)
{
	struct objects o = {.graph = *state};
	struct peer peer;
	pid_t child;
	int hold[2];

	assert_int_equal(pipe2(hold, O_CLOEXEC), 0);
	assert_int_equal(ez_context_create(o.graph->address, &o.context), 0);
	peer_start(&peer, o.graph);
	peer_tell(&peer, "ok", "pub T 2");
	assert_int_equal(ez_subscriber_create(o.context, "T", NULL, &o.subscriber), 0);
	child = fork();
	if (child == 0) {
		char end;

		close(hold[1]);
		_exit(read(hold[0], &end, 1) != 0);
	}
	close(hold[0]);
	ez_context_destroy(o.context);
	/* Nobody reads any more, so more messages than there are buffers go through. */
	peer_tell(&peer, "sent 9", "send 9 1");
	close(hold[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	peer_stop(&peer);
}

/* The address sanitizer's allocator leaves its locks as they are in a child. */
#ifndef __SANITIZE_ADDRESS__

#define CHURNERS 3
#define FORKS 60

struct churn {
	struct ez_context *context;
	pthread_t thread;
	bool end; /* atomic */
};

/* Segments and descriptors come and go, and with them the locks that guard the tables of both. */
static void *churn(void *argument)
{
	const struct ez_publisher_options options = {.num_buffers = 2, .buffer_bytes = 64};
	struct churn *churn = argument;
	struct ez_publisher *publisher;
	int err = 0;

	while (!err && !__atomic_load_n(&churn->end, __ATOMIC_RELAXED)) {
		err = ez_publisher_create(churn->context, "T", &options, &publisher);
		if (!err)
			err = ez_publish_bytes(publisher,
					       "more than it has room for, and again "
					       "as much and as much and as much and",
					       72, PATIENCE_NS);
		if (!err)
			ez_publisher_destroy(publisher);
	}
	return err ? churn : NULL;
}

/* Whatever other threads are at when a process forks: the child can begin anew. */
static void test_fork_amid(void **state)
{
	struct objects o = {.graph = *state};
	struct churn churns[CHURNERS] = {0};
	void *failed;
	int status;
	pid_t child;

	for (int i = 0; i < CHURNERS; i++) {
		assert_int_equal(ez_context_create(o.graph->address, &churns[i].context), 0);
		assert_int_equal(pthread_create(&churns[i].thread, NULL, churn, &churns[i]), 0);
	}
	for (int i = 0; i < FORKS; i++) {
		child = fork();
		if (child == 0) {
			alarm((unsigned int)(PATIENCE_NS / SECOND_NS));
			_exit(begin_anew(&o));
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	for (int i = 0; i < CHURNERS; i++) {
		__atomic_store_n(&churns[i].end, true, __ATOMIC_RELAXED);
		assert_int_equal(pthread_join(churns[i].thread, &failed), 0);
		assert_null(failed);
		ez_context_destroy(churns[i].context);
	}
}

#endif

int main(void)
{
#define GRAPH_TEST(name) cmocka_unit_test_setup_teardown(name, graph_setup, graph_teardown)
	const struct CMUnitTest tests[] = {
		GRAPH_TEST(test_child),
		GRAPH_TEST(test_child_holds_no_link),
#ifndef __SANITIZE_ADDRESS__
		GRAPH_TEST(test_fork_amid),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
