/* SPDX-License-Identifier: MIT */
/*
 * What registering costs any server of this protocol: accepts, greets, and answers PUBLISH and
 * SUBSCRIBE with the right number of bytes, in one system call each, and does nothing else. Only
 * for the clients of server_scale.py. Ends with its standard input.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define FDS 65536
#define GREETING "\5\0\0\0\0\0\0\0003.9.0"
#define GREETING_BYTES 13
#define ID_BYTES 44    /* length and text */
#define UPDATE_BYTES 9 /* command and an empty list */
#define SUBSCRIBE_BYTE 2

static char confirms[FDS]; /* by descriptor: the next byte is a subscriber's confirmation */

static int watch(int epoll, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static void greet(int epoll, int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (fd >= FDS || watch(epoll, fd) < 0) {
		close(fd);
		return;
	}
	confirms[fd] = 0;
	send(fd, GREETING, GREETING_BYTES, MSG_NOSIGNAL);
}

static void answer(int fd)
{
	static char in[65536];
	char out[ID_BYTES + UPDATE_BYTES] = {ID_BYTES - 8};
	ssize_t n = recv(fd, in, sizeof(in), 0);

	if (n <= 0) {
		close(fd);
		return;
	}
	memset(out + 8, 'a', ID_BYTES - 8);
	if (confirms[fd]) {
		send(fd, out + ID_BYTES, 1, MSG_NOSIGNAL);
	} else if (in[0] == SUBSCRIBE_BYTE) {
		out[ID_BYTES] = 9;
		confirms[fd] = 1;
		send(fd, out, ID_BYTES + UPDATE_BYTES, MSG_NOSIGNAL);
	} else {
		send(fd, out, ID_BYTES + 1, MSG_NOSIGNAL);
	}
}

static int start(int *ret_epoll)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(address);
	int epoll = epoll_create1(EPOLL_CLOEXEC), on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&address, len) < 0 || listen(fd, 1024) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) < 0 || watch(epoll, fd) < 0 ||
	    watch(epoll, STDIN_FILENO) < 0)
		return -1;
	printf("127.0.0.1:%u\n", (unsigned int)ntohs(address.sin_port));
	fflush(stdout);
	*ret_epoll = epoll;
	return fd;
}

int main(void)
{
	struct epoll_event events[32];
	int epoll, listener = start(&epoll);

	for (int n = 0; listener >= 0 && n >= 0;) {
		n = epoll_wait(epoll, events, 32, -1);
		for (int i = 0; i < n; i++) {
			if (events[i].data.fd == STDIN_FILENO)
				return 0;
			if (events[i].data.fd == listener)
				greet(epoll, listener);
			else
				answer(events[i].data.fd);
		}
	}
	return 1;
}
