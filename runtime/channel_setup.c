/* SPDX-License-Identifier: MIT */
/*
 * How a channel comes up: ask the graph server for an id and the publisher's address, greet the
 * publisher, attach its segment, tell it whether that worked, get the number of buffers. One step
 * after the other, nothing blocks, one deadline for all of it.
 */
#include "channel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "greeting.h"
#include "log.h"
#include "peer_identity.h"
#include "profile_answer.h"
#include "registry_layout.h"
#include "request.h"

/* The old handshake names no topic; so long is a second name waited for. */
#define SECOND_NAME_NS (100 * EZ_NS_PER_MS)
#define FRAME_BYTES_MAX 4096

static struct ez_channel *of_graph(struct ez_stream *stream)
{
	return (struct ez_channel *)((char *)stream - offsetof(struct ez_channel, graph));
}

static void fail(struct ez_channel *channel, const char *what, int err)
{
	char id[EZ_UUID_TEXT_BYTES];

	ez_uuid_format(&channel->publisher_id, id);
	ez_log(EZ_LOG_WARN, "no channel to publisher %s: %s: %s", id, what, strerror(-err));
	ez_channel_close(channel);
}

static void setup_timeout(struct ez_io_timer *timer)
{
	struct ez_channel *channel =
		(struct ez_channel *)((char *)timer - offsetof(struct ez_channel, timer));

	fail(channel, "setup", -ETIMEDOUT);
}

/* One for all steps: who takes each as late as possible gains nothing. */
static void back_to_deadline(struct ez_channel *channel)
{
	channel->timer.fire = setup_timeout;
	ez_io_timer_set(channel->context->io, &channel->timer, channel->setup_deadline_ns);
}

/* ---- the publisher's side of it ---- */

static int take_complete(struct ez_channel *channel, struct ez_reader *reader)
{
	uint64_t num_buffers;
	uint8_t command;
	int err = ez_read_u8(reader, &command);

	if (!err && command != EZ_CMD_COMPLETE)
		return -EPROTO;
	if (!err)
		err = ez_read_u64(reader, &num_buffers);
	if (err)
		return err;
	if (num_buffers == 0 || num_buffers > EZ_REGISTRY_BUFFERS_MAX)
		return -EPROTO;
	channel->num_buffers = (uint32_t)num_buffers;
	channel->phase = EZ_SETUP_DONE;
	ez_io_timer_stop(channel->context->io, &channel->timer);
	if (channel->context->elide_ok) {
		/* Before anybody hears that the channel is up; a socket this fresh has room. */
		ez_put_u8(&channel->peer.out, EZ_CMD_ELIDE_OK);
		ez_stream_flush(&channel->peer);
	}
	ez_channel_up(channel);
	return 0;
}

static void confirm(struct ez_channel *channel)
{
	channel->phase = EZ_SETUP_CONFIRM;
	ez_put_u8(&channel->peer.out, channel->shm_ok ? EZ_CMD_SHM_OK : EZ_CMD_SHM_ATTACH_FAILED);
	ez_put_u64(&channel->peer.out, (uint64_t)getpid());
	ez_stream_flush(&channel->peer);
	ez_stream_resume(&channel->peer);
}

static void second_name_timeout(struct ez_io_timer *timer)
{
	struct ez_channel *channel =
		(struct ez_channel *)((char *)timer - offsetof(struct ez_channel, timer));
	struct ez_reader reader;
	struct ez_str first;
	char name[EZ_SEGMENT_NAME_BYTES];

	ez_reader_init(&reader, channel->peer.in.data, channel->peer.in.len);
	if (ez_read_str(&reader, sizeof(name) - 1, &first) || reader.pos < reader.len) {
		back_to_deadline(channel);
		return;
	}
	memcpy(name, first.data, first.len);
	name[first.len] = '\0';
	ez_buffer_reset(&channel->peer.in);
	channel->topic = strdup("");
	if (!channel->topic) {
		fail(channel, "its name", -ENOMEM);
		return;
	}
	channel->phase = EZ_SETUP_ATTACH;
	channel->peer.paused = true;
	back_to_deadline(channel);
	ez_channel_attach(channel, name);
}

static void names_came(struct ez_channel *channel)
{
	if (channel->timer.fire == second_name_timeout)
		back_to_deadline(channel);
}

/* The names of the handshake: topic and segment, or, in the old form, the segment alone. */
static int take_names(struct ez_channel *channel, struct ez_reader *reader)
{
	struct ez_str topic, segment;
	char name[EZ_SEGMENT_NAME_BYTES];
	int err = ez_read_str(reader, EZ_TOPIC_BYTES_MAX, &topic);

	if (!err)
		err = ez_read_str(reader, sizeof(name) - 1, &segment);
	if (err)
		return err;
	if (memchr(topic.data, '\0', topic.len) || memchr(segment.data, '\0', segment.len))
		return -EPROTO;
	channel->topic = strndup(topic.data, topic.len);
	if (!channel->topic)
		return -ENOMEM;
	names_came(channel);
	memcpy(name, segment.data, segment.len);
	name[segment.len] = '\0';
	channel->phase = EZ_SETUP_ATTACH;
	channel->peer.paused = true;
	ez_channel_attach(channel, name);
	return 0;
}

/* The only string so far looks like a segment's name: it may be the whole of an old handshake. */
static void watch_for_old_form(struct ez_channel *channel, const struct ez_reader *start)
{
	struct ez_reader reader = *start;
	struct ez_str first;

	if (ez_read_str(&reader, EZ_SEGMENT_NAME_BYTES - 1, &first) || reader.pos < reader.len ||
	    first.len < 4 || memcmp(first.data, "psm_", 4) != 0 ||
	    channel->timer.fire == second_name_timeout)
		return;
	channel->timer.fire = second_name_timeout;
	ez_io_timer_set(channel->context->io, &channel->timer, ez_clock_mono_ns() + SECOND_NAME_NS);
}

static int peer_parse(struct ez_stream *stream, struct ez_reader *reader)
{
	struct ez_channel *channel = ez_channel_of_peer(stream);
	const struct ez_reader start = *reader;
	int err;

	if (channel->phase == EZ_SETUP_DONE)
		return ez_channel_rx_parse(stream, reader);
	if (channel->phase == EZ_SETUP_CONFIRM)
		return take_complete(channel, reader);
	err = take_names(channel, reader);
	if (err == -EAGAIN)
		watch_for_old_form(channel, &start);
	return err;
}

static void peer_closed(struct ez_stream *stream, int err)
{
	struct ez_channel *channel = ez_channel_of_peer(stream);

	if (channel->phase == EZ_SETUP_DONE) {
		ez_log(EZ_LOG_DEBUG, "channel of topic %s ends: %s", channel->topic,
		       strerror(-err));
		ez_channel_close(channel);
	} else {
		fail(channel, "the publisher's answer", err);
	}
}

static int dial_publisher(struct ez_channel *channel, const struct ez_address *address)
{
	struct ez_stream *peer = &channel->peer;
	char id[EZ_UUID_TEXT_BYTES];

	ez_uuid_format(&channel->id, id);
	channel->phase = EZ_SETUP_NAMES;
	ez_put_u8(&peer->out, EZ_CMD_CHANNEL);
	ez_put_text(&peer->out, id);
	return ez_stream_dial(peer, address);
}

/* ---- the segment: channel_attach.c ---- */

void ez_channel_setup_attached(struct ez_channel *channel, int err)
{
	/* In the publisher's process for sure, or surely not to be mistaken for it. */
	channel->shm_ok = !err && (channel->local || ez_peer_pid_is_clear(&channel->peer));
	if (!channel->shm_ok)
		ez_stream_close(&channel->lease);
	confirm(channel);
}

/* ---- the graph server's side of it ---- */

static int take_id(struct ez_channel *channel, struct ez_reader *reader)
{
	struct ez_address address;
	struct ez_str id, where;
	uint8_t command;
	int err = ez_read_u8(reader, &command);

	if (!err && command != EZ_CMD_COMPLETE)
		return -EPROTO;
	if (!err)
		err = ez_read_str(reader, EZ_NAME_BYTES_MAX, &id);
	if (!err)
		err = ez_read_str(reader, EZ_NAME_BYTES_MAX, &where);
	if (err)
		return err;
	err = ez_uuid_parse(id.data, id.len, &channel->id);
	if (!err)
		err = ez_parse_address_n(where.data, where.len, &address);
	if (err)
		return -EPROTO;
	if (channel->context->server_is_ours) {
		ez_request_link_mark(&channel->graph.out, EZ_PROGRAM);
		ez_stream_flush(&channel->graph);
	}
	err = dial_publisher(channel, &address);
	if (err)
		fail(channel, "its address", err);
	return 0;
}

static int graph_parse(struct ez_stream *stream, struct ez_reader *reader)
{
	struct ez_channel *channel = of_graph(stream);
	struct ez_str version;
	char id[EZ_UUID_TEXT_BYTES];
	int err;

	if (channel->phase > EZ_SETUP_ID)
		return ez_channel_answer(channel, reader);
	if (channel->phase == EZ_SETUP_ID)
		return take_id(channel, reader);
	err = ez_read_str(reader, EZ_VERSION_BYTES - 1, &version);
	if (err)
		return err;
	channel->phase = EZ_SETUP_ID;
	ez_uuid_format(&channel->publisher_id, id);
	ez_request_channel(&stream->out, id);
	ez_stream_flush(stream);
	return 0;
}

static void graph_closed(struct ez_stream *stream, int err)
{
	struct ez_channel *channel = of_graph(stream);

	/* The link to the publisher lives on without the server, until the subscribers leave. */
	if (channel->phase <= EZ_SETUP_ID)
		fail(channel, "the graph server's answer", err);
}

void ez_channel_setup(struct ez_channel *channel)
{
	int err;

	ez_stream_init(&channel->graph, channel->context->io, FRAME_BYTES_MAX);
	ez_buffer_init(&channel->graph.out, EZ_PROFILE_BYTES_MAX);
	channel->graph.parse = graph_parse;
	channel->graph.closed = graph_closed;
	ez_stream_init(&channel->peer, channel->context->io, FRAME_BYTES_MAX);
	channel->peer.parse = peer_parse;
	channel->peer.closed = peer_closed;
	channel->peer.guard = &channel->lock;
	channel->peer.sunk = ez_channel_rx_sunk;
	ez_channel_attach_init(channel);
	channel->setup_deadline_ns = ez_clock_mono_ns() + EZ_CHANNEL_SETUP_NS;
	back_to_deadline(channel);
	err = ez_stream_dial(&channel->graph, &channel->context->address);
	if (err)
		fail(channel, "the graph server", err);
}
