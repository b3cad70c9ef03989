/* SPDX-License-Identifier: MIT */
/* Sockets: nothing waits longer than its deadline, nothing is inherited. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "fd.h"
#include "parse.h"

static void test_connect_and_transfer(void **state)
{
	char host[EZ_HOST_BYTES], data[4];
	uint16_t port, client_port;
	int listener, client, server;

	(void)state;
	listener = ez_fd_listen("127.0.0.1", 0, 4, &port);
	assert_true(listener >= 0);
	assert_int_not_equal(port, 0);
	client = ez_fd_connect("127.0.0.1", port, ez_clock_deadline_ns(5000));
	assert_true(client >= 0);
	server = ez_fd_accept(listener, true);
	assert_true(server >= 0);
	assert_true(fcntl(client, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(server, F_GETFD) & FD_CLOEXEC);
	assert_false(fcntl(client, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(server, F_GETFL) & O_NONBLOCK);
	assert_int_equal(ez_fd_peer_host(server, host, sizeof(host)), 0);
	assert_string_equal(host, "127.0.0.1");
	assert_int_equal(ez_fd_local_port(client, &client_port), 0);
	assert_int_equal(ez_fd_write_full(client, "abcd", 4, ez_clock_deadline_ns(5000)), 0);
	assert_int_equal(ez_fd_read_full(server, data, 4, ez_clock_deadline_ns(5000)), 0);
	assert_memory_equal(data, "abcd", 4);
	assert_int_equal(ez_fd_read_full(server, data, 1, ez_clock_deadline_ns(20)), -ETIMEDOUT);
	assert_int_equal(ez_fd_write_full(client, "x", 1, EZ_NEVER), 0);
	client = ez_fd_close(client);
	assert_int_equal(ez_fd_read_full(server, data, 2, EZ_NEVER), -ECONNRESET);
	assert_int_equal(ez_fd_read_full(server, data, 2, EZ_NEVER), -ENODATA);
	ez_fd_close(server);
	ez_fd_close(listener);
	assert_int_equal(ez_fd_connect("127.0.0.1", port, ez_clock_deadline_ns(5000)),
			 -ECONNREFUSED);
}

static void test_peer_that_never_reads(void **state)
{
	char *data = calloc(1, 64 << 20);
	uint16_t port;
	int listener = ez_fd_listen("127.0.0.1", 0, 4, &port);
	int client = ez_fd_connect("127.0.0.1", port, ez_clock_deadline_ns(5000));

	(void)state;
	assert_int_equal(ez_fd_write_full(client, data, 64 << 20, ez_clock_deadline_ns(50)),
			 -ETIMEDOUT);
	ez_fd_close(listener);
	assert_true(ez_fd_write_full(client, data, 64 << 20, ez_clock_deadline_ns(5000)) < 0);
	ez_fd_close(client);
	free(data);
}

static void test_addresses(void **state)
{
	uint16_t port, again;
	int first = ez_fd_listen("127.0.0.1", 0, 4, &port);

	(void)state;
	assert_int_equal(ez_fd_listen("127.0.0.1", port, 4, &again), -EADDRINUSE);
	assert_int_equal(ez_fd_listen("192.0.2.1", 0, 4, &again), -EADDRNOTAVAIL);
	assert_int_equal(ez_fd_listen("no.such.host.invalid", 0, 4, &again), -EADDRNOTAVAIL);
	assert_int_equal(ez_fd_connect("127.0.0.1", 0, EZ_NEVER), -ECONNREFUSED);
	ez_fd_close(first);
}

/* "localhost" may be ::1 first, where nobody listens: the other address must be tried. */
static void test_name_with_two_addresses(void **state)
{
	uint16_t port;
	int listener = ez_fd_listen("127.0.0.1", 0, 4, &port);
	int client = ez_fd_connect("localhost", port, ez_clock_deadline_ns(5000));

	(void)state;
	assert_true(client >= 0);
	ez_fd_close(client);
	ez_fd_close(listener);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connect_and_transfer),
		cmocka_unit_test(test_peer_that_never_reads),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_name_with_two_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
