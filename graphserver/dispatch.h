/* SPDX-License-Identifier: MIT */
/*
 * The beginning of a connection: the greeting, and the first command, which decides what it
 * becomes.
 */
#ifndef EZPROF_DISPATCH_H
#define EZPROF_DISPATCH_H

#include "conn.h"

/* Takes fd over. */
void ezprof_dispatch_new_client(struct ezprof_server *server, int fd,
				const union ezprof_socket_address *address);

#endif
