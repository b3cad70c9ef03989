/* SPDX-License-Identifier: MIT */
#include "session_link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "request.h"
#include "session_pickle.h"
#include "subscriber_link.h"
#include "topology.h"

typedef int (*answer_fn)(struct ezprof_session *session, struct ez_reader *in);

static void complete(struct ezprof_session *session, uint8_t command)
{
	ez_put_u8(&session->conn->out, command);
	ezprof_conn_flush(session->conn);
}

/* All subscribers that the change concerns have confirmed it. */
static void changed(void *arg)
{
	struct ezprof_session *session = arg;

	session->changing = NULL;
	complete(session, EZ_CMD_COMPLETE);
	ezprof_conn_pump(session->conn);
}

/* Unlike CONNECT, a session is answered after the UPDATEs were confirmed. */
static int tell_and_complete(struct ezprof_session *session, struct ezprof_told *told)
{
	struct ezprof_server *server = session->conn->server;

	session->changing = ezprof_confirmation_new(server, changed, session);
	ezprof_told_send(told, session->changing);
	if (!session->changing)
		return -ENOMEM;
	ezprof_confirmation_wait(session->changing, server->config.update_timeout_ms);
	return 0;
}

static int change_edge(struct ezprof_session *session, struct ez_reader *in, bool connect)
{
	struct ezprof_told told = {.server = session->conn->server};
	struct ezprof_topic *to;
	int result = ezprof_topology_change(session->conn, in, connect, session->owner, &to);

	if (result == -ELOOP) {
		complete(session, EZ_CMD_CYCLIC);
		return 0;
	}
	if (result < 0)
		return result;
	if (result == 1)
		ezprof_told_add(to, &told);
	ezprof_graph_release(&told.server->graph, to);
	return tell_and_complete(session, &told);
}

static int answer_connect(struct ezprof_session *session, struct ez_reader *in)
{
	return change_edge(session, in, true);
}

static int answer_disconnect(struct ezprof_session *session, struct ez_reader *in)
{
	return change_edge(session, in, false);
}

static int answer_clear(struct ezprof_session *session, struct ez_reader *in)
{
	struct ezprof_told told = {.server = session->conn->server};

	(void)in;
	ezprof_graph_drop_owner(&told.server->graph, session->owner, ezprof_told_add, &told);
	return tell_and_complete(session, &told);
}

/* Metadata of units: nothing of it is needed. */
static int answer_register(struct ezprof_session *session, struct ez_reader *in)
{
	struct ez_str pickle;
	int err = ez_read_str(in, session->conn->server->config.payload_bytes_max, &pickle);

	if (!err)
		complete(session, EZ_CMD_COMPLETE);
	return err;
}

/* Sends what `put` writes, as u64 length, bytes, COMPLETE. */
static int complete_pickle(struct ezprof_session *session, struct ez_buffer *pickle)
{
	int err = pickle->err;

	if (!err) {
		ez_put_str(&session->conn->out, (const char *)pickle->data, pickle->len);
		complete(session, EZ_CMD_COMPLETE);
	}
	ez_buffer_free(pickle);
	return err;
}

static int answer_snapshot(struct ezprof_session *session, struct ez_reader *in)
{
	struct ez_buffer pickle;

	(void)in;
	ez_buffer_init(&pickle, EZ_DAG_BYTES_MAX);
	ezprof_session_pickle_snapshot(&pickle, session->conn->server);
	return complete_pickle(session, &pickle);
}

static int answer_settings(struct ezprof_session *session, struct ez_reader *in)
{
	struct ez_buffer pickle;

	(void)in;
	ez_buffer_init(&pickle, EZ_NAME_BYTES_MAX);
	ezprof_session_pickle_no_settings(&pickle);
	return complete_pickle(session, &pickle);
}

static int answer_events(struct ezprof_session *session, struct ez_reader *in)
{
	struct ez_buffer pickle;
	struct ez_str after_seq;
	int err = ez_read_str(in, EZ_NAME_BYTES_MAX, &after_seq);

	if (err)
		return err;
	ez_buffer_init(&pickle, EZ_NAME_BYTES_MAX);
	ezprof_session_pickle_no_events(&pickle);
	return complete_pickle(session, &pickle);
}

/* Requests to units aren't routed: nobody owns any. */
static int answer_process_request(struct ezprof_session *session, struct ez_reader *in)
{
	uint64_t max = session->conn->server->config.payload_bytes_max;
	struct ez_str unit, operation, timeout, payload;
	char id[EZ_UUID_TEXT_BYTES];
	struct ez_buffer pickle;
	int err = ezprof_read_topic(session->conn, in, &unit);

	if (!err)
		err = ez_read_str(in, EZ_NAME_BYTES_MAX, &operation);
	if (!err)
		err = ez_read_str(in, EZ_NAME_BYTES_MAX, &timeout);
	if (!err)
		err = ez_read_str(in, max, &payload);
	if (err)
		return err;
	ezprof_server_new_id(id);
	ez_buffer_init(&pickle, 2 * max);
	ezprof_session_pickle_unroutable(&pickle, id, unit);
	return complete_pickle(session, &pickle);
}

static const struct {
	uint8_t command;
	answer_fn answer;
} answers[] = {
	{EZ_CMD_SESSION_CONNECT, answer_connect},
	{EZ_CMD_SESSION_DISCONNECT, answer_disconnect},
	{EZ_CMD_SESSION_CLEAR, answer_clear},
	{EZ_CMD_SESSION_REGISTER, answer_register},
	{EZ_CMD_SESSION_SNAPSHOT, answer_snapshot},
	{EZ_CMD_SESSION_SETTINGS_SNAPSHOT, answer_settings},
	{EZ_CMD_SESSION_SETTINGS_EVENTS, answer_events},
	{EZ_CMD_SESSION_PROCESS_REQUEST, answer_process_request},
};

static int receive(struct ezprof_conn *conn, struct ez_reader *in)
{
	struct ezprof_session *session = conn->data;
	uint8_t command;
	int err;

	if (session->changing)
		return EZPROF_NOT_NOW;
	err = ez_read_u8(in, &command);
	if (err)
		return err;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (answers[i].command == command)
			return answers[i].answer(session, in);
	ez_log(EZ_LOG_DEBUG, "%s: skipped %02x on a session's link", conn->peer, command);
	return 0;
}

static void gone(struct ezprof_conn *conn)
{
	struct ezprof_session *session = conn->data;
	struct ezprof_told told = {.server = conn->server};

	if (session->changing)
		ezprof_confirmation_cancel(session->changing);
	DL_DELETE(conn->server->sessions, session);
	ezprof_graph_drop_owner(&conn->server->graph, session->owner, ezprof_told_add, &told);
	ezprof_told_send(&told, NULL);
	free(session);
}

static const struct ezprof_role session_role = {
	.name = "session's message",
	.receive = receive,
	.gone = gone,
};

int ezprof_session_begin(struct ezprof_conn *conn)
{
	struct ezprof_session *session = calloc(1, sizeof(*session));

	if (!session)
		return -ENOMEM;
	session->conn = conn;
	session->owner = conn->server->next_owner++;
	ezprof_server_new_id(session->id);
	DL_APPEND(conn->server->sessions, session);
	ezprof_conn_become(conn, &session_role, session);
	ezprof_conn_establish(conn);
	ez_put_text(&conn->out, session->id);
	complete(session, EZ_CMD_COMPLETE);
	return 0;
}
