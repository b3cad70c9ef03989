/* SPDX-License-Identifier: MIT */
#include "subscriber_link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "publisher_link.h"
#include "utf8.h"

int ezprof_read_topic(struct ezprof_conn *conn, struct ez_reader *in, struct ez_str *ret_topic)
{
	struct ez_str topic;
	int err = ez_read_str(in, conn->server->config.string_bytes_max, &topic);

	if (err)
		return err;
	if (!ez_utf8_is_valid(topic.data, topic.len) || memchr(topic.data, '\0', topic.len))
		return -EILSEQ;
	*ret_topic = topic;
	return 0;
}

/* The publishers that one subscriber receives from, while they are gathered. */
struct upstream {
	struct ezprof_publisher **publishers;
	size_t n, capacity;
	bool failed;
};

static void gather(struct ezprof_topic *topic, void *arg)
{
	struct upstream *upstream = arg;
	struct ezprof_publisher *publisher;

	DL_FOREACH2(topic->publishers, publisher, topic_next)
	{
		if (upstream->n == upstream->capacity) {
			size_t capacity = upstream->capacity ? 2 * upstream->capacity : 16;
			void *grown = realloc(upstream->publishers, capacity * sizeof(void *));

			if (!grown) {
				upstream->failed = true;
				return;
			}
			upstream->publishers = grown;
			upstream->capacity = capacity;
		}
		upstream->publishers[upstream->n++] = publisher;
	}
}

static int by_seq(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_publishers(const void *a, const void *b)
{
	return by_seq((*(struct ezprof_publisher *const *)a)->seq,
		      (*(struct ezprof_publisher *const *)b)->seq);
}

static int compare_subscribers(const void *a, const void *b)
{
	return by_seq((*(struct ezprof_subscriber *const *)a)->seq,
		      (*(struct ezprof_subscriber *const *)b)->seq);
}

/* UPDATE with the ids of all publishers upstream, comma-joined, in order of registration. */
static void send_update(struct ezprof_subscriber *subscriber,
			struct ezprof_confirmation *confirmation)
{
	struct ez_buffer *out = &subscriber->conn->out;
	struct upstream upstream = {0};
	size_t id_bytes = EZ_UUID_TEXT_BYTES - 1;

	ezprof_graph_upstream(&subscriber->conn->server->graph, subscriber->topic, gather,
			      &upstream);
	if (upstream.failed) {
		/* An incomplete list would make it drop channels; better none. */
		ez_log(EZ_LOG_ERROR, "no memory for an UPDATE");
		free(upstream.publishers);
		return;
	}
	if (upstream.n)
		qsort(upstream.publishers, upstream.n, sizeof(void *), compare_publishers);
	ez_put_u8(out, EZ_CMD_UPDATE);
	ez_put_u64(out, upstream.n ? upstream.n * (id_bytes + 1) - 1 : 0);
	for (size_t i = 0; i < upstream.n; i++) {
		if (i)
			ez_put_u8(out, ',');
		ez_buffer_append(out, upstream.publishers[i]->id, id_bytes);
	}
	free(upstream.publishers);
	subscriber->aware_of = subscriber->conn->server->changes;
	ezprof_owed_sent(&subscriber->updates, confirmation);
	ezprof_conn_flush(subscriber->conn);
}

static void add_subscribers(struct ezprof_topic *topic, void *arg)
{
	struct ezprof_told *told = arg;
	struct ezprof_subscriber *subscriber;

	DL_FOREACH(topic->subscribers, subscriber)
	{
		if (told->unaware_of && subscriber->aware_of >= told->unaware_of)
			continue;
		if (told->n == told->capacity) {
			size_t capacity = told->capacity ? 2 * told->capacity : 16;
			void *grown = realloc(told->subscribers, capacity * sizeof(void *));

			if (!grown) {
				told->failed = true;
				return;
			}
			told->subscribers = grown;
			told->capacity = capacity;
		}
		told->subscribers[told->n++] = subscriber;
	}
}

void ezprof_told_add(struct ezprof_topic *topic, void *arg)
{
	struct ezprof_told *told = arg;

	ezprof_graph_downstream(&told->server->graph, topic, add_subscribers, told);
}

void ezprof_told_send(struct ezprof_told *told, struct ezprof_confirmation *confirmation)
{
	if (told->failed)
		ez_log(EZ_LOG_ERROR, "no memory to tell all subscribers of a change");
	if (told->n)
		qsort(told->subscribers, told->n, sizeof(void *), compare_subscribers);
	for (size_t i = 0; i < told->n; i++)
		if (i == 0 || told->subscribers[i] != told->subscribers[i - 1])
			send_update(told->subscribers[i], confirmation);
	free(told->subscribers);
	*told = (struct ezprof_told){.server = told->server};
}

void ezprof_update_downstream(struct ezprof_server *server, struct ezprof_topic *topic,
			      struct ezprof_confirmation *confirmation)
{
	struct ezprof_told told = {.server = server};

	ezprof_told_add(topic, &told);
	ezprof_told_send(&told, confirmation);
}

/* COMPLETE confirms an UPDATE; anything else is skipped, one byte each, as ezmsg's servers do. */
static int receive(struct ezprof_conn *conn, struct ez_reader *in)
{
	struct ezprof_subscriber *subscriber = conn->data;
	uint8_t command;
	int err = ez_read_u8(in, &command);

	if (err)
		return err;
	if (command == EZ_CMD_COMPLETE)
		ezprof_owed_confirmed(&subscriber->updates);
	else
		ez_log(EZ_LOG_DEBUG, "%s: skipped %02x on a subscriber's link",
		       ezprof_conn_peer(conn), command);
	return 0;
}

static void gone(struct ezprof_conn *conn)
{
	struct ezprof_subscriber *subscriber = conn->data;

	if (subscriber->creating)
		ezprof_confirmation_cancel(subscriber->creating);
	DL_DELETE(subscriber->topic->subscribers, subscriber);
	ezprof_owed_drop(&subscriber->updates);
	ezprof_graph_release(&conn->server->graph, subscriber->topic);
	free(subscriber);
}

static const struct ezprof_role subscriber_role = {
	.name = "subscriber's message",
	.receive = receive,
	.gone = gone,
};

static void created(void *arg)
{
	struct ezprof_subscriber *subscriber = arg;

	subscriber->creating = NULL;
	ez_put_u8(&subscriber->conn->out, EZ_CMD_COMPLETE);
	ezprof_conn_flush(subscriber->conn);
}

int ezprof_subscriber_begin(struct ezprof_conn *conn, struct ez_reader *in)
{
	struct ezprof_server *server = conn->server;
	struct ezprof_subscriber *subscriber;
	char id[EZ_UUID_TEXT_BYTES];
	struct ez_str topic;
	int err = ezprof_read_topic(conn, in, &topic);

	if (err)
		return err;
	subscriber = calloc(1, sizeof(*subscriber));
	if (!subscriber)
		return -ENOMEM;
	subscriber->conn = conn;
	subscriber->seq = server->next_seq++;
	subscriber->topic = ezprof_graph_hold(&server->graph, topic.data, topic.len);
	subscriber->creating = ezprof_confirmation_new(server, created, subscriber);
	if (!subscriber->topic || !subscriber->creating) {
		if (subscriber->topic)
			ezprof_graph_release(&server->graph, subscriber->topic);
		if (subscriber->creating)
			ezprof_confirmation_cancel(subscriber->creating);
		free(subscriber);
		return -ENOMEM;
	}
	DL_APPEND(subscriber->topic->subscribers, subscriber);
	ezprof_conn_become(conn, &subscriber_role, subscriber);
	ezprof_conn_establish(conn);
	ezprof_server_new_id(id);
	ez_put_text(&conn->out, id);
	send_update(subscriber, subscriber->creating);
	ezprof_confirmation_wait(subscriber->creating, server->config.update_timeout_ms);
	return 0;
}
