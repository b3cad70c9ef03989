/* SPDX-License-Identifier: MIT */
#include "session_link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "meta_reader.h"
#include "process_request.h"
#include "request.h"
#include "stream_link.h"
#include "subscriber_link.h"
#include "topology.h"
#include "topology_events.h"

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
	if (result == 1) {
		struct ezprof_changed changed = {0};

		ezprof_changed_add(&changed, to->name);
		ezprof_topology_event_graph(told.server, &changed, session->id);
		ezprof_told_add(to, &told);
	}
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

/* What ends with a session's edges: who has to be told of it, and the event about it. */
struct loss {
	struct ezprof_told told;
	struct ezprof_changed changed;
};

static void lose_edge(struct ezprof_topic *to, void *arg)
{
	struct loss *loss = arg;

	ezprof_told_add(to, &loss->told);
	ezprof_changed_add(&loss->changed, to->name);
}

/* Takes away what the session made. The set of those to be told is left to the caller. */
static void drop_all(struct ezprof_session *session, struct ezprof_told *ret_told)
{
	struct ezprof_server *server = session->conn->server;
	struct loss loss = {.told = {.server = server}};

	ezprof_graph_drop_owner(&server->graph, session->owner, lose_edge, &loss);
	ezprof_settings_drop_session(session);
	ezprof_topology_event_graph(server, &loss.changed, session->id);
	*ret_told = loss.told;
}

static int answer_clear(struct ezprof_session *session, struct ez_reader *in)
{
	struct ezprof_told told;

	(void)in;
	drop_all(session, &told);
	return tell_and_complete(session, &told);
}

static int answer_register(struct ezprof_session *session, struct ez_reader *in)
{
	struct ez_pickle_tree *tree = NULL;
	const struct ez_node *state;
	struct ez_str pickle;
	int err = ez_read_str(in, session->conn->server->config.payload_bytes_max, &pickle);

	if (err)
		return err;
	err = ezprof_meta_read(pickle, "GraphMetadata", &tree, &state);
	if (!err)
		err = ezprof_settings_register(session, state);
	ez_pickle_tree_free(tree);
	/* What can't be read is accepted as if nothing had been said: ezmsg's rule. */
	if (err && err != -EEXIST)
		ezprof_conn_complain(session->conn, "ignored its GraphMetadata: %s",
				     strerror(-err));
	else if (err)
		ezprof_conn_complain(session->conn, "refused its components: another session's");
	complete(session, err == -EEXIST ? EZ_CMD_ERROR : EZ_CMD_COMPLETE);
	return 0;
}

/* Sends it as u64 length, bytes, COMPLETE. */
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

static size_t answer_bytes_max(const struct ezprof_session *session)
{
	return session->conn->server->config.pending_bytes_max;
}

static int answer_snapshot(struct ezprof_session *session, struct ez_reader *in)
{
	struct ez_buffer pickle;

	(void)in;
	ez_buffer_init(&pickle, answer_bytes_max(session));
	ezprof_pickle_snapshot(&pickle, session->conn->server);
	return complete_pickle(session, &pickle);
}

static int answer_settings(struct ezprof_session *session, struct ez_reader *in)
{
	struct ez_buffer pickle;

	(void)in;
	ez_buffer_init(&pickle, answer_bytes_max(session));
	ezprof_settings_put_snapshot(session->conn->server, &pickle);
	return complete_pickle(session, &pickle);
}

static int answer_events(struct ezprof_session *session, struct ez_reader *in)
{
	struct ez_buffer pickle;
	uint64_t after_seq;
	int err = ezprof_stream_read_seq(in, &after_seq);

	if (err)
		return err;
	ez_buffer_init(&pickle, answer_bytes_max(session));
	ezprof_event_log_put_list(&session->conn->server->settings_log, after_seq, &pickle);
	return complete_pickle(session, &pickle);
}

static int parse_timeout(struct ez_str text, double *ret_seconds)
{
	char number[64];

	if (text.len >= sizeof(number))
		return -EINVAL;
	memcpy(number, text.data, text.len);
	number[text.len] = '\0';
	return ez_parse_double(number, ret_seconds) ? -EINVAL : 0;
}

static void process_answered(void *arg, struct ez_str pickle)
{
	struct ezprof_session *session = arg;

	session->request = NULL;
	if (!pickle.len) {
		ezprof_conn_finish(session->conn);
		return;
	}
	ez_put_str(&session->conn->out, pickle.data, pickle.len);
	complete(session, EZ_CMD_COMPLETE);
	ezprof_conn_pump(session->conn);
}

static int answer_process_request(struct ezprof_session *session, struct ez_reader *in)
{
	struct ezprof_server *server = session->conn->server;
	struct ezprof_process_question question;
	struct ez_str timeout;
	int err = ezprof_read_topic(session->conn, in, &question.unit);

	if (!err)
		err = ezprof_read_topic(session->conn, in, &question.operation);
	if (!err)
		err = ez_read_str(in, EZ_NAME_BYTES_MAX, &timeout);
	if (!err)
		err = ez_read_str(in, server->config.payload_bytes_max, &question.payload);
	if (!err)
		err = parse_timeout(timeout, &question.timeout_s);
	if (err)
		return err;
	return ezprof_process_request_start(server, &question, process_answered, session,
					    &session->request);
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

	if (session->changing || session->request)
		return EZPROF_NOT_NOW;
	err = ez_read_u8(in, &command);
	if (err)
		return err;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (answers[i].command == command)
			return answers[i].answer(session, in);
	ez_log(EZ_LOG_DEBUG, "%s: skipped %02x on a session's link", ezprof_conn_peer(conn),
	       command);
	return 0;
}

static void gone(struct ezprof_conn *conn)
{
	struct ezprof_session *session = conn->data;
	struct ezprof_told told;

	if (session->changing)
		ezprof_confirmation_cancel(session->changing);
	if (session->request)
		ezprof_process_request_cancel(session->request);
	drop_all(session, &told);
	DL_DELETE(conn->server->sessions, session);
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
