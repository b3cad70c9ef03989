/* SPDX-License-Identifier: MIT */
#include "process_link.h"

#include "command.h"
#include "uuid.h"

/* Which messages of a process want an answer. */
static bool has_answer(uint8_t command)
{
	return command == EZ_CMD_PROCESS_REGISTER || command == EZ_CMD_PROCESS_UPDATE_OWNERSHIP ||
	       command == EZ_CMD_PROCESS_SETTINGS_UPDATE;
}

static int receive_process(struct ezprof_conn *conn, struct ez_reader *in)
{
	struct ez_str pickle;
	uint8_t command;
	int err = ez_read_u8(in, &command);

	if (err)
		return err;
	if (!has_answer(command) && command != EZ_CMD_PROCESS_PROFILING_TRACE_UPDATE &&
	    command != EZ_CMD_PROCESS_ROUTE_RESPONSE) {
		ez_log(EZ_LOG_DEBUG, "%s: skipped %02x on a process's link", conn->peer, command);
		return 0;
	}
	err = ez_read_str(in, conn->server->config.payload_bytes_max, &pickle);
	if (!err && has_answer(command)) {
		ez_put_u8(&conn->out, EZ_CMD_COMPLETE);
		ezprof_conn_flush(conn);
	}
	return err;
}

static const struct ezprof_role process_role = {
	.name = "process's message",
	.receive = receive_process,
};

static int receive_nothing(struct ezprof_conn *conn, struct ez_reader *in)
{
	(void)conn;
	in->pos = in->len;
	return 0;
}

static const struct ezprof_role stream_role = {
	.name = "stream",
	.receive = receive_nothing,
};

static int begin(struct ezprof_conn *conn, const struct ezprof_role *role)
{
	char id[EZ_UUID_TEXT_BYTES];

	ezprof_server_new_id(id);
	ezprof_conn_become(conn, role, NULL);
	ezprof_conn_establish(conn);
	ez_put_text(&conn->out, id);
	ez_put_u8(&conn->out, EZ_CMD_COMPLETE);
	ezprof_conn_flush(conn);
	return 0;
}

int ezprof_process_begin(struct ezprof_conn *conn, struct ez_reader *in)
{
	(void)in;
	return begin(conn, &process_role);
}

int ezprof_stream_begin(struct ezprof_conn *conn, struct ez_reader *in)
{
	/* A number as text, or a pickle: the same frame. */
	struct ez_str argument;
	int err = ez_read_str(in, conn->server->config.payload_bytes_max, &argument);

	return err ? err : begin(conn, &stream_role);
}
