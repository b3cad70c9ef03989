/* SPDX-License-Identifier: MIT */
/* Subscribers joining and leaving a channel. */
#include "channel.h"

#include <stdlib.h>

#include "endpoint.h"
#include "subscriber.h"

void ez_tap_open_entry_locked(struct ez_tap *tap)
{
	const struct ez_subscriber *subscriber = tap->subscriber;
	const struct ez_channel *channel = tap->channel;
	const struct ez_endpoint_spec spec = {
		.kind = EZ_KIND_CLIENT,
		.num_buffers = channel->num_buffers,
		.id = subscriber->id.bytes,
		.publisher_id = channel->publisher_id.bytes,
		.channel_id = channel->id.bytes,
		.subscriber_id = subscriber->id.bytes,
		.topic = subscriber->topic,
		.handle = subscriber->handle,
		.task = subscriber->task,
	};

	/* Without an entry it works as well, unseen; the registry's header counts that. */
	ez_registry_open(&spec, &tap->entry);
}

struct ez_tap *ez_tap_join(struct ez_channel *channel, struct ez_subscriber *subscriber)
{
	struct ez_tap *tap = calloc(1, sizeof(*tap));

	if (!tap)
		return NULL;
	tap->channel = ez_channel_ref(channel);
	tap->subscriber = ez_subscriber_ref(subscriber);
	tap->subscriber_next = subscriber->taps;
	subscriber->taps = tap;
	pthread_mutex_lock(&channel->lock);
	if (channel->state == EZ_CHANNEL_UP)
		ez_tap_open_entry_locked(tap);
	tap->next = channel->taps;
	channel->taps = tap;
	channel->users++;
	__atomic_store_n(&channel->active_taps, channel->active_taps + 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&channel->lock);
	ez_subscriber_unsettle_poller(subscriber);
	return tap;
}

bool ez_tap_end_locked(struct ez_tap *tap)
{
	struct ez_channel *channel = tap->channel;
	struct ez_tap **at = &channel->taps;

	while (*at != tap)
		at = &(*at)->next;
	*at = tap->next;
	ez_registry_close(tap->entry);
	tap->entry = NULL;
	channel->users--;
	ez_channel_check_idle_locked(channel);
	return true;
}

void ez_tap_free(struct ez_tap *tap)
{
	struct ez_channel *channel = tap->channel;
	struct ez_subscriber *subscriber = tap->subscriber;

	free(tap);
	ez_subscriber_unref(subscriber);
	ez_channel_unref(channel);
}

static void leave_subscriber(struct ez_tap *tap)
{
	struct ez_tap **at = &tap->subscriber->taps;

	while (*at != tap)
		at = &(*at)->subscriber_next;
	*at = tap->subscriber_next;
	ez_subscriber_unsettle_poller(tap->subscriber);
}

static void stop_delivery_locked(struct ez_tap *tap)
{
	struct ez_channel *channel = tap->channel;

	tap->leaving = true;
	__atomic_store_n(&channel->active_taps, channel->active_taps - 1, __ATOMIC_RELAXED);
}

void ez_tap_leave(struct ez_tap *tap)
{
	struct ez_channel *channel = tap->channel;
	bool ended;

	leave_subscriber(tap);
	pthread_mutex_lock(&channel->lock);
	stop_delivery_locked(tap);
	ended = !tap->items && ez_tap_end_locked(tap);
	pthread_mutex_unlock(&channel->lock);
	if (ended)
		ez_tap_free(tap);
}

void ez_tap_evict(struct ez_tap *tap)
{
	struct ez_channel *channel = tap->channel;
	struct ez_item *purged, *item;
	bool ended;

	leave_subscriber(tap);
	pthread_mutex_lock(&channel->lock);
	stop_delivery_locked(tap);
	/* Its departure is no measurement, neither of what is queued nor of what is being read. */
	for (item = tap->items; item; item = item->tap_next)
		ez_endpoint_free_departed(tap->entry, item->delivery->id);
	ez_registry_close(tap->entry);
	tap->entry = NULL;
	purged = ez_subscriber_purge(tap->subscriber, tap);
	ended = !tap->items && ez_tap_end_locked(tap);
	pthread_mutex_unlock(&channel->lock);
	ez_items_depart(purged);
	if (ended)
		ez_tap_free(tap);
}
