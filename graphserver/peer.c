/* SPDX-License-Identifier: MIT */
#include "peer.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "parse.h"

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

/* IPv4 as IPv4-mapped, so that both families of one machine's address are equal. */
static struct in6_addr to_v6(const union ezprof_socket_address *address)
{
	struct in6_addr v6 = {.s6_addr = {[10] = 0xff, [11] = 0xff}};

	if (address->any.sa_family == AF_INET6)
		return address->v6.sin6_addr;
	memcpy(&v6.s6_addr[12], &address->v4.sin_addr, sizeof(address->v4.sin_addr));
	return v6;
}

static bool is_loopback(const struct in6_addr *v6)
{
	return IN6_IS_ADDR_LOOPBACK(v6) || (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == 127);
}

struct ezprof_machine ezprof_peer_machine(const struct ezprof_peer *peer, int fd)
{
	union ezprof_socket_address own = {.any.sa_family = AF_UNSPEC};
	struct ezprof_machine machine = {0};
	socklen_t len = sizeof(own);
	struct in6_addr theirs, ours;

	if (peer->address.any.sa_family != AF_INET && peer->address.any.sa_family != AF_INET6)
		return machine;
	theirs = to_v6(&peer->address);
	if (is_loopback(&theirs))
		return machine;
	/* Who connects to an address of its own machine does it from that same address. */
	if (getsockname(fd, &own.any, &len) == 0) {
		ours = to_v6(&own);
		if (IN6_ARE_ADDR_EQUAL(&ours, &theirs))
			return machine;
	}
	machine.address = theirs;
	return machine;
}

bool ezprof_machine_is_same(const struct ezprof_machine *a, const struct ezprof_machine *b)
{
	return IN6_ARE_ADDR_EQUAL(&a->address, &b->address);
}
