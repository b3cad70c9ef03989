/* SPDX-License-Identifier: MIT */
/*
 * Connections that only listen: to events about settings, to events about the topology, or to what
 * processes trace. Loop thread only.
 */
#ifndef EZPROF_STREAM_LINK_H
#define EZPROF_STREAM_LINK_H

#include "conn.h"

int ezprof_stream_settings_begin(struct ezprof_conn *conn, struct ez_reader *in);
int ezprof_stream_topology_begin(struct ezprof_conn *conn, struct ez_reader *in);
int ezprof_stream_profiling_begin(struct ezprof_conn *conn, struct ez_reader *in);

/* A number of an event, as text: 0 or -EINVAL. */
int ezprof_stream_read_seq(struct ez_reader *in, uint64_t *ret_seq);

/* Accepts conn as a link: an id, COMPLETE. */
void ezprof_stream_accept(struct ezprof_conn *conn);

#endif
