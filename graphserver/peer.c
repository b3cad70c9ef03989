/* SPDX-License-Identifier: MIT */
#include "peer.h"

#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "fd.h"
#include "parse.h"

#define KEEPALIVE_PROBES 4

const char *ezprof_peer_text(struct ezprof_peer *peer)
{
	static const char mapped[] = "::ffff:";
	const union ezprof_socket_address *address = &peer->address;
	socklen_t len =
		address->any.sa_family == AF_INET6 ? sizeof(address->v6) : sizeof(address->v4);
	char host[EZ_HOST_BYTES] = "";
	size_t skip = 0;

	if (*peer->text)
		return peer->text;
	/* Both families have the port in the same place. */
	if (getnameinfo(&address->any, len, host, sizeof(host), NULL, 0, NI_NUMERICHOST) == 0) {
		if (strncmp(host, mapped, strlen(mapped)) == 0 && strchr(host, '.'))
			skip = strlen(mapped);
		snprintf(peer->text, sizeof(peer->text), "%.60s:%u", host + skip,
			 (unsigned int)ntohs(address->v4.sin_port));
	} else {
		strcpy(peer->text, "?");
	}
	return peer->text;
}

void ezprof_peer_inherit(int listen_fd, int timeout_s)
{
	int on = 1, idle_s = timeout_s / 2, count = KEEPALIVE_PROBES;
	int interval_s = timeout_s / 2 / KEEPALIVE_PROBES;
	unsigned int user_timeout_ms = (unsigned int)timeout_s * 1000;

	if (idle_s < 1)
		idle_s = 1;
	if (interval_s < 1)
		interval_s = 1;
	ez_fd_nodelay(listen_fd);
	setsockopt(listen_fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(listen_fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	setsockopt(listen_fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
	setsockopt(listen_fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
	/* Keepalive is silent while something is unacknowledged. */
	setsockopt(listen_fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout_ms,
		   sizeof(user_timeout_ms));
}
