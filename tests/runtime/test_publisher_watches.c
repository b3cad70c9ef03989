/* SPDX-License-Identifier: MIT */
/* A publisher's descriptor where the kernel watches no more sockets. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/epoll.h>

#include <cmocka.h>

#include "graph_fixture.h"
#include "publisher.h"

#define BUFFERS 32
#define TRIES_MAX 1000

int __real_epoll_ctl(int epoll_fd, int operation, int fd, struct epoll_event *event);
int __wrap_epoll_ctl(int epoll_fd, int operation, int fd, struct epoll_event *event);

static bool is_out_of_watches; /* atomic */

int __wrap_epoll_ctl(int epoll_fd, int operation, int fd, struct epoll_event *event)
{
	if (operation != EPOLL_CTL_ADD || !__atomic_load_n(&is_out_of_watches, __ATOMIC_ACQUIRE))
		return __real_epoll_ctl(epoll_fd, operation, fd, event);
	errno = ENOSPC;
	return -1;
}

struct side {
	struct ez_context *context;
	struct ez_publisher *publisher;
	struct peer peer;
};

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
static void fill(struct side *side)
{
	peer_send(&side->peer, "recv %u", 3 * BUFFERS);
	for (int i = 0; i < 3 * BUFFERS; i++)
		assert_int_equal(ez_publish_bytes(side->publisher, "x", 1, PATIENCE_NS), 0);
	peer_expect(&side->peer, "got");
}

/* Once it has waited for its sockets, they are its own first. */
static void fill_until_shared(struct side *side)
{
	for (int tries = 0; !any_shared(side->publisher); tries++) {
		assert_true(tries < TRIES_MAX);
		fill(side);
	}
}

static void expect_no_descriptor(struct side *side)
{
	__atomic_store_n(&is_out_of_watches, true, __ATOMIC_RELEASE);
	assert_int_equal(ez_publisher_fd(side->publisher), -ENOSPC);
	__atomic_store_n(&is_out_of_watches, false, __ATOMIC_RELEASE);
}

/* Waiting reads the sockets as before; asked for once more it is there, also without any wait. */
static void test_no_watches(void **state)
{
	const struct ez_publisher_options options = {.num_buffers = BUFFERS};
	const struct graph *graph = *state;
	struct side side;

	assert_int_equal(ez_context_create(graph->address, &side.context), 0);
	assert_int_equal(ez_publisher_create(side.context, "T", &options, &side.publisher), 0);
	peer_start(&side.peer, graph);
	peer_tell(&side.peer, "ok", "sub T");
	wait_channels(side.publisher, 2);
	fill_until_shared(&side);
	expect_no_descriptor(&side);
	fill(&side);
	fill_until_shared(&side);
	expect_no_descriptor(&side);
	assert_true(ez_publisher_fd(side.publisher) >= 0);
	assert_false(any_shared(side.publisher));
	fill(&side);
	peer_stop(&side.peer);
	ez_context_destroy(side.context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_no_watches, graph_setup, graph_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
