/* SPDX-License-Identifier: MIT */
/*
 * Requests about the graph as a whole that are answered at once: CONNECT, DISCONNECT, DAG, PAUSE,
 * RESUME.
 */
#ifndef EZPROF_TOPOLOGY_H
#define EZPROF_TOPOLOGY_H

#include "conn.h"

int ezprof_topology_connect(struct ezprof_conn *conn, struct ez_reader *in);
int ezprof_topology_disconnect(struct ezprof_conn *conn, struct ez_reader *in);
int ezprof_topology_dag(struct ezprof_conn *conn, struct ez_reader *in);
int ezprof_topology_pause(struct ezprof_conn *conn, struct ez_reader *in);
int ezprof_topology_resume(struct ezprof_conn *conn, struct ez_reader *in);

/*
 * Takes two topics from in and changes the edge between them for owner, as ezprof_graph_connect()
 * or _disconnect() would, with one difference: errors of the frame come out as they are. ret_to,
 * held for the caller, is the topic below which subscribers have to be told if the result is 1.
 */
int ezprof_topology_change(struct ezprof_conn *conn, struct ez_reader *in, bool connect,
			   uint64_t owner, struct ezprof_topic **ret_to);

#endif
