/* SPDX-License-Identifier: MIT */
#include "channel.h"

#include <errno.h>
#include <stdlib.h>

#include "endpoint.h"
#include "log.h"
#include "publisher.h"
#include "subscriber.h"

struct ez_channel *ez_channel_ref(struct ez_channel *channel)
{
	__atomic_add_fetch(&channel->refs, 1, __ATOMIC_RELAXED);
	return channel;
}

static void free_pools(struct ez_channel *channel)
{
	struct ez_delivery *delivery, *next_delivery;
	struct ez_item *item, *next_item;

	for (delivery = channel->free_deliveries; delivery; delivery = next_delivery) {
		next_delivery = delivery->next_free;
		free(delivery);
	}
	for (item = channel->free_items; item; item = next_item) {
		next_item = item->next;
		free(item);
	}
	ez_rx_heap_empty(&channel->free_heaps);
}

void ez_channel_unref(struct ez_channel *channel)
{
	if (!channel || __atomic_sub_fetch(&channel->refs, 1, __ATOMIC_ACQ_REL))
		return;
	free_pools(channel);
	ez_buffer_free(&channel->acks);
	ez_segment_unref(channel->segment);
	ez_publisher_unref(channel->local);
	pthread_mutex_destroy(&channel->lock);
	free(channel->topic);
	free(channel);
}

static void retire(struct ez_io_job *job)
{
	struct ez_channel *channel =
		(struct ez_channel *)((char *)job - offsetof(struct ez_channel, retire_job));
	bool idle;

	pthread_mutex_lock(&channel->lock);
	idle = channel->users == 0 && channel->state != EZ_CHANNEL_CLOSED;
	pthread_mutex_unlock(&channel->lock);
	if (idle)
		ez_channel_close(channel);
	ez_channel_unref(channel);
}

static void release(struct ez_io_job *job)
{
	ez_channel_unref(
		(struct ez_channel *)((char *)job - offsetof(struct ez_channel, release_job)));
}

void ez_channel_check_idle_locked(struct ez_channel *channel)
{
	if (channel->users)
		return;
	if (channel->state != EZ_CHANNEL_CLOSED) {
		/* The job has a reference of its own: the channel may be closed before it runs. */
		ez_channel_ref(channel);
		if (!ez_io_post(channel->context->io, &channel->retire_job))
			ez_channel_unref(channel);
		return;
	}
	ez_registry_close(channel->entry);
	channel->entry = NULL;
}

static struct ez_channel *channel_new(struct ez_context *context,
				      const struct ez_uuid *publisher_id)
{
	struct ez_channel *channel = calloc(1, sizeof(*channel));
	struct ez_publisher *local = ez_context_publisher(context, publisher_id);

	if (!channel)
		return NULL;
	channel->context = context;
	channel->refs = 1;
	channel->publisher_id = *publisher_id;
	channel->local = local ? ez_publisher_ref(local) : NULL;
	ez_lock_init(&channel->lock);
	ez_channel_acks_init(channel);
	channel->retire_job.run = retire;
	channel->release_job.run = release;
	channel->next = context->channels;
	context->channels = channel;
	return channel;
}

struct ez_channel *ez_channel_get(struct ez_context *context, const struct ez_uuid *publisher_id)
{
	struct ez_channel *channel = ez_context_channel_of(context, publisher_id);
	bool is_new = !channel;

	if (is_new)
		channel = channel_new(context, publisher_id);
	if (!channel)
		return NULL;
	pthread_mutex_lock(&channel->lock);
	channel->users++;
	pthread_mutex_unlock(&channel->lock);
	if (is_new)
		ez_channel_setup(channel);
	return channel;
}

void ez_channel_put(struct ez_channel *channel)
{
	pthread_mutex_lock(&channel->lock);
	channel->users--;
	ez_channel_check_idle_locked(channel);
	pthread_mutex_unlock(&channel->lock);
}

/* Taps join and leave on this thread only, so the one that is found stays. */
static struct ez_tap *find_staying(struct ez_channel *channel)
{
	struct ez_tap *tap;

	pthread_mutex_lock(&channel->lock);
	tap = channel->taps;
	while (tap && tap->leaving)
		tap = tap->next;
	pthread_mutex_unlock(&channel->lock);
	return tap;
}

static void tell_taps(struct ez_channel *channel)
{
	struct ez_subscriber *subscriber;
	struct ez_tap *tap;

	while ((tap = find_staying(channel))) {
		subscriber = ez_subscriber_ref(tap->subscriber);
		ez_tap_leave(tap);
		ez_subscriber_settle(subscriber);
		ez_subscriber_unref(subscriber);
	}
}

static void leave_context(struct ez_channel *channel)
{
	struct ez_channel **at = &channel->context->channels;

	while (*at != channel)
		at = &(*at)->next;
	*at = channel->next;
}

static void settled(struct ez_channel *channel)
{
	void (*tell)(void *) = channel->settled;

	channel->settled = NULL;
	if (tell)
		tell(channel->settled_argument);
}

void ez_channel_close(struct ez_channel *channel)
{
	leave_context(channel);
	pthread_mutex_lock(&channel->lock);
	ez_channel_flush_acks_locked(channel);
	channel->state = EZ_CHANNEL_CLOSED;
	ez_channel_check_idle_locked(channel);
	pthread_mutex_unlock(&channel->lock);
	ez_io_timer_stop(channel->context->io, &channel->timer);
	ez_stream_close(&channel->peer);
	ez_stream_close(&channel->graph);
	ez_stream_close(&channel->lease);
	ez_channel_rx_free(channel);
	tell_taps(channel);
	settled(channel);
	ez_io_defer(channel->context->io, &channel->release_job);
}

static void open_entry_locked(struct ez_channel *channel)
{
	const struct ez_endpoint_spec spec = {
		.kind = EZ_KIND_CHANNEL,
		.num_buffers = channel->num_buffers,
		.id = channel->id.bytes,
		.publisher_id = channel->publisher_id.bytes,
		.channel_id = channel->id.bytes,
		.topic = channel->topic,
	};
	struct ez_tap *tap;

	ez_registry_open(&spec, &channel->entry);
	for (tap = channel->taps; tap; tap = tap->next)
		if (!tap->leaving)
			ez_tap_open_entry_locked(tap);
}

void ez_channel_shared(struct ez_channel *channel)
{
	pthread_mutex_lock(&channel->lock);
	for (struct ez_tap *tap = channel->taps; tap; tap = tap->next)
		ez_subscriber_unsettle_poller(tap->subscriber);
	pthread_mutex_unlock(&channel->lock);
}

void ez_channel_up(struct ez_channel *channel)
{
	struct ez_tap *tap;

	pthread_mutex_lock(&channel->lock);
	channel->state = EZ_CHANNEL_UP;
	channel->gather.limit = ez_gather_limit(channel->num_buffers);
	channel->peer.writable = ez_channel_rx_writable;
	channel->peer.batch_end = ez_channel_rx_batch_end;
	open_entry_locked(channel);
	/* Nobody may have waited for it: its users left during the setup. */
	ez_channel_check_idle_locked(channel);
	pthread_mutex_unlock(&channel->lock);
	ez_channel_shared(channel);
	/* Those that join or leave do so on this thread. */
	for (tap = channel->taps; tap; tap = tap->next)
		ez_subscriber_settle(tap->subscriber);
	settled(channel);
}
