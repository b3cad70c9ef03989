/* SPDX-License-Identifier: MIT */
/* Acknowledgements to the publisher: at once, or in a flow of messages with the next ones. */
#include "channel.h"

#include <errno.h>
#include <sys/socket.h>

#include "command.h"
#include "frame.h"

#define ACK_BYTES 9
#define ACKS_BYTES_MAX (16 << 20)

/* What doesn't go out now does so from the I/O thread (ez_channel_rx_writable()). */
void ez_channel_flush_acks_locked(struct ez_channel *channel)
{
	ssize_t n;

	channel->gather.held = 0;
	if (channel->peer.want_write || !channel->acks.len || !ez_stream_is_open(&channel->peer))
		return;
	n = send(channel->peer.source.fd, channel->acks.data, channel->acks.len,
		 MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		ez_buffer_reset(&channel->acks); /* broken: the reading side sees it too */
		return;
	}
	if (n > 0)
		ez_buffer_consume(&channel->acks, (size_t)n);
	if (channel->acks.len)
		ez_stream_want_write_locked(&channel->peer, true);
}

static bool add_locked(struct ez_channel *channel, uint64_t message_id)
{
	uint8_t frame[ACK_BYTES] = {EZ_CMD_RX_ACK};

	if (channel->state != EZ_CHANNEL_UP || !ez_stream_is_open(&channel->peer))
		return false;
	ez_store_u64(frame + 1, message_id);
	ez_buffer_append(&channel->acks, frame, sizeof(frame));
	return true;
}

/* Those of messages that nobody took leave in one write, when all that came has been looked at. */
void ez_channel_acknowledge_locked(struct ez_channel *channel, uint64_t message_id)
{
	if (!add_locked(channel, message_id))
		return;
	if (ez_stream_is_parsing(&channel->peer))
		channel->acks_held = true;
	else
		ez_channel_flush_acks_locked(channel);
}

static void set_late_job_locked(struct ez_channel *channel, ez_mono_ns_t now_ns)
{
	ez_channel_ref(channel);
	if (!ez_io_at_latest(channel->context->io, &channel->gather_job, now_ns))
		ez_channel_unref(channel);
}

void ez_channel_acknowledge_soon_locked(struct ez_channel *channel, uint64_t message_id,
					ez_mono_ns_t now_ns)
{
	if (!add_locked(channel, message_id))
		return;
	if (!ez_gather_add(&channel->gather, now_ns))
		ez_channel_flush_acks_locked(channel);
	else if (channel->gather.held == 1)
		set_late_job_locked(channel, now_ns);
}

/* The I/O thread: nobody came back. */
static void flush_on_io(struct ez_io_late *job)
{
	struct ez_channel *channel =
		(struct ez_channel *)((char *)job - offsetof(struct ez_channel, gather_job));

	pthread_mutex_lock(&channel->lock);
	if (channel->gather.held)
		ez_channel_flush_acks_locked(channel);
	pthread_mutex_unlock(&channel->lock);
	ez_channel_unref(channel);
}

void ez_channel_acks_init(struct ez_channel *channel)
{
	ez_buffer_init(&channel->acks, ACKS_BYTES_MAX);
	channel->gather_job.run = flush_on_io;
}
