/* SPDX-License-Identifier: MIT */
/*
 * Who is at the other end of a connection, as accepting told it: the address in binary, and as text
 * for log lines only when one is written.
 */
#ifndef EZPROF_PEER_H
#define EZPROF_PEER_H

#include <netinet/in.h>
#include <stdbool.h>

union ezprof_socket_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct ezprof_peer {
	union ezprof_socket_address address; /* all zero: not known */
	char text[72];			     /* "" until it was asked for */
};

/* A machine, as the server can tell them apart: its address; all zero is the server's own. */
struct ezprof_machine {
	struct in6_addr address;
};

/* "host:port", or "?"; valid as long as the peer is. */
const char *ezprof_peer_text(struct ezprof_peer *peer);

/* Where the other end of the connection fd is. */
struct ezprof_machine ezprof_peer_machine(const struct ezprof_peer *peer, int fd);
bool ezprof_machine_is_same(const struct ezprof_machine *a, const struct ezprof_machine *b);

#endif
