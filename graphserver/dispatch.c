/* SPDX-License-Identifier: MIT */
#include "dispatch.h"

#include <errno.h>
#include <string.h>

#include "ambiguous.h"
#include "channel_link.h"
#include "command.h"
#include "control_link.h"
#include "lease.h"
#include "process_link.h"
#include "publisher_link.h"
#include "session_link.h"
#include "stream_link.h"
#include "subscriber_link.h"
#include "sync_request.h"
#include "topology.h"

/*
 * Each takes the arguments of its command from in; the contract is that of ezprof_role's receive.
 */
typedef int (*begin_fn)(struct ezprof_conn *conn, struct ez_reader *in);

static int begin_shutdown(struct ezprof_conn *conn, struct ez_reader *in)
{
	(void)in;
	ez_log(EZ_LOG_INFO, "%s asked for the shutdown", ezprof_conn_peer(conn));
	ezprof_conn_finish(conn);
	ezprof_server_stop(conn->server);
	return 0;
}

static const struct {
	uint8_t command;
	begin_fn begin;
} beginnings[] = {
	{EZ_CMD_PUBLISH, ezprof_publisher_begin},
	{EZ_CMD_SUBSCRIBE, ezprof_subscriber_begin},
	{EZ_CMD_CONNECT, ezprof_topology_connect},
	{EZ_CMD_DISCONNECT, ezprof_topology_disconnect},
	{EZ_CMD_PAUSE, ezprof_topology_pause},
	{EZ_CMD_RESUME, ezprof_topology_resume},
	{EZ_CMD_DAG, ezprof_topology_dag},
	{EZ_CMD_SYNC, ezprof_sync_begin},
	{EZ_CMD_SHM_CREATE, ezprof_lease_create},
	{EZ_CMD_SHM_ATTACH, ezprof_lease_attach},
	{EZ_CMD_SHUTDOWN, begin_shutdown},
	{EZ_CMD_CHANNEL, ezprof_channel_begin},
	{EZ_CMD_SESSION, ezprof_ambiguous_begin},
	{EZ_CMD_SESSION_SETTINGS_SUBSCRIBE, ezprof_stream_settings_begin},
	{EZ_CMD_SESSION_TOPOLOGY_SUBSCRIBE, ezprof_stream_topology_begin},
	{EZ_CMD_SESSION_PROFILING_SUBSCRIBE, ezprof_stream_profiling_begin},
	{EZ_CMD_PROCESS, ezprof_process_begin},
	{EZ_CMD_HELLO, ezprof_control_begin},
};

static int receive(struct ezprof_conn *conn, struct ez_reader *in)
{
	uint8_t command;
	int err = ez_read_u8(in, &command);

	if (err)
		return err;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (beginnings[i].command == command)
			return beginnings[i].begin(conn, in);
	ezprof_conn_complain(conn, "closed: unknown command %02x", command);
	ezprof_conn_finish(conn);
	return 0;
}

static const struct ezprof_role request_role = {
	.name = "request",
	.receive = receive,
};

void ezprof_dispatch_new_client(struct ezprof_server *server, int fd,
				const union ezprof_socket_address *address)
{
	struct ezprof_conn *conn = ezprof_conn_new(server, fd, address, &request_role);

	if (!conn) {
		ez_log(EZ_LOG_WARN, "no memory for a client");
		return;
	}
	ez_put_text(&conn->out, server->config.version);
	ezprof_conn_flush(conn);
}
