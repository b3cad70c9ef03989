/* SPDX-License-Identifier: MIT */
/*
 * The subscriber's link to the graph server: UPDATE carries the complete list of publishers that it
 * hears, and is confirmed once there is a channel to each, or none can be had.
 */
#include "subscriber.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "fd.h"
#include "log.h"
#include "request.h"

#define ID_BYTES (EZ_UUID_TEXT_BYTES - 1)
#define DRAIN_READS 1000

static struct ez_subscriber *of_graph(struct ez_stream *stream)
{
	return (struct ez_subscriber *)((char *)stream - offsetof(struct ez_subscriber, graph));
}

struct id_list {
	struct ez_uuid *ids;
	size_t n;
};

/* "id,id,id", or nothing. */
static int parse_ids(const struct ez_str *text, struct id_list *ret_list)
{
	size_t n = text->len ? (text->len + 1) / (ID_BYTES + 1) : 0;
	struct ez_uuid *ids = calloc(n + 1, sizeof(*ids));
	size_t i;
	int err = 0;

	if (!ids)
		return -ENOMEM;
	if (n && n * (ID_BYTES + 1) != text->len + 1)
		err = -EPROTO;
	for (i = 0; i < n && !err; i++) {
		const char *at = text->data + i * (ID_BYTES + 1);

		err = i + 1 < n && at[ID_BYTES] != ',' ? -EPROTO
						       : ez_uuid_parse(at, ID_BYTES, &ids[i]);
	}
	if (text->len && !n)
		err = -EPROTO;
	if (err) {
		free(ids);
		return -EPROTO;
	}
	ret_list->ids = ids;
	ret_list->n = n;
	return 0;
}

static bool list_has(const struct id_list *list, const struct ez_uuid *id)
{
	for (size_t i = 0; i < list->n; i++)
		if (ez_uuid_equal(&list->ids[i], id))
			return true;
	return false;
}

static bool hears(const struct ez_subscriber *subscriber, const struct ez_uuid *publisher_id)
{
	const struct ez_tap *tap;

	for (tap = subscriber->taps; tap; tap = tap->subscriber_next)
		if (ez_uuid_equal(&tap->channel->publisher_id, publisher_id))
			return true;
	return false;
}

static void join(struct ez_subscriber *subscriber, const struct ez_uuid *publisher_id)
{
	struct ez_channel *channel = ez_channel_get(subscriber->context, publisher_id);

	if (!channel)
		return;
	if (channel->state != EZ_CHANNEL_CLOSED)
		ez_tap_join(channel, subscriber);
	ez_channel_put(channel);
}

static void apply(struct ez_subscriber *subscriber, const struct id_list *list)
{
	struct ez_tap *tap, *next;

	for (tap = subscriber->taps; tap; tap = next) {
		next = tap->subscriber_next;
		if (!list_has(list, &tap->channel->publisher_id))
			ez_tap_leave(tap);
	}
	for (size_t i = 0; i < list->n; i++)
		if (!hears(subscriber, &list->ids[i]))
			join(subscriber, &list->ids[i]);
}

void ez_subscriber_settle(struct ez_subscriber *subscriber)
{
	const struct ez_tap *tap;

	for (tap = subscriber->taps; tap; tap = tap->subscriber_next)
		if (tap->channel->state == EZ_CHANNEL_SETUP)
			return;
	if (!subscriber->updates_owed || !ez_stream_is_open(&subscriber->graph))
		return;
	for (; subscriber->updates_owed; subscriber->updates_owed--)
		ez_put_u8(&subscriber->graph.out, EZ_CMD_COMPLETE);
	ez_stream_flush(&subscriber->graph);
}

static int take_update(struct ez_subscriber *subscriber, struct ez_reader *reader)
{
	struct id_list list;
	struct ez_str text;
	int err = ez_read_str(reader, EZ_UPDATE_BYTES_MAX, &text);

	if (!err)
		err = parse_ids(&text, &list);
	if (err)
		return err;
	/* Counted after the joins: a channel that fails at once must not confirm too early. */
	apply(subscriber, &list);
	subscriber->updates_owed++;
	ez_subscriber_settle(subscriber);
	free(list.ids);
	return 0;
}

static void created(struct ez_subscriber *subscriber)
{
	pthread_mutex_lock(&subscriber->lock);
	subscriber->created = true;
	pthread_cond_broadcast(&subscriber->cond);
	pthread_mutex_unlock(&subscriber->lock);
}

static int take_id(struct ez_subscriber *subscriber, struct ez_reader *reader)
{
	struct ez_str id;
	int err = ez_read_str(reader, EZ_NAME_BYTES_MAX, &id);

	if (err)
		return err;
	subscriber->identified = true;
	return ez_uuid_parse(id.data, id.len, &subscriber->id) ? -EPROTO : 0;
}

static int graph_parse(struct ez_stream *stream, struct ez_reader *reader)
{
	struct ez_subscriber *subscriber = of_graph(stream);
	uint8_t command;
	int err;

	if (!subscriber->identified)
		return take_id(subscriber, reader);
	err = ez_read_u8(reader, &command);
	if (err)
		return err;
	if (command == EZ_CMD_UPDATE)
		return take_update(subscriber, reader);
	if (command == EZ_CMD_COMPLETE)
		created(subscriber);
	else
		ez_log(EZ_LOG_DEBUG, "subscriber: command %02x skipped", command);
	return 0;
}

/*
 * What the publishers had sent by now was in flight, and is received. A channel that ends by that
 * takes its own tap with it and no other.
 */
static void drain_all(struct ez_subscriber *subscriber)
{
	struct ez_tap *tap, *next;

	for (tap = subscriber->taps; tap; tap = next) {
		next = tap->subscriber_next;
		ez_stream_drain(&tap->channel->peer, DRAIN_READS);
	}
}

static void leave_all(struct ez_subscriber *subscriber)
{
	while (subscriber->taps)
		ez_tap_leave(subscriber->taps);
}

/* The server is gone: what is queued may be read, then ez_receive() says so. */
static void graph_closed(struct ez_stream *stream, int err)
{
	struct ez_subscriber *subscriber = of_graph(stream);

	ez_log(EZ_LOG_WARN, "subscriber of %s has lost the graph server: %s", subscriber->topic,
	       strerror(-err));
	drain_all(subscriber);
	leave_all(subscriber);
	pthread_mutex_lock(&subscriber->lock);
	subscriber->failed = -ECONNRESET;
	ez_subscriber_wake_all_locked(subscriber);
	pthread_mutex_unlock(&subscriber->lock);
}

static void release(struct ez_io_job *job)
{
	ez_subscriber_unref((struct ez_subscriber *)((char *)job -
						     offsetof(struct ez_subscriber, release_job)));
}

int ez_subscriber_start(struct ez_subscriber *subscriber, int fd)
{
	struct ez_context *context = subscriber->context;

	ez_stream_init(&subscriber->graph, context->io, EZ_UPDATE_BYTES_MAX + 64);
	subscriber->graph.parse = graph_parse;
	subscriber->graph.closed = graph_closed;
	subscriber->release_job.run = release;
	ez_subscriber_ref(subscriber);
	subscriber->next = context->subscribers;
	context->subscribers = subscriber;
	return ez_stream_adopt(&subscriber->graph, fd);
}

void ez_subscriber_stop(struct ez_subscriber *subscriber)
{
	struct ez_subscriber **at = &subscriber->context->subscribers;

	while (*at != subscriber)
		at = &(*at)->next;
	*at = subscriber->next;
	while (subscriber->taps)
		ez_tap_evict(subscriber->taps);
	/* Those that left before had unread messages still. */
	ez_items_depart(ez_subscriber_purge(subscriber, NULL));
	ez_stream_close(&subscriber->graph);
	ez_io_defer(subscriber->context->io, &subscriber->release_job);
}
