/* SPDX-License-Identifier: MIT */
/* A forked child owns nothing of its parent's, disturbs nothing, and can begin anew. */
#include <errno.h>
#include <fcntl.h>
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
};

static int check_calls(struct objects *o)
{
	struct ez_message message;

	if (ez_publish_bytes(o->publisher, "x", 1, 0) != -EOWNERDEAD)
		return 1;
	if (ez_receive(o->subscriber, 0, &message) != -EOWNERDEAD)
		return 2;
	if (ez_connect(o->context, "A", "B") != -EOWNERDEAD || ez_pause(o->context) != -EOWNERDEAD)
		return 3;
	if (ez_subscriber_create(o->context, "T", NULL, &o->subscriber) != -EOWNERDEAD)
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
	child = fork();
	if (child == 0) {
		int result = check_calls(&o);

		_exit(result ? result : begin_anew(&o));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
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

int main(void)
{
#define GRAPH_TEST(name) cmocka_unit_test_setup_teardown(name, graph_setup, graph_teardown)
	const struct CMUnitTest tests[] = {
		GRAPH_TEST(test_child),
		GRAPH_TEST(test_child_holds_no_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
