/* SPDX-License-Identifier: MIT */
#include "ready_fixture.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

void open_publisher(struct fixture *f, void **state, enum ez_via via,
		    const struct ez_publisher_options *wanted)
{
	struct ez_publisher_options options = *wanted;

	*f = (struct fixture){.graph = *state, .via = via};
	options.force_tcp = via == EZ_VIA_TCP;
	assert_int_equal(ez_context_create(f->graph->address, &f->context), 0);
	assert_int_equal(ez_publisher_create(f->context, "T", &options, &f->publisher), 0);
	if (via == EZ_VIA_LOCAL) {
		assert_int_equal(ez_subscriber_create(f->context, "T", NULL, &f->subscriber), 0);
		return;
	}
	peer_start(&f->peer, f->graph);
	peer_tell(&f->peer, "ok", "sub T");
}

void open_all(struct fixture *f, void **state, enum ez_via via, uint32_t num_buffers)
{
	const struct ez_publisher_options options = {.num_buffers = num_buffers};

	open_publisher(f, state, via, &options);
	f->fd = ez_publisher_fd(f->publisher);
	assert_true(f->fd >= 0);
}

void close_all(struct fixture *f)
{
	if (f->via != EZ_VIA_LOCAL)
		peer_stop(&f->peer);
	ez_context_destroy(f->context);
}

void take(struct fixture *f)
{
	if (f->via == EZ_VIA_LOCAL)
		assert_int_equal(ez_receive(f->subscriber, PATIENCE_NS, &f->message), 0);
	else
		peer_tell(&f->peer, "took", "take");
}

void release(struct fixture *f)
{
	if (f->via == EZ_VIA_LOCAL)
		ez_message_release(&f->message);
	else
		peer_tell(&f->peer, "released", "release");
}

bool readable(int fd, int timeout_ms)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

	return poll(&poll_fd, 1, timeout_ms) == 1;
}

int publish_now(struct fixture *f)
{
	return ez_publish_bytes(f->publisher, "x", 1, 0);
}

void send_one(struct fixture *f)
{
	assert_true(readable(f->fd, PATIENCE_MS));
	assert_int_equal(publish_now(f), 0);
}

void expect_shut(struct fixture *f)
{
	struct ez_slot slot;
	int tries = 0;

	while (readable(f->fd, 0)) {
		assert_true(tries++ < PATIENCE_MS);
		nap_ms(1);
	}
	assert_false(readable(f->fd, 20));
	assert_int_equal(publish_now(f), -ETIMEDOUT);
	assert_int_equal(ez_publish_begin(f->publisher, 1, 0, &slot), -ETIMEDOUT);
	assert_false(readable(f->fd, 0));
}
