/* SPDX-License-Identifier: MIT */
#include "topology.h"

#include <errno.h>

#include "command.h"
#include "meta_pickle.h"
#include "pickle_dag.h"
#include "publisher_link.h"
#include "request.h"
#include "subscriber_link.h"
#include "topology_events.h"

int ezprof_topology_change(struct ezprof_conn *conn, struct ez_reader *in, bool connect,
			   uint64_t owner, struct ezprof_topic **ret_to)
{
	struct ezprof_graph *graph = &conn->server->graph;
	struct ezprof_topic *from, *to;
	struct ez_str from_name, to_name;
	int result = ezprof_read_topic(conn, in, &from_name);

	if (!result)
		result = ezprof_read_topic(conn, in, &to_name);
	if (result)
		return result;
	from = ezprof_graph_hold(graph, from_name.data, from_name.len);
	to = from ? ezprof_graph_hold(graph, to_name.data, to_name.len) : NULL;
	if (!to)
		result = -ENOMEM;
	else if (connect && graph->n_edges >= conn->server->config.edges_max)
		result = -ENOSPC;
	else if (connect)
		result = ezprof_graph_connect(graph, from, to, owner);
	else
		result = ezprof_graph_disconnect(graph, from, to, owner);
	if (from)
		ezprof_graph_release(graph, from);
	if (to && result < 0)
		ezprof_graph_release(graph, to);
	else if (to)
		*ret_to = to;
	return result;
}

/* The answer goes out before the UPDATEs, as ezmsg 3.9.0 does it. */
static int change_edge(struct ezprof_conn *conn, struct ez_reader *in, bool connect)
{
	struct ezprof_topic *to = NULL;
	int result = ezprof_topology_change(conn, in, connect, EZPROF_OWNER_NOBODY, &to);

	if (result < 0 && result != -ELOOP)
		return result;
	ez_put_u8(&conn->out, result == -ELOOP ? EZ_CMD_CYCLIC : EZ_CMD_COMPLETE);
	ezprof_conn_finish(conn);
	if (result == 1) {
		struct ezprof_changed changed = {0};

		ezprof_changed_add(&changed, to->name);
		ezprof_topology_event_graph(conn->server, &changed, NULL);
		ezprof_update_downstream(conn->server, to, NULL);
	}
	if (result >= 0)
		ezprof_graph_release(&conn->server->graph, to);
	return 0;
}

int ezprof_topology_connect(struct ezprof_conn *conn, struct ez_reader *in)
{
	return change_edge(conn, in, true);
}

int ezprof_topology_disconnect(struct ezprof_conn *conn, struct ez_reader *in)
{
	return change_edge(conn, in, false);
}

int ezprof_topology_dag(struct ezprof_conn *conn, struct ez_reader *in)
{
	struct ez_dag *dag = ezprof_graph_dag(&conn->server->graph);
	struct ez_buffer pickle;
	int err;

	(void)in;
	if (!dag)
		return -ENOMEM;
	ez_buffer_init(&pickle, EZ_DAG_BYTES_MAX);
	ez_pickle_dag_begin(&pickle, dag);
	ezprof_pickle_dag_owners(&pickle, conn->server);
	ez_pickle_dag_end(&pickle);
	ez_dag_free(dag);
	ez_put_u8(&conn->out, EZ_CMD_DAG);
	ez_put_str(&conn->out, (const char *)pickle.data, pickle.len);
	ez_put_u8(&conn->out, EZ_CMD_COMPLETE);
	err = pickle.err;
	ez_buffer_free(&pickle);
	if (!err)
		ezprof_conn_finish(conn);
	return err;
}

static int tell_publishers(struct ezprof_conn *conn, uint8_t command)
{
	struct ezprof_publisher *publisher;

	DL_FOREACH(conn->server->publishers, publisher)
	{
		ez_put_u8(&publisher->conn->out, command);
		ezprof_conn_flush(publisher->conn);
	}
	ezprof_conn_finish(conn);
	return 0;
}

int ezprof_topology_pause(struct ezprof_conn *conn, struct ez_reader *in)
{
	(void)in;
	return tell_publishers(conn, EZ_CMD_PAUSE);
}

int ezprof_topology_resume(struct ezprof_conn *conn, struct ez_reader *in)
{
	(void)in;
	return tell_publishers(conn, EZ_CMD_RESUME);
}
