/* SPDX-License-Identifier: MIT */
/*
 * Who is at the other end of a connection, as accepting told it: the address in binary, and as text
 * for log lines only when one is written.
 */
#ifndef EZPROF_PEER_H
#define EZPROF_PEER_H

#include <netinet/in.h>

union ezprof_socket_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct ezprof_peer {
	union ezprof_socket_address address; /* all zero: not known */
	char text[72];			     /* "" until it was asked for */
};

/* "host:port", or "?"; valid as long as the peer is. */
const char *ezprof_peer_text(struct ezprof_peer *peer);

/*
 * Options of a listening socket that the sockets it accepts inherit: no delay, and a peer whose
 * machine vanished is found out after about timeout_s, whether it owes an acknowledgement or not.
 */
void ezprof_peer_inherit(int listen_fd, int timeout_s);

#endif
