/* SPDX-License-Identifier: MIT */
/* The agent's end of a control link, against peers that are slow, greedy or hostile. */
#include "profile_link.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>
#include <event2/event.h>

struct peer {
	struct event_base *base;
	struct ezprof_profile_link *link;
	int fd; /* the peer's end */
	unsigned int asked, closed;
	uint64_t last_ms;
	size_t answer_bytes;
};

static char *on_profile(void *context, uint64_t window_ms)
{
	struct peer *peer = context;
	char *text = malloc(peer->answer_bytes + 1);

	peer->asked++;
	peer->last_ms = window_ms;
	memset(text, 'x', peer->answer_bytes);
	text[peer->answer_bytes] = '\0';
	return text;
}

static char *on_hello(void *context, const char *text, size_t n)
{
	(void)context;
	return strndup(text, n);
}

static void on_closed(void *context)
{
	struct peer *peer = context;

	peer->closed++;
	peer->link = NULL;
}

static void start(struct peer *peer, bool complete, bool hello)
{
	struct ezprof_profile_link_handler handler = {.profile = on_profile,
						      .hello = hello ? on_hello : NULL,
						      .closed = on_closed,
						      .context = peer,
						      .complete = complete};
	int ends[2];

	memset(peer, 0, sizeof(*peer));
	peer->answer_bytes = 2;
	peer->base = event_base_new();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	peer->fd = ends[0];
	assert_int_equal(ezprof_profile_link_new(peer->base, ends[1], &handler, 0, &peer->link), 0);
}

static void run(struct peer *peer)
{
	int i;

	for (i = 0; i < 50; i++)
		event_base_loop(peer->base, EVLOOP_NONBLOCK);
}

static void end(struct peer *peer)
{
	ezprof_profile_link_free(peer->link);
	event_base_free(peer->base);
	if (peer->fd >= 0)
		close(peer->fd);
}

static void tell(struct peer *peer, const void *bytes, size_t n)
{
	assert_int_equal(send(peer->fd, bytes, n, MSG_NOSIGNAL), (ssize_t)n);
	run(peer);
}

static void expect(struct peer *peer, const void *bytes, size_t n)
{
	char got[64];

	assert_int_equal(recv(peer->fd, got, sizeof(got), MSG_DONTWAIT), (ssize_t)n);
	assert_memory_equal(got, bytes, n);
}

static void test_requests(void **state)
{
	struct peer peer;

	(void)state;
	start(&peer, true, true);
	tell(&peer, "\x15\xd0\x07\0\0\0\0\0\0", 9);
	assert_int_equal(peer.last_ms, 2000);
	expect(&peer, "\x16\x02\0\0\0\0\0\0\0xx\0", 12);
	/* in pieces, and two at once */
	tell(&peer, "\x15\x01", 2);
	assert_int_equal(peer.asked, 1);
	tell(&peer, "\0\0\0\0\0\0\0\x15\x02\0\0\0\0\0\0\0", 16);
	assert_int_equal(peer.asked, 3);
	assert_int_equal(peer.last_ms, 2);
	end(&peer);

	start(&peer, false, false);
	tell(&peer, "\x15\xff\xff\xff\xff\xff\xff\xff\xff", 9);
	assert_true(peer.last_ms == UINT64_MAX);
	expect(&peer, "\x16\x02\0\0\0\0\0\0\0xx", 11);
	end(&peer);
}

static void test_hello(void **state)
{
	struct peer peer;

	(void)state;
	start(&peer, true, true);
	tell(&peer, "\xe0\x03\0\0\0\0\0\0\0abc", 12);
	expect(&peer, "\xe0\x03\0\0\0\0\0\0\0abc", 12);
	end(&peer);
	start(&peer, false, false);
	tell(&peer, "\xe0\x03\0\0\0\0\0\0\0abc", 12);
	assert_int_equal(peer.closed, 1);
	end(&peer);
}

static void test_hostile(void **state)
{
	static const char *const bytes[] = {"\x01", "\xe0\xff\xff\xff\xff\xff\xff\xff\x7f",
					    "\xe0\xff\xff\xff\xff\xff\xff\xff\xff", "GET / HTTP"};
	static const size_t sizes[] = {1, 9, 9, 10};
	struct peer peer;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		start(&peer, true, true);
		tell(&peer, bytes[i], sizes[i]);
		assert_int_equal(peer.closed, 1);
		assert_int_equal(peer.asked, 0);
		end(&peer);
	}
	start(&peer, true, true);
	tell(&peer, "\x15", 1);
	close(peer.fd);
	peer.fd = -1;
	run(&peer);
	assert_int_equal(peer.closed, 1);
	end(&peer);
}

/* A peer that asks a thousand times and reads nothing gets one answer made. */
static void test_greedy(void **state)
{
	struct peer peer;
	int i;

	(void)state;
	start(&peer, true, true);
	peer.answer_bytes = 4 << 20;
	for (i = 0; i < 1000; i++)
		tell(&peer, "\x15\x01\0\0\0\0\0\0\0", 9);
	assert_int_equal(peer.asked, 1);
	assert_int_equal(peer.closed, 0);
	end(&peer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_hello),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_greedy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
