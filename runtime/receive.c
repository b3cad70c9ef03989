/* SPDX-License-Identifier: MIT */
#include "receive.h"

#include <errno.h>
#include <string.h>

#include "endpoint.h"
#include "subscriber.h"
#include "value.h"

static void tell_flow_locked(struct ez_subscriber *subscriber, struct ez_item *item)
{
	ez_mono_ns_t now_ns = ez_clock_mono_ns();

	item->taken_ns = now_ns;
	if (ez_poller_is_flow_locked(&subscriber->poller, now_ns))
		ez_io_reader_is_here(subscriber->context->io, now_ns);
}

/* The next item, or why there is none. Without a deadline (0) the time-out makes one. */
static int take(struct ez_subscriber *subscriber, int64_t timeout_ns, ez_mono_ns_t deadline_ns,
		struct ez_item **ret_item)
{
	struct ez_item *item = NULL;
	int err = 0;

	pthread_mutex_lock(&subscriber->lock);
	subscriber->inside++;
	while (!err) {
		/* Closed: what is left is released unread. Failed: what came before is still read.
		 */
		item = subscriber->closed ? NULL : ez_subscriber_pop_locked(subscriber);
		if (item)
			break;
		err = subscriber->closed ? -EPIPE : subscriber->failed;
		if (err)
			break;
		if (!deadline_ns && timeout_ns <= 0) {
			err = -ETIMEDOUT;
			break;
		}
		if (!deadline_ns)
			deadline_ns = ez_deadline_ns(timeout_ns);
		err = ez_subscriber_wait_locked(subscriber, deadline_ns);
	}
	/* What came in time counts. */
	if (err == -ETIMEDOUT && !subscriber->closed)
		item = ez_subscriber_pop_locked(subscriber);
	if (subscriber->first)
		ez_poller_kick_locked(&subscriber->poller);
	if (item && subscriber->poller.usable)
		tell_flow_locked(subscriber, item);
	subscriber->inside--;
	if (subscriber->closed)
		pthread_cond_broadcast(&subscriber->cond);
	pthread_mutex_unlock(&subscriber->lock);
	if (item)
		*ret_item = item;
	return item ? 0 : err;
}

/* Messages in a segment that somebody has truncated are dropped: they read as zeros, at best. */
static int take_whole(struct ez_subscriber *subscriber, int64_t timeout_ns,
		      ez_mono_ns_t deadline_ns, struct ez_item **ret_item)
{
	const struct ez_segment *segment;
	int err;

	while (!(err = take(subscriber, timeout_ns, deadline_ns, ret_item))) {
		segment = (*ret_item)->delivery->segment;
		if (!segment || !ez_segment_lost(segment))
			break;
		(*ret_item)->next = NULL;
		ez_items_drop(*ret_item);
	}
	return err;
}

/* The lock only where somebody listens: this fires the probe and does nothing else. */
static __attribute__((noinline, cold)) void tell_taken(const struct ez_message *message)
{
	const struct ez_item *item = message->internal[0];
	struct ez_channel *channel = item->tap->channel;

	pthread_mutex_lock(&channel->lock);
	ez_endpoint_callback_begin(item->tap->entry, item->delivery->id);
	pthread_mutex_unlock(&channel->lock);
}

/* User code runs next; reading the pickle was not its work. */
static inline void give(struct ez_item *item, struct ez_message *ret_message)
{
	ez_message_fill(ret_message, item);
	if (ez_endpoint_callback_begin_is_heard())
		tell_taken(ret_message);
}

static int receive(struct ez_subscriber *subscriber, int64_t timeout_ns, ez_mono_ns_t deadline_ns,
		   struct ez_message *ret_message)
{
	struct ez_item *item;
	int err = ez_context_check(subscriber->context);

	if (err)
		return err;
	if (subscriber->callback)
		return -EINVAL;
	err = take_whole(subscriber, timeout_ns, deadline_ns, &item);
	if (err)
		return err;
	give(item, ret_message);
	return 0;
}

int ez_receive(struct ez_subscriber *subscriber, int64_t timeout_ns, struct ez_message *ret_message)
{
	return receive(subscriber, timeout_ns, 0, ret_message);
}

int ez_receive_until(struct ez_subscriber *subscriber, uint64_t deadline_ns,
		     struct ez_message *ret_message)
{
	/* The beginning of the clock's time has passed for sure, and 0 means none. */
	return receive(subscriber, 0, deadline_ns ? deadline_ns : 1, ret_message);
}

void ez_message_release(struct ez_message *message)
{
	struct ez_item *item = message->internal[0];

	/* In a forked child the item is the parent's. */
	if (!item || ez_forked_since((uint32_t)(uintptr_t)message->internal[1]))
		return;
	message->internal[0] = NULL;
	ez_item_release(item);
}

void *ez_receive_thread(void *argument)
{
	struct ez_subscriber *subscriber = argument;
	struct ez_message message;
	struct ez_item *item;

	while (!take_whole(subscriber, EZ_FOREVER, 0, &item)) {
		give(item, &message);
		subscriber->callback(&message, subscriber->user);
		ez_message_release(&message);
	}
	return NULL;
}
