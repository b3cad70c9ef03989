/* SPDX-License-Identifier: MIT */
/* A publisher's end of its connections: accept, handshake, frames out, acknowledgements in. */
#include "publisher.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "command.h"
#include "endpoint.h"
#include "fd.h"
#include "log.h"
#include "request.h"

#define FRAME_BYTES_MAX 4096
#define LISTEN_PAUSE_NS (100 * EZ_NS_PER_MS)

static struct ez_link *of_stream(struct ez_stream *stream)
{
	return (struct ez_link *)((char *)stream - offsetof(struct ez_link, stream));
}

/* ---- leases ---- */

static void lease_ended_locked(struct ez_publisher *publisher, uint64_t slot)
{
	if (publisher->slots.leases[slot] == 0 && publisher->observers &&
	    slot == publisher->next_id % publisher->num_buffers)
		ez_publisher_wake_locked(publisher);
	if (publisher->syncs_owed)
		ez_publisher_check_sync_locked(publisher);
}

/* The counting comes last: nothing needs to be kept in registers across it. */
void ez_link_release_locked(struct ez_link *link, uint64_t message_id)
{
	struct ez_publisher *publisher = link->publisher;
	uint64_t slot = message_id % publisher->num_buffers;
	uint64_t bytes = publisher->slots.bytes[slot];

	if (!ez_slots_release(&publisher->slots, &link->holder, slot, message_id))
		return;
	lease_ended_locked(publisher, slot);
	ez_endpoint_free(link->entry, message_id, bytes);
}

void ez_link_depart_locked(struct ez_link *link, uint64_t message_id)
{
	struct ez_publisher *publisher = link->publisher;
	uint64_t slot = message_id % publisher->num_buffers;

	if (!ez_slots_release(&publisher->slots, &link->holder, slot, message_id))
		return;
	publisher->departed++;
	lease_ended_locked(publisher, slot);
	ez_endpoint_free_departed(link->entry, message_id);
}

void ez_link_local_release(struct ez_publisher *publisher, uint64_t message_id)
{
	pthread_mutex_lock(&publisher->lock);
	if (publisher->local_link)
		ez_link_release_locked(publisher->local_link, message_id);
	pthread_mutex_unlock(&publisher->lock);
}

static void depart_all_locked(struct ez_link *link)
{
	uint64_t slot, message_id;

	for (slot = 0; slot < link->publisher->num_buffers; slot++)
		if (ez_holder_has(&link->holder, slot, &message_id))
			ez_link_depart_locked(link, message_id);
}

/* ---- frames out ---- */

static void set_sending_locked(struct ez_link *link, bool sending)
{
	struct ez_publisher *publisher = link->publisher;

	if (link->sending == sending)
		return;
	link->sending = sending;
	if (sending)
		publisher->sending_links++;
	else if (--publisher->sending_links == 0)
		ez_publisher_wake_locked(publisher);
}

/* 0 = all written, or the link is broken, which its reading side will tell; -EAGAIN. */
static int write_some(struct ez_link *link)
{
	int err = ez_frames_out_write(&link->out, link->stream.source.fd);

	if (err && err != -EAGAIN) {
		/* Half a frame, and perhaps (EFAULT) the memory's fault, not the socket's. */
		shutdown(link->stream.source.fd, SHUT_RDWR);
		ez_frames_out_clear(&link->out);
		err = 0;
	}
	return err;
}

void ez_link_flush_locked(struct ez_link *link)
{
	if (!ez_stream_is_open(&link->stream))
		ez_frames_out_clear(&link->out);
	if (link->sending || !link->out.parts || !write_some(link))
		return;
	set_sending_locked(link, true);
	ez_stream_want_write_locked(&link->stream, true);
}

static void link_writable(struct ez_stream *stream)
{
	struct ez_link *link = of_stream(stream);

	pthread_mutex_lock(&link->publisher->lock);
	if (!link->sending || !write_some(link)) {
		ez_stream_want_write_locked(stream, false);
		set_sending_locked(link, false);
	}
	pthread_mutex_unlock(&link->publisher->lock);
}

/* ---- handshake ---- */

static int take_channel_id(struct ez_link *link, struct ez_reader *reader)
{
	struct ez_publisher *publisher = link->publisher;
	struct ez_str id;
	uint8_t command;
	int err = ez_read_u8(reader, &command);

	if (!err && command != EZ_CMD_CHANNEL)
		return -EPROTO;
	if (!err)
		err = ez_read_str(reader, EZ_NAME_BYTES_MAX, &id);
	if (err)
		return err;
	if (ez_uuid_parse(id.data, id.len, &link->channel_id))
		return -EPROTO;
	link->named = true;
	if (!publisher->pr206)
		ez_put_text(&link->stream.out, publisher->topic);
	pthread_mutex_lock(&publisher->lock);
	ez_put_text(&link->stream.out, publisher->lease->segment->name);
	pthread_mutex_unlock(&publisher->lock);
	ez_stream_flush(&link->stream);
	return 0;
}

static void open_entry_locked(struct ez_link *link)
{
	const struct ez_publisher *publisher = link->publisher;
	char peer[EZ_HOST_BYTES] = "";
	struct ez_endpoint_spec spec = {
		.kind = EZ_KIND_LINK,
		.num_buffers = publisher->num_buffers,
		.id = link->channel_id.bytes,
		.publisher_id = publisher->id.bytes,
		.channel_id = link->channel_id.bytes,
		.topic = publisher->topic,
		.handle = peer,
		.peer_pid = (uint32_t)link->pid,
	};

	if (ez_fd_peer_host(link->stream.source.fd, peer, sizeof(peer)))
		peer[0] = '\0';
	ez_registry_open(&spec, &link->entry);
}

/*
 * Anybody may give the id of our own channel for its own, once that is known: the first one is it,
 * since nobody else can know it before.
 */
static bool is_taken(const struct ez_publisher *publisher, const struct ez_channel *channel)
{
	const struct ez_link *link = publisher->links;

	while (link && link->local != channel)
		link = link->next;
	return link != NULL;
}

/* The same process for sure: the channel is an object of this context. */
static void find_local(struct ez_link *link)
{
	struct ez_publisher *publisher = link->publisher;
	struct ez_channel *channel = ez_context_channel(publisher->context, &link->channel_id);

	if (!channel || channel->local != publisher || is_taken(publisher, channel))
		return;
	link->local = ez_channel_ref(channel);
	link->is_local = link->shm_ok && publisher->allow_local && !publisher->force_tcp;
}

/*
 * COMPLETE and the first frame that follows it: under one lock, so that whoever publishes after the
 * channel has heard of its success reaches it.
 */
static int go_up(struct ez_link *link)
{
	struct ez_publisher *publisher = link->publisher;
	uint8_t complete[9] = {EZ_CMD_COMPLETE};
	ssize_t n;

	ez_store_u64(complete + 1, publisher->num_buffers);
	pthread_mutex_lock(&publisher->lock);
	n = send(link->stream.source.fd, complete, sizeof(complete), MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n == (ssize_t)sizeof(complete)) {
		open_entry_locked(link);
		link->stream.writable = link_writable;
		publisher->poller.stale = true;
		link->up = true;
		if (link->is_local)
			publisher->local_link = link;
	}
	pthread_mutex_unlock(&publisher->lock);
	return link->up ? 0 : -ENOBUFS;
}

static int take_confirmation(struct ez_link *link, struct ez_reader *reader)
{
	struct ez_publisher *publisher = link->publisher;
	uint8_t command;
	int err = ez_read_u8(reader, &command);

	if (!err && command != EZ_CMD_SHM_OK && command != EZ_CMD_SHM_ATTACH_FAILED)
		return -EPROTO;
	if (!err)
		err = ez_read_u64(reader, &link->pid);
	if (!err)
		err = ez_holder_init(&link->holder, publisher->num_buffers);
	if (err)
		return err;
	link->shm_ok = command == EZ_CMD_SHM_OK;
	find_local(link);
	ez_io_timer_stop(publisher->context->io, &link->timer);
	return go_up(link);
}

static int take_ack(struct ez_link *link, struct ez_reader *reader)
{
	uint64_t message_id;
	uint8_t command;
	int err = ez_read_u8(reader, &command);

	/* 29 and 2a of newer releases, and whatever else: one byte each, as Python does it. */
	if (err || command != EZ_CMD_RX_ACK)
		return err;
	err = ez_read_u64(reader, &message_id);
	if (err)
		return err;
	pthread_mutex_lock(&link->publisher->lock);
	ez_link_release_locked(link, message_id);
	pthread_mutex_unlock(&link->publisher->lock);
	return 0;
}

static int link_parse(struct ez_stream *stream, struct ez_reader *reader)
{
	struct ez_link *link = of_stream(stream);

	if (link->up)
		return take_ack(link, reader);
	return link->named ? take_confirmation(link, reader) : take_channel_id(link, reader);
}

/* ---- beginning and end ---- */

static void link_release(struct ez_io_job *job)
{
	struct ez_link *link =
		(struct ez_link *)((char *)job - offsetof(struct ez_link, release_job));

	ez_holder_free(&link->holder);
	ez_channel_unref(link->local);
	ez_publisher_unref(link->publisher);
	free(link);
}

void ez_link_close(struct ez_link *link)
{
	struct ez_publisher *publisher = link->publisher;
	struct ez_link **at = &publisher->links;

	pthread_mutex_lock(&publisher->lock);
	while (*at != link)
		at = &(*at)->next;
	*at = link->next;
	if (publisher->local_link == link)
		publisher->local_link = NULL;
	set_sending_locked(link, false);
	if (link->up)
		depart_all_locked(link);
	ez_endpoint_keep_departures(publisher->entry, link->entry);
	ez_registry_close(link->entry);
	link->entry = NULL;
	link->up = false;
	publisher->poller.stale = true;
	pthread_mutex_unlock(&publisher->lock);
	ez_io_timer_stop(publisher->context->io, &link->timer);
	ez_stream_close(&link->stream);
	ez_io_defer(publisher->context->io, &link->release_job);
}

void ez_links_close(struct ez_publisher *publisher)
{
	while (publisher->links)
		ez_link_close(publisher->links);
}

static void link_closed(struct ez_stream *stream, int err)
{
	struct ez_link *link = of_stream(stream);

	ez_log(EZ_LOG_DEBUG, "topic %s: a channel of process %ju ends: %s", link->publisher->topic,
	       (uintmax_t)link->pid, strerror(-err));
	ez_link_close(link);
}

static void handshake_timeout(struct ez_io_timer *timer)
{
	ez_link_close((struct ez_link *)((char *)timer - offsetof(struct ez_link, timer)));
}

static void link_begin(struct ez_publisher *publisher, int fd)
{
	struct ez_io *io = publisher->context->io;
	struct ez_link *link = calloc(1, sizeof(*link));

	if (!link) {
		ez_fd_close(fd);
		return;
	}
	link->publisher = ez_publisher_ref(publisher);
	ez_stream_init(&link->stream, io, FRAME_BYTES_MAX + EZ_TOPIC_BYTES_MAX);
	link->stream.guard = &publisher->lock;
	link->stream.parse = link_parse;
	link->stream.closed = link_closed;
	link->release_job.run = link_release;
	link->timer.fire = handshake_timeout;
	ez_io_timer_set(io, &link->timer, ez_clock_mono_ns() + EZ_CHANNEL_SETUP_NS);
	pthread_mutex_lock(&publisher->lock);
	link->next = publisher->links;
	publisher->links = link;
	pthread_mutex_unlock(&publisher->lock);
	if (ez_stream_adopt(&link->stream, fd))
		ez_link_close(link);
}

static void listen_again(struct ez_io_timer *timer)
{
	struct ez_publisher *publisher =
		(struct ez_publisher *)((char *)timer -
					offsetof(struct ez_publisher, listen_timer));

	ez_io_set_events(publisher->context->io, &publisher->listener, EPOLLIN);
}

void ez_link_accept(struct ez_io_source *listener, uint32_t events)
{
	struct ez_publisher *publisher =
		(struct ez_publisher *)((char *)listener - offsetof(struct ez_publisher, listener));
	struct ez_io *io = publisher->context->io;
	int fd = ez_fd_accept(listener->fd, true);

	(void)events;
	if (fd >= 0) {
		link_begin(publisher, fd);
		return;
	}
	if (fd == -EAGAIN || fd == -ECONNABORTED || fd == -EINTR)
		return;
	/* Out of descriptors, say: the connection stays, and would wake us without end. */
	ez_log(EZ_LOG_WARN, "topic %s: accept: %s", publisher->topic, strerror(-fd));
	ez_io_set_events(io, listener, 0);
	publisher->listen_timer.fire = listen_again;
	ez_io_timer_set(io, &publisher->listen_timer, ez_clock_mono_ns() + LISTEN_PAUSE_NS);
}
