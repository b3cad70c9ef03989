/* SPDX-License-Identifier: MIT */
/*
 * What a publisher sends on a channel that is up: TX_SHM names a slot, TX_TCP carries the message.
 * What can't be read there (a stale slot, an unknown segment) is acknowledged and dropped, as newer
 * releases do; a broken TX_TCP ends the link, and so does a segment that was truncated under us.
 */
#include "channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "command.h"
#include "log.h"

/* The smallest message: header and one empty buffer. */
#define MESSAGE_BYTES_MIN 26
#define MESSAGE_BYTES_MAX (UINT64_C(1) << 34)

/* So many more than it may, for what isn't a message: subscribers, repeated ids, freed leases. */
#define UNRELEASED_SPARE 1024

static void drop_unread(struct ez_channel *channel, uint64_t id, const char *why)
{
	ez_log(EZ_LOG_WARN, "topic %s: message %ju is lost: %s", channel->topic, (uintmax_t)id,
	       why);
	pthread_mutex_lock(&channel->lock);
	ez_channel_acknowledge_locked(channel, id);
	pthread_mutex_unlock(&channel->lock);
}

/* -EPROTO: it doesn't wait for acknowledgements, and would fill our memory. */
static int deliver(struct ez_channel *channel, uint64_t id, struct ez_parts *parts,
		   struct ez_segment *segment, uint8_t *heap)
{
	struct ez_item *dropped = NULL;
	bool too_many;

	pthread_mutex_lock(&channel->lock);
	ez_deliver_locked(channel, id, heap ? EZ_VIA_TCP : EZ_VIA_SHM, parts, segment, heap,
			  &dropped);
	too_many = channel->users > 2 * channel->num_buffers + UNRELEASED_SPARE;
	pthread_mutex_unlock(&channel->lock);
	ez_items_drop(dropped);
	if (too_many)
		ez_log(EZ_LOG_WARN, "topic %s: the publisher doesn't wait for %ju unread messages",
		       channel->topic, (uintmax_t)channel->num_buffers);
	return too_many ? -EPROTO : 0;
}

/* -EPROTO: the segment is no longer what it was, nor is the link any good. */
static int deliver_slot(struct ez_channel *channel, uint64_t id)
{
	struct ez_segment *segment = channel->segment;
	uint64_t slot = id % channel->num_buffers;
	struct ez_parts parts;
	int err = slot < segment->slots ? 0 : -ENODATA;

	if (!err)
		err = ez_parts_parse(&parts, ez_segment_slot(segment, slot),
				     ez_segment_usable(segment), id);
	if (ez_segment_lost(segment)) {
		if (!err)
			ez_parts_free(&parts);
		ez_log(EZ_LOG_WARN, "topic %s: somebody has truncated segment %s", channel->topic,
		       segment->name);
		return -EPROTO;
	}
	if (!err)
		return deliver(channel, id, &parts, ez_segment_ref(segment), NULL);
	drop_unread(channel, id, strerror(-err));
	return 0;
}

void ez_channel_rx_attached(struct ez_channel *channel, int err)
{
	if (err) {
		drop_unread(channel, channel->rx_id, strerror(-err));
	} else if (deliver_slot(channel, channel->rx_id)) {
		ez_channel_close(channel);
		return;
	}
	ez_channel_shared(channel);
	ez_stream_resume(&channel->peer);
}

static int take_shm(struct ez_channel *channel, struct ez_reader *reader, uint64_t id)
{
	struct ez_str segment;
	char name[EZ_SEGMENT_NAME_BYTES];
	int err = ez_read_str(reader, sizeof(name) - 1, &segment);

	if (err)
		return err;
	if (channel->segment && strlen(channel->segment_name) == segment.len &&
	    memcmp(channel->segment_name, segment.data, segment.len) == 0)
		return deliver_slot(channel, id);
	if (channel->peer.here)
		return -EINPROGRESS;
	/* The publisher has moved to another one; nothing more is read until it is attached. */
	memcpy(name, segment.data, segment.len);
	name[segment.len] = '\0';
	channel->rx_id = id;
	channel->peer.paused = true;
	ez_channel_attach(channel, name);
	return 0;
}

static int take_tcp(struct ez_channel *channel, struct ez_reader *reader, uint64_t id)
{
	struct ez_stream *peer = &channel->peer;
	uint64_t bytes;
	int err = ez_read_u64(reader, &bytes);

	if (err)
		return err;
	if (bytes < MESSAGE_BYTES_MIN || bytes > MESSAGE_BYTES_MAX)
		return -EMSGSIZE;
	pthread_mutex_lock(&channel->lock);
	channel->rx_heap = ez_rx_heap_take(&channel->free_heaps, (size_t)bytes);
	pthread_mutex_unlock(&channel->lock);
	if (!channel->rx_heap)
		return -ENOMEM;
	channel->rx_id = id;
	channel->rx_bytes = (size_t)bytes;
	peer->sink = channel->rx_heap;
	peer->sink_bytes = (size_t)bytes;
	peer->sink_done = 0;
	return 0;
}

int ez_channel_rx_sunk(struct ez_stream *stream)
{
	struct ez_channel *channel = ez_channel_of_peer(stream);
	uint8_t *heap = channel->rx_heap;
	struct ez_parts parts;
	int err = ez_parts_parse(&parts, heap, channel->rx_bytes, channel->rx_id);

	if (err)
		return -EPROTO;
	channel->rx_heap = NULL;
	return deliver(channel, channel->rx_id, &parts, NULL, heap);
}

int ez_channel_rx_parse(struct ez_stream *stream, struct ez_reader *reader)
{
	struct ez_channel *channel = ez_channel_of_peer(stream);
	uint8_t command;
	uint64_t id;
	int err = ez_read_u8(reader, &command);

	if (!err)
		err = ez_read_u64(reader, &id);
	if (err)
		return err;
	if (command == EZ_CMD_TX_SHM)
		return take_shm(channel, reader, id);
	if (command == EZ_CMD_TX_TCP)
		return take_tcp(channel, reader, id);
	return -EPROTO;
}

void ez_channel_rx_batch_end(struct ez_stream *stream)
{
	struct ez_channel *channel = ez_channel_of_peer(stream);

	if (!channel->acks_held)
		return;
	channel->acks_held = false;
	pthread_mutex_lock(&channel->lock);
	ez_channel_flush_acks_locked(channel);
	pthread_mutex_unlock(&channel->lock);
}

/* The socket has room for acknowledgements that had to wait. */
void ez_channel_rx_writable(struct ez_stream *stream)
{
	struct ez_channel *channel = ez_channel_of_peer(stream);
	ssize_t n;

	pthread_mutex_lock(&channel->lock);
	n = send(stream->source.fd, channel->acks.data, channel->acks.len,
		 MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n > 0)
		ez_buffer_consume(&channel->acks, (size_t)n);
	/* A broken socket is noticed by the reading side. */
	if (!channel->acks.len || (n < 0 && errno != EAGAIN && errno != EINTR))
		ez_stream_want_write_locked(stream, false);
	pthread_mutex_unlock(&channel->lock);
}

void ez_channel_rx_free(struct ez_channel *channel)
{
	pthread_mutex_lock(&channel->lock);
	ez_rx_heap_give(&channel->free_heaps, channel->rx_heap);
	pthread_mutex_unlock(&channel->lock);
	channel->rx_heap = NULL;
}
