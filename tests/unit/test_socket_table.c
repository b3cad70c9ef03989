/* SPDX-License-Identifier: MIT */
/* Sockets: lines of the kernel, and those of this very process. */
#include "socket_table.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static void test_parse(void **state)
{
	struct ezprof_socket s;

	(void)state;
	assert_true(ezprof_socket_parse("   0: 0100007F:655A 00000000:0000 0A 00000000:00000000 "
					"00:00000000 00000000     0        0 4242 1 0 100 0 0 10 0",
					&s));
	assert_true(s.listens);
	assert_int_equal(s.local_port, 25946);
	assert_int_equal(s.inode, 4242);
	assert_true(ezprof_socket_parse("12: 00000000000000000000000001000000:0001 "
					"0000000000000000FFFF00000100007F:FFFF 01 "
					"0:0 0:0 0 0 0 18446744073709551615 1",
					&s));
	assert_false(s.listens);
	assert_string_equal(s.remote, "0000000000000000FFFF00000100007F");
	assert_int_equal(s.remote_port, 65535);
	/* TIME_WAIT, the head, and what no kernel writes. */
	assert_false(ezprof_socket_parse("1: 0100007F:0001 0100007F:0002 06 0:0 0:0 0 0 0 0", &s));
	assert_false(ezprof_socket_parse("  sl  local_address rem_address   st", &s));
	assert_false(ezprof_socket_parse("1: :1 :2 01 0:0 0:0 0 0 0 5", &s));
	assert_false(ezprof_socket_parse("1: 0100007F:0001 0100007F:0002 01", &s));
	assert_false(ezprof_socket_parse("", &s));
}

static uint16_t listen_somewhere(int *ret_fd)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(address);

	*ret_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(*ret_fd, (struct sockaddr *)&address, n), 0);
	assert_int_equal(listen(*ret_fd, 5), 0);
	assert_int_equal(getsockname(*ret_fd, (struct sockaddr *)&address, &n), 0);
	return ntohs(address.sin_port);
}

static int connect_to(uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				      .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void test_own(void **state)
{
	struct ezprof_socket_table table;
	struct ezprof_socket_use uses[2];
	int server, idle, first, second;
	bool shares = true;
	uint16_t ports[] = {listen_somewhere(&server), listen_somewhere(&idle)};

	(void)state;
	first = connect_to(ports[0]);
	second = connect_to(ports[0]);
	close(idle);
	assert_int_equal(ezprof_socket_table_read(ports, 2, &table), 0);
	assert_true(ezprof_socket_table_listens(&table, ports[0]));
	assert_false(ezprof_socket_table_listens(&table, ports[1]));
	assert_int_equal(ezprof_socket_table_uses(&table, getpid(), uses, &shares), 0);
	assert_false(shares);
	assert_true(uses[0].listens);
	assert_int_equal(uses[0].connections, 2);
	assert_false(uses[1].listens);
	assert_int_equal(uses[1].connections, 0);
	assert_true(ezprof_socket_table_uses(&table, 0x7ffffff0, uses, &shares) < 0);
	ezprof_socket_table_free(&table);
	close(second);
	close(first);
	close(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
