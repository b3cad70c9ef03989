/* SPDX-License-Identifier: MIT */
#include "publisher_link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "departure.h"
#include "fd.h"
#include "request.h"
#include "subscriber_link.h"

struct ezprof_publisher *ezprof_publisher_find(const struct ezprof_server *server, struct ez_str id)
{
	struct ezprof_publisher *publisher;
	char text[EZ_UUID_TEXT_BYTES];
	struct ez_uuid uuid;

	/* By value, not by text: a client may write the id in capitals. */
	if (ez_uuid_parse(id.data, id.len, &uuid))
		return NULL;
	ez_uuid_format(&uuid, text);
	HASH_FIND_STR(server->publishers_by_id, text, publisher);
	return publisher;
}

int ezprof_publisher_address(const struct ezprof_publisher *publisher, char out[EZ_ADDRESS_BYTES])
{
	struct ez_address address = {.port = publisher->port};
	int err = ez_fd_peer_host(publisher->conn->fd, address.host, sizeof(address.host));

	if (!err)
		ez_address_format(&address, out);
	return err;
}

static void created(void *arg)
{
	struct ezprof_publisher *publisher = arg;

	publisher->creating = NULL;
	ez_put_u8(&publisher->conn->out, EZ_CMD_COMPLETE);
	ezprof_conn_flush(publisher->conn);
}

/* Only now that it can be reached is it listed anywhere. */
static int enlist(struct ezprof_publisher *publisher)
{
	struct ezprof_server *server = publisher->conn->server;

	publisher->creating = ezprof_confirmation_new(server, created, publisher);
	if (!publisher->creating)
		return -ENOMEM;
	HASH_ADD_STR(server->publishers_by_id, id, publisher);
	if (!publisher->hh.tbl)
		return -ENOMEM;
	publisher->registered = true;
	publisher->respondent.may_be_asked = server->config.dialect == EZPROF_DIALECT_PR206;
	publisher->seq = server->next_seq++;
	DL_APPEND(server->publishers, publisher);
	DL_APPEND2(publisher->topic->publishers, publisher, topic_prev, topic_next);
	ezprof_conn_establish(publisher->conn);
	ezprof_update_downstream(server, publisher->topic, publisher->creating);
	ezprof_confirmation_wait(publisher->creating, server->config.update_timeout_ms);
	return 0;
}

static int receive_address(struct ezprof_publisher *publisher, struct ez_reader *in)
{
	struct ez_address address;
	struct ez_str text;
	int err = ez_read_str(in, EZ_NAME_BYTES_MAX, &text);

	if (err)
		return err;
	if (ez_parse_address_n(text.data, text.len, &address) || address.port == 0)
		return -EINVAL;
	publisher->port = address.port;
	return enlist(publisher);
}

static int receive(struct ezprof_conn *conn, struct ez_reader *in)
{
	struct ezprof_publisher *publisher = conn->data;
	struct ez_str text;
	uint8_t command;
	int err;

	if (!publisher->registered)
		return receive_address(publisher, in);
	err = ez_read_u8(in, &command);
	if (err)
		return err;
	switch (command) {
	case EZ_CMD_COMPLETE:
		ezprof_owed_confirmed(&publisher->syncs);
		return 0;
	case EZ_CMD_PROFILE_DATA:
		err = ez_read_str(in, conn->server->config.payload_bytes_max, &text);
		if (!err)
			ezprof_respondent_receive(&publisher->respondent, text);
		return err;
	default:
		ez_log(EZ_LOG_DEBUG, "%s: skipped %02x on a publisher's link",
		       ezprof_conn_peer(conn), command);
		return 0;
	}
}

static void gone(struct ezprof_conn *conn)
{
	struct ezprof_publisher *publisher = conn->data;
	struct ezprof_server *server = conn->server;

	if (publisher->creating)
		ezprof_confirmation_cancel(publisher->creating);
	if (publisher->hh.tbl)
		HASH_DEL(server->publishers_by_id, publisher);
	if (publisher->registered) {
		DL_DELETE(server->publishers, publisher);
		DL_DELETE2(publisher->topic->publishers, publisher, topic_prev, topic_next);
		if (!server->stopping)
			ezprof_departure_of(server, publisher->topic);
	}
	ezprof_owed_drop(&publisher->syncs);
	ezprof_respondent_gone(&publisher->respondent);
	ezprof_graph_release(&server->graph, publisher->topic);
	free(publisher);
}

static const struct ezprof_role publisher_role = {
	.name = "publisher's message",
	.receive = receive,
	.gone = gone,
};

int ezprof_publisher_begin(struct ezprof_conn *conn, struct ez_reader *in)
{
	struct ezprof_publisher *publisher;
	struct ez_str topic;
	int err = ezprof_read_topic(conn, in, &topic);

	if (err)
		return err;
	publisher = calloc(1, sizeof(*publisher));
	if (!publisher)
		return -ENOMEM;
	publisher->topic = ezprof_graph_hold(&conn->server->graph, topic.data, topic.len);
	if (!publisher->topic) {
		free(publisher);
		return -ENOMEM;
	}
	publisher->conn = conn;
	publisher->respondent.conn = conn;
	ezprof_server_new_id(publisher->id);
	ezprof_conn_become(conn, &publisher_role, publisher);
	ez_put_text(&conn->out, publisher->id);
	ezprof_conn_flush(conn);
	return 0;
}
