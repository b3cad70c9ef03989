/* SPDX-License-Identifier: MIT */
#include "control_link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json_writer.h"
#include "profile_request.h"

#define HELLO_BYTES_MAX 65536

static int receive_answer(struct ezprof_control *control, struct ez_reader *in)
{
	struct ez_str text;
	uint8_t command;
	int err = ez_read_u8(in, &command);

	if (err)
		return err;
	if (command != EZ_CMD_PROFILE_DATA)
		return -EPROTO;
	err = ez_read_str(in, control->conn->server->config.payload_bytes_max, &text);
	if (!err)
		ezprof_respondent_receive(&control->respondent, text);
	return err;
}

static void answer_client(void *arg, const char *json, size_t len)
{
	struct ezprof_control *control = arg;

	control->request = NULL;
	if (!json) {
		ezprof_conn_finish(control->conn);
		return;
	}
	ezprof_profile_put(control->conn, json, len);
	ezprof_conn_flush(control->conn);
	ezprof_conn_pump(control->conn);
}

static int receive_request(struct ezprof_control *control, struct ez_reader *in)
{
	uint64_t window_ms;
	uint8_t command;
	int err;

	/* The next one when this one is answered: answers have no number. */
	if (control->request)
		return EZPROF_NOT_NOW;
	err = ez_read_u8(in, &command);
	if (err)
		return err;
	if (command != EZ_CMD_PROFILE)
		return -EPROTO;
	err = ez_read_u64(in, &window_ms);
	if (err)
		return err;
	control->request =
		ezprof_profile_start(control->conn->server, window_ms, answer_client, control);
	return control->request ? 0 : -ENOMEM;
}

static int receive(struct ezprof_conn *conn, struct ez_reader *in)
{
	struct ezprof_control *control = conn->data;

	return control->is_agent ? receive_answer(control, in) : receive_request(control, in);
}

static void gone(struct ezprof_conn *conn)
{
	struct ezprof_control *control = conn->data;

	if (control->is_agent) {
		DL_DELETE(conn->server->agents, control);
		ezprof_respondent_gone(&control->respondent);
		ez_log(EZ_LOG_INFO, "agent %s left", ezprof_conn_peer(conn));
	}
	if (control->request)
		ezprof_profile_cancel(control->request);
	free(control);
}

static const struct ezprof_role control_role = {
	.name = "message on a control link",
	.receive = receive,
	.gone = gone,
};

static void put_hello(struct ez_buffer *out)
{
	struct ez_buffer text;
	struct ez_json json;

	ez_buffer_init(&text, HELLO_BYTES_MAX);
	ez_json_init(&json, &text);
	ez_json_object_begin(&json);
	ez_json_kv_str(&json, "program", "ezprof-graphserver");
	ez_json_kv_str(&json, "version", EZPROF_VERSION);
	ez_json_key(&json, "capabilities");
	ez_json_array_begin(&json);
	ez_json_str(&json, "profile");
	ez_json_array_end(&json);
	ez_json_object_end(&json);
	ez_put_u8(out, EZ_CMD_HELLO);
	ez_put_str(out, (const char *)text.data, text.len);
	if (text.err)
		out->err = text.err;
	ez_buffer_free(&text);
}

int ezprof_control_begin(struct ezprof_conn *conn, struct ez_reader *in)
{
	struct ezprof_identity identity;
	struct ezprof_control *control;
	struct ez_str text;
	int err = ez_read_str(in, HELLO_BYTES_MAX, &text);

	if (err)
		return err;
	if (ezprof_identity_parse(text.data, text.len, &identity))
		return -EPROTO;
	control = calloc(1, sizeof(*control));
	if (!control)
		return -ENOMEM;
	control->conn = conn;
	control->is_agent = strcmp(identity.role, "agent") == 0;
	if (control->is_agent) {
		control->respondent.conn = conn;
		control->respondent.identity = identity;
		control->respondent.has_identity = true;
		control->respondent.may_be_asked = true;
		DL_APPEND(conn->server->agents, control);
		ez_log(EZ_LOG_INFO, "agent %s joined: %s %s, pid %lld on %s",
		       ezprof_conn_peer(conn), identity.program, identity.version,
		       (long long)identity.pid, identity.host);
	}
	ezprof_conn_become(conn, &control_role, control);
	ezprof_conn_establish(conn);
	put_hello(&conn->out);
	ezprof_conn_flush(conn);
	return 0;
}
