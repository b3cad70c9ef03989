/* SPDX-License-Identifier: MIT */
/*
 * Messages on a channel: queued for every tap, released by each, acknowledged after the last. The
 * structs come from lists of the channel's own, so that a steady flow allocates nothing.
 */
#include "channel.h"

#include <stdlib.h>
#include <string.h>

#include "endpoint.h"
#include "publisher.h"
#include "subscriber.h"

static struct ez_delivery *delivery_new_locked(struct ez_channel *channel)
{
	struct ez_delivery *delivery = channel->free_deliveries;

	if (!delivery)
		return malloc(sizeof(*delivery));
	channel->free_deliveries = delivery->next_free;
	return delivery;
}

static struct ez_item *item_new_locked(struct ez_channel *channel)
{
	struct ez_item *item = channel->free_items;

	if (!item)
		return malloc(sizeof(*item));
	channel->free_items = item->next;
	return item;
}

static void tap_add_item(struct ez_tap *tap, struct ez_item *item)
{
	item->tap = tap;
	item->tap_next = tap->items;
	item->tap_link = &tap->items;
	if (tap->items)
		tap->items->tap_link = &item->tap_next;
	tap->items = item;
}

static void tap_remove_item(struct ez_item *item)
{
	*item->tap_link = item->tap_next;
	if (item->tap_next)
		item->tap_next->tap_link = item->tap_link;
}

static void delivery_clear_locked(struct ez_channel *channel, struct ez_delivery *delivery)
{
	ez_parts_free(&delivery->parts);
	ez_segment_unref(delivery->segment);
	ez_rx_heap_give(&channel->free_heaps, delivery->heap);
}

/*
 * All have released it; hurried_ns is now_when_hurried(). Returns the publisher that is to be told
 * without the lock, with a reference, where it is in this process.
 */
static struct ez_publisher *delivery_end_locked(struct ez_channel *channel,
						struct ez_delivery *delivery,
						ez_mono_ns_t hurried_ns)
{
	struct ez_publisher *tell = NULL;

	if (delivery->via == EZ_VIA_LOCAL)
		tell = ez_publisher_ref(channel->local);
	else if (hurried_ns)
		ez_channel_acknowledge_soon_locked(channel, delivery->id, hurried_ns);
	else
		ez_channel_acknowledge_locked(channel, delivery->id);
	delivery_clear_locked(channel, delivery);
	delivery->next_free = channel->free_deliveries;
	channel->free_deliveries = delivery;
	channel->users--;
	ez_channel_check_idle_locked(channel);
	return tell;
}

static void tell_publisher(struct ez_publisher *publisher, uint64_t message_id)
{
	if (!publisher)
		return;
	ez_link_local_release(publisher, message_id);
	ez_publisher_unref(publisher);
}

static void queue_for_tap(struct ez_tap *tap, struct ez_delivery *delivery,
			  struct ez_item **dropped)
{
	struct ez_item *item = item_new_locked(tap->channel);

	if (!item)
		return;
	item->delivery = delivery;
	delivery->holders++;
	tap_add_item(tap, item);
	ez_endpoint_lease(tap->entry, delivery->id);
	ez_subscriber_push(tap->subscriber, item, dropped);
}

static void queue_for_taps(struct ez_channel *channel, struct ez_delivery *delivery,
			   struct ez_item **dropped)
{
	struct ez_tap *tap;

	for (tap = channel->taps; tap; tap = tap->next)
		if (!tap->leaving)
			queue_for_tap(tap, delivery, dropped);
}

/* No memory for a delivery: as if nobody listened. */
static bool refuse_locked(struct ez_channel *channel, struct ez_delivery *delivery)
{
	if (delivery->via != EZ_VIA_LOCAL)
		ez_channel_acknowledge_locked(channel, delivery->id);
	delivery_clear_locked(channel, delivery);
	return false;
}

bool ez_deliver_locked(struct ez_channel *channel, uint64_t id, enum ez_via via,
		       const struct ez_parts *parts, struct ez_segment *segment, uint8_t *heap,
		       struct ez_item **dropped)
{
	struct ez_delivery *delivery = delivery_new_locked(channel);
	struct ez_delivery refused;
	bool have_memory = delivery != NULL;

	if (!have_memory)
		delivery = &refused;
	delivery->id = id;
	delivery->via = via;
	delivery->holders = 0;
	delivery->segment = segment;
	delivery->heap = heap;
	ez_parts_move(&delivery->parts, parts);
	ez_endpoint_set_transport(channel->entry, (enum ez_transport)via);
	ez_endpoint_arrive(channel->entry, parts->total_bytes);
	if (!have_memory)
		return refuse_locked(channel, delivery);
	channel->users++;
	queue_for_taps(channel, delivery, dropped);
	if (delivery->holders)
		return true;
	ez_publisher_unref(delivery_end_locked(channel, delivery, 0));
	return false;
}

/* Takes the item from its tap; what is left to do without the lock is told by the results. */
static struct ez_publisher *item_end_locked(struct ez_item *item, ez_mono_ns_t hurried_ns,
					    bool *ret_tap_ended)
{
	struct ez_tap *tap = item->tap;
	struct ez_channel *channel = tap->channel;
	struct ez_delivery *delivery = item->delivery;

	tap_remove_item(item);
	item->next = channel->free_items;
	channel->free_items = item;
	*ret_tap_ended = tap->leaving && !tap->items && ez_tap_end_locked(tap);
	return --delivery->holders ? NULL : delivery_end_locked(channel, delivery, hurried_ns);
}

/* Now, if this thread has done so quickly with it that it will be with the next one; 0 if not. */
static ez_mono_ns_t now_when_hurried(const struct ez_item *item)
{
	ez_mono_ns_t now_ns;

	if (!item->followed || !item->taken_ns)
		return 0;
	now_ns = ez_clock_mono_ns();
	return now_ns - item->taken_ns < EZ_GATHER_QUICK_NS ? now_ns : 0;
}

static void item_finish(struct ez_item *item, bool drop)
{
	struct ez_tap *tap = item->tap;
	struct ez_channel *channel = tap->channel;
	struct ez_subscriber *subscriber = tap->subscriber;
	uint64_t id = item->delivery->id;
	uint64_t bytes = item->delivery->parts.total_bytes;
	ez_mono_ns_t hurried_ns = drop ? 0 : now_when_hurried(item);
	struct ez_publisher *tell;
	bool tap_ended;

	__atomic_fetch_add(&subscriber->messages, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&subscriber->bytes, bytes, __ATOMIC_RELAXED);
	if (drop)
		__atomic_fetch_add(&subscriber->drops, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&channel->lock);
	if (drop) {
		ez_endpoint_drop(tap->entry);
		ez_endpoint_free(tap->entry, id, bytes);
	} else {
		ez_endpoint_release(tap->entry, id, bytes);
	}
	tell = item_end_locked(item, hurried_ns, &tap_ended);
	pthread_mutex_unlock(&channel->lock);
	tell_publisher(tell, id);
	if (tap_ended)
		ez_tap_free(tap);
}

void ez_item_release(struct ez_item *item)
{
	item_finish(item, false);
}

void ez_items_drop(struct ez_item *items)
{
	struct ez_item *next;

	for (; items; items = next) {
		next = items->next;
		item_finish(items, true);
	}
}

void ez_items_depart(struct ez_item *items)
{
	struct ez_publisher *tell;
	struct ez_channel *channel;
	struct ez_item *next;
	struct ez_tap *tap;
	bool tap_ended;
	uint64_t id;

	for (; items; items = next) {
		next = items->next;
		tap = items->tap;
		id = items->delivery->id;
		channel = tap->channel;
		pthread_mutex_lock(&channel->lock);
		ez_endpoint_free_departed(tap->entry, id);
		tell = item_end_locked(items, 0, &tap_ended);
		pthread_mutex_unlock(&channel->lock);
		tell_publisher(tell, id);
		if (tap_ended)
			ez_tap_free(tap);
	}
}
