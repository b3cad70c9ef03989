/* SPDX-License-Identifier: MIT */
/*
 * The segment of a channel: a lease on it from the graph server, then the mapping. What was
 * received in an earlier segment stays mapped by its deliveries.
 */
#include "channel.h"

#include <errno.h>
#include <stdio.h>

#include "command.h"
#include "greeting.h"
#include "request.h"

#define FRAME_BYTES_MAX 1024

static struct ez_channel *of_lease(struct ez_stream *stream)
{
	return (struct ez_channel *)((char *)stream - offsetof(struct ez_channel, lease));
}

static void attached(struct ez_channel *channel, int err)
{
	if (err)
		ez_stream_close(&channel->lease);
	if (channel->phase == EZ_SETUP_DONE)
		ez_channel_rx_attached(channel, err);
	else
		ez_channel_setup_attached(channel, err);
}

/* The server's answer: the lease stands, now the segment can be mapped. */
static int take_lease(struct ez_channel *channel, struct ez_reader *reader)
{
	struct ez_segment *segment = NULL;
	struct ez_str name;
	uint8_t command;
	int err = ez_read_u8(reader, &command);

	if (!err && command != EZ_CMD_COMPLETE)
		return -EPROTO;
	if (!err)
		err = ez_read_str(reader, EZ_SEGMENT_NAME_BYTES - 1, &name);
	if (err)
		return err;
	channel->attach_phase = EZ_ATTACH_HELD;
	err = ez_segment_map(channel->segment_name, false, &segment);
	channel->segment = err ? NULL : segment;
	attached(channel, err);
	return 0;
}

static int lease_parse(struct ez_stream *stream, struct ez_reader *reader)
{
	struct ez_channel *channel = of_lease(stream);
	struct ez_str version;
	uint8_t skipped;
	int err;

	if (channel->attach_phase == EZ_ATTACH_HELD)
		return ez_read_u8(reader, &skipped);
	if (channel->attach_phase == EZ_ATTACH_ANSWER)
		return take_lease(channel, reader);
	err = ez_read_str(reader, EZ_VERSION_BYTES - 1, &version);
	if (err)
		return err;
	channel->attach_phase = EZ_ATTACH_ANSWER;
	ez_request_shm_attach(&stream->out, channel->segment_name);
	ez_stream_flush(stream);
	return 0;
}

static void lease_closed(struct ez_stream *stream, int err)
{
	struct ez_channel *channel = of_lease(stream);

	/* A lease that ends later, with the server, leaves the mapping as it is. */
	if (channel->attach_phase != EZ_ATTACH_HELD)
		attached(channel, err);
}

void ez_channel_attach(struct ez_channel *channel, const char *name)
{
	int err;

	ez_stream_close(&channel->lease);
	ez_segment_unref(channel->segment);
	channel->segment = NULL;
	snprintf(channel->segment_name, sizeof(channel->segment_name), "%s", name);
	channel->attach_phase = EZ_ATTACH_GREETING;
	err = ez_stream_dial(&channel->lease, &channel->context->address);
	if (err)
		attached(channel, err);
}

void ez_channel_attach_init(struct ez_channel *channel)
{
	ez_stream_init(&channel->lease, channel->context->io, FRAME_BYTES_MAX);
	channel->lease.parse = lease_parse;
	channel->lease.closed = lease_closed;
}
