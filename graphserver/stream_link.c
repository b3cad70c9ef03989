/* SPDX-License-Identifier: MIT */
#include "stream_link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "request.h"
#include "uuid.h"

struct stream {
	struct ezprof_event_log *log;
	struct ezprof_follower *follower;
};

int ezprof_stream_read_seq(struct ez_reader *in, uint64_t *ret_seq)
{
	char number[24];
	struct ez_str text;
	int err = ez_read_str(in, EZ_NAME_BYTES_MAX, &text);

	if (err)
		return err;
	if (text.len >= sizeof(number))
		return -EINVAL;
	memcpy(number, text.data, text.len);
	number[text.len] = '\0';
	/* A negative one means all, as 0 does. */
	if (number[0] == '-' && ez_parse_u64(number + 1, ret_seq) == 0) {
		*ret_seq = 0;
		return 0;
	}
	return ez_parse_u64(number, ret_seq) ? -EINVAL : 0;
}

void ezprof_stream_accept(struct ezprof_conn *conn)
{
	char id[EZ_UUID_TEXT_BYTES];

	ezprof_server_new_id(id);
	ezprof_conn_establish(conn);
	ez_put_text(&conn->out, id);
	ez_put_u8(&conn->out, EZ_CMD_COMPLETE);
	ezprof_conn_flush(conn);
}

static int receive(struct ezprof_conn *conn, struct ez_reader *in)
{
	(void)conn;
	in->pos = in->len;
	return 0;
}

static void gone(struct ezprof_conn *conn)
{
	struct stream *stream = conn->data;

	ezprof_event_log_leave(stream->log, stream->follower);
	free(stream);
}

static const struct ezprof_role stream_role = {
	.name = "stream",
	.receive = receive,
	.gone = gone,
};

static int begin(struct ezprof_conn *conn, struct ez_reader *in, struct ezprof_event_log *log)
{
	struct stream *stream;
	uint64_t after_seq;
	int err = ezprof_stream_read_seq(in, &after_seq);

	if (err)
		return err;
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return -ENOMEM;
	ezprof_stream_accept(conn);
	stream->log = log;
	stream->follower = ezprof_event_log_follow(log, conn, after_seq);
	if (!stream->follower) {
		free(stream);
		return -ENOMEM;
	}
	ezprof_conn_become(conn, &stream_role, stream);
	return 0;
}

int ezprof_stream_settings_begin(struct ezprof_conn *conn, struct ez_reader *in)
{
	return begin(conn, in, &conn->server->settings_log);
}

int ezprof_stream_topology_begin(struct ezprof_conn *conn, struct ez_reader *in)
{
	return begin(conn, in, &conn->server->topology_log);
}
