/* SPDX-License-Identifier: MIT */
/*
 * The TCP sockets of our network, as the kernel lists them: who listens where, and which
 * connections have both ends on this machine. Needs no rights and sends nothing. One thread.
 */
#ifndef EZPROF_SOCKET_TABLE_H
#define EZPROF_SOCKET_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ezprof_socket {
	char local[33], remote[33]; /* address in the kernel's hexadecimal */
	uint16_t local_port, remote_port;
	bool listens;
	uint64_t inode;
};

struct ezprof_socket_table {
	const uint16_t *ports; /* borrowed */
	size_t n_ports;
	struct ezprof_socket *list;
	size_t count, room;
};

/* One line of /proc/net/tcp or tcp6; false for other states than "established" and "listen". Pure.
 */
bool ezprof_socket_parse(const char *line, struct ezprof_socket *ret_socket);

/* Those that have to do with these ports. Errors: -ENOMEM; those of opening /proc/net/tcp. */
int ezprof_socket_table_read(const uint16_t *ports, size_t n,
			     struct ezprof_socket_table *ret_table);
void ezprof_socket_table_free(struct ezprof_socket_table *table);

bool ezprof_socket_table_listens(const struct ezprof_socket_table *table, uint16_t port);

/* What a process does at a port. */
struct ezprof_socket_use {
	bool listens;
	unsigned int connections; /* to it, with the other end on this machine as well */
};

/*
 * Fills ret_uses, one for each port. ret_shares: it has shared memory segments open that are named
 * as Python names them, which ezmsg's are. Errors: -EACCES its descriptors may not be seen; -ENOENT
 * there is no such process.
 */
int ezprof_socket_table_uses(const struct ezprof_socket_table *table, pid_t pid,
			     struct ezprof_socket_use *ret_uses, bool *ret_shares);

#endif
