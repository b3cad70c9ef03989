/* SPDX-License-Identifier: MIT */
#include "channel_link.h"

#include <errno.h>
#include <stdlib.h>

#include "command.h"
#include "publisher_link.h"
#include "request.h"

static int receive(struct ezprof_conn *conn, struct ez_reader *in)
{
	struct ezprof_channel *channel = conn->data;
	struct ez_str text;
	uint8_t command;
	int err = ez_read_u8(in, &command);

	if (err || command != EZ_CMD_PROFILE_DATA)
		return err;
	err = ez_read_str(in, conn->server->config.payload_bytes_max, &text);
	if (!err)
		ezprof_respondent_receive(&channel->respondent, text);
	return err;
}

static void gone(struct ezprof_conn *conn)
{
	struct ezprof_channel *channel = conn->data;

	DL_DELETE(conn->server->channels, channel);
	ezprof_respondent_gone(&channel->respondent);
	ezprof_graph_release(&conn->server->graph, channel->topic);
	free(channel);
}

static const struct ezprof_role channel_role = {
	.name = "channel's message",
	.receive = receive,
	.gone = gone,
};

int ezprof_channel_begin(struct ezprof_conn *conn, struct ez_reader *in)
{
	char address[EZ_ADDRESS_BYTES];
	struct ezprof_publisher *publisher;
	struct ezprof_channel *channel;
	struct ez_str id;
	int err = ez_read_str(in, EZ_NAME_BYTES_MAX, &id);

	if (err)
		return err;
	publisher = ezprof_publisher_find(conn->server, id);
	if (!publisher || ezprof_publisher_address(publisher, address)) {
		ez_log(EZ_LOG_INFO, "%s wants a channel to a publisher that isn't there: %.*s",
		       ezprof_conn_peer(conn), EZPROF_STR_ARGS(id));
		ezprof_conn_finish(conn);
		return 0;
	}
	channel = calloc(1, sizeof(*channel));
	if (!channel)
		return -ENOMEM;
	channel->conn = conn;
	channel->respondent.conn = conn;
	channel->respondent.may_be_asked = conn->server->config.dialect == EZPROF_DIALECT_PR206;
	channel->topic = publisher->topic;
	channel->topic->holds++;
	ezprof_server_new_id(channel->id);
	DL_APPEND(conn->server->channels, channel);
	ezprof_conn_become(conn, &channel_role, channel);
	ezprof_conn_establish(conn);
	ez_put_u8(&conn->out, EZ_CMD_COMPLETE);
	ez_put_text(&conn->out, channel->id);
	ez_put_text(&conn->out, address);
	ezprof_conn_flush(conn);
	return 0;
}
