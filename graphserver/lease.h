/* SPDX-License-Identifier: MIT */
/*
 * SHM_CREATE and SHM_ATTACH, and the link that they make: a lease on a segment, as long as the
 * connection.
 */
#ifndef EZPROF_LEASE_H
#define EZPROF_LEASE_H

#include "conn.h"

int ezprof_lease_create(struct ezprof_conn *conn, struct ez_reader *in);
int ezprof_lease_attach(struct ezprof_conn *conn, struct ez_reader *in);

#endif
