/* SPDX-License-Identifier: MIT */
/* Creation and end of a subscriber, and its queue. */
#include "subscriber.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "fd.h"
#include "greeting.h"
#include "receive.h"
#include "request.h"
#include "segment_guard.h"

struct ez_subscriber *ez_subscriber_ref(struct ez_subscriber *subscriber)
{
	__atomic_add_fetch(&subscriber->refs, 1, __ATOMIC_RELAXED);
	return subscriber;
}

void ez_subscriber_unref(struct ez_subscriber *subscriber)
{
	if (!subscriber || __atomic_sub_fetch(&subscriber->refs, 1, __ATOMIC_ACQ_REL))
		return;
	ez_ready_fd_close(&subscriber->ready_fd);
	ez_poller_close(&subscriber->poller);
	pthread_cond_destroy(&subscriber->cond);
	pthread_mutex_destroy(&subscriber->lock);
	free(subscriber->topic);
	free(subscriber->handle);
	free(subscriber->task);
	free(subscriber);
}

/* ---- the queue ---- */

static void queue_init(struct ez_subscriber *subscriber)
{
	subscriber->first = NULL;
	subscriber->last = &subscriber->first;
	subscriber->queued = 0;
}

void ez_subscriber_show_locked(struct ez_subscriber *subscriber)
{
	ez_ready_fd_show(&subscriber->ready_fd,
			 subscriber->first || subscriber->closed || subscriber->failed);
}

static struct ez_item *pop_locked(struct ez_subscriber *subscriber)
{
	struct ez_item *item = subscriber->first;

	if (!item)
		return NULL;
	subscriber->first = item->next;
	if (!subscriber->first)
		subscriber->last = &subscriber->first;
	subscriber->queued--;
	item->followed = --item->tap->queued > 0;
	item->taken_ns = 0;
	return item;
}

struct ez_item *ez_subscriber_pop_locked(struct ez_subscriber *subscriber)
{
	struct ez_item *item = pop_locked(subscriber);

	ez_subscriber_show_locked(subscriber);
	return item;
}

void ez_subscriber_push(struct ez_subscriber *subscriber, struct ez_item *item,
			struct ez_item **dropped)
{
	pthread_mutex_lock(&subscriber->lock);
	if (subscriber->leaky && subscriber->queued >= subscriber->max_queue) {
		struct ez_item *oldest = pop_locked(subscriber);

		oldest->next = *dropped;
		*dropped = oldest;
	}
	item->next = NULL;
	*subscriber->last = item;
	subscriber->last = &item->next;
	subscriber->queued++;
	item->tap->queued++;
	ez_subscriber_show_locked(subscriber);
	if (subscriber->waiting)
		pthread_cond_signal(&subscriber->cond);
	ez_poller_kick_locked(&subscriber->poller);
	pthread_mutex_unlock(&subscriber->lock);
}

void ez_subscriber_wake_all_locked(struct ez_subscriber *subscriber)
{
	ez_subscriber_show_locked(subscriber);
	pthread_cond_broadcast(&subscriber->cond);
	ez_poller_kick_locked(&subscriber->poller);
}

void ez_subscriber_unsettle_poller(struct ez_subscriber *subscriber)
{
	pthread_mutex_lock(&subscriber->lock);
	subscriber->poller.stale = true;
	pthread_mutex_unlock(&subscriber->lock);
}

struct ez_item *ez_subscriber_purge(struct ez_subscriber *subscriber, const struct ez_tap *tap)
{
	struct ez_item *purged = NULL, *item, *next;

	pthread_mutex_lock(&subscriber->lock);
	item = subscriber->first;
	queue_init(subscriber);
	for (; item; item = next) {
		next = item->next;
		if (!tap || item->tap == tap) {
			item->next = purged;
			purged = item;
			item->followed = false;
			item->tap->queued--;
			continue;
		}
		item->next = NULL;
		*subscriber->last = item;
		subscriber->last = &item->next;
		subscriber->queued++;
	}
	ez_subscriber_show_locked(subscriber);
	pthread_mutex_unlock(&subscriber->lock);
	return purged;
}

/* ---- creation ---- */

static char *copy_or_null(const char *text)
{
	return text ? strdup(text) : NULL;
}

static struct ez_subscriber *subscriber_new(struct ez_context *context, const char *topic,
					    const struct ez_subscriber_options *options)
{
	struct ez_subscriber *subscriber = calloc(1, sizeof(*subscriber));

	if (!subscriber)
		return NULL;
	subscriber->context = context;
	subscriber->refs = 1;
	ez_ready_fd_init(&subscriber->ready_fd);
	ez_poller_init(&subscriber->poller);
	subscriber->topic = strdup(topic);
	subscriber->handle = strdup(options->handle ? options->handle : topic);
	subscriber->task = copy_or_null(options->task);
	subscriber->leaky = options->leaky;
	subscriber->max_queue = options->max_queue ? options->max_queue : 1;
	subscriber->count_only = options->count_only;
	subscriber->callback = options->callback;
	subscriber->user = options->user;
	ez_lock_init(&subscriber->lock);
	ez_cond_init(&subscriber->cond);
	queue_init(subscriber);
	if (subscriber->topic && subscriber->handle && (subscriber->task || !options->task))
		return subscriber;
	ez_subscriber_unref(subscriber);
	return NULL;
}

/* Sends SUBSCRIBE on a new connection, which it returns. */
static int open_link(struct ez_subscriber *subscriber, ez_mono_ns_t deadline_ns)
{
	struct ez_buffer request;
	int fd = ez_greeting_open(&subscriber->context->address, deadline_ns, NULL);
	int err;

	if (fd < 0)
		return fd;
	ez_buffer_init(&request, EZ_TOPIC_BYTES_MAX + 16);
	ez_request_subscribe(&request, subscriber->topic);
	err = ez_link_send(fd, &request, deadline_ns);
	ez_buffer_free(&request);
	if (!err)
		return fd;
	ez_fd_close(fd);
	return err;
}

struct start {
	struct ez_subscriber *subscriber;
	int fd;
	int err;
};

static void start_on_io(void *argument)
{
	struct start *start = argument;

	start->err = ez_subscriber_start(start->subscriber, start->fd);
}

static int wait_created(struct ez_subscriber *subscriber, ez_mono_ns_t deadline_ns)
{
	int err = 0;

	pthread_mutex_lock(&subscriber->lock);
	subscriber->waiting++;
	while (!subscriber->created && !subscriber->failed && !err)
		err = ez_cond_wait_until(&subscriber->cond, &subscriber->lock, deadline_ns);
	subscriber->waiting--;
	if (subscriber->created)
		err = 0;
	else if (subscriber->failed)
		err = subscriber->failed;
	pthread_mutex_unlock(&subscriber->lock);
	return err;
}

static int start_callback(struct ez_subscriber *subscriber)
{
	sigset_t all, old;
	int err;

	if (!subscriber->callback)
		return 0;
	ez_signals_of_others(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&subscriber->thread, NULL, ez_receive_thread, subscriber);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		subscriber->callback = NULL;
	else
		pthread_setname_np(subscriber->thread, "ezmsg-callback");
	return -err;
}

int ez_subscriber_create(struct ez_context *context, const char *topic,
			 const struct ez_subscriber_options *options,
			 struct ez_subscriber **ret_subscriber)
{
	static const struct ez_subscriber_options defaults;
	ez_mono_ns_t deadline_ns = ez_clock_mono_ns() + EZ_CREATE_NS;
	struct start start = {0};
	int err = ez_context_check(context);

	if (err)
		return err;
	if (!topic || strlen(topic) > EZ_TOPIC_BYTES_MAX)
		return -EINVAL;
	if (context->count_only && !(options && options->count_only))
		return -EPERM;
	start.subscriber = subscriber_new(context, topic, options ? options : &defaults);
	if (!start.subscriber)
		return -ENOMEM;
	err = ez_poller_open(&start.subscriber->poller);
	start.fd = err ? err : open_link(start.subscriber, deadline_ns);
	if (start.fd < 0) {
		ez_subscriber_unref(start.subscriber);
		return start.fd;
	}
	ez_io_call(context->io, start_on_io, &start);
	err = start.err;
	if (!err)
		err = wait_created(start.subscriber, deadline_ns);
	if (!err)
		err = start_callback(start.subscriber);
	if (err) {
		start.subscriber->callback = NULL;
		ez_subscriber_destroy(start.subscriber);
		return err;
	}
	*ret_subscriber = start.subscriber;
	return 0;
}

/* ---- the end ---- */

static void stop_on_io(void *argument)
{
	ez_subscriber_stop(argument);
}

void ez_subscriber_destroy(struct ez_subscriber *subscriber)
{
	if (!subscriber || ez_context_check(subscriber->context))
		return;
	pthread_mutex_lock(&subscriber->lock);
	subscriber->closed = true;
	ez_subscriber_wake_all_locked(subscriber);
	while (subscriber->inside)
		pthread_cond_wait(&subscriber->cond, &subscriber->lock);
	pthread_mutex_unlock(&subscriber->lock);
	if (subscriber->callback)
		pthread_join(subscriber->thread, NULL);
	ez_io_call(subscriber->context->io, stop_on_io, subscriber);
	ez_subscriber_unref(subscriber);
}

int ez_subscriber_fd(struct ez_subscriber *subscriber)
{
	int fd = ez_context_check(subscriber->context);

	if (fd)
		return fd;
	if (subscriber->callback)
		return -EINVAL;
	pthread_mutex_lock(&subscriber->lock);
	fd = ez_ready_fd_open(&subscriber->ready_fd);
	ez_subscriber_show_locked(subscriber);
	pthread_mutex_unlock(&subscriber->lock);
	return fd;
}

void ez_subscriber_totals(const struct ez_subscriber *subscriber, uint64_t *ret_messages,
			  uint64_t *ret_bytes, uint64_t *ret_drops)
{
	*ret_messages = __atomic_load_n(&subscriber->messages, __ATOMIC_RELAXED);
	*ret_bytes = __atomic_load_n(&subscriber->bytes, __ATOMIC_RELAXED);
	*ret_drops = __atomic_load_n(&subscriber->drops, __ATOMIC_RELAXED);
}
