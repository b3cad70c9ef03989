/* SPDX-License-Identifier: MIT */
/* A publisher's end, and what can be asked of it; creation is in publisher_create.c. */
#include "publisher.h"

#include <stdlib.h>

#include "endpoint.h"

/* So long the end waits for the sockets of those who don't read. */
#define FINISH_NS EZ_NS_PER_S

struct ez_publisher *ez_publisher_ref(struct ez_publisher *publisher)
{
	__atomic_add_fetch(&publisher->refs, 1, __ATOMIC_RELAXED);
	return publisher;
}

void ez_publisher_unref(struct ez_publisher *publisher)
{
	if (!publisher || __atomic_sub_fetch(&publisher->refs, 1, __ATOMIC_ACQ_REL))
		return;
	ez_slots_free(&publisher->slots);
	pthread_cond_destroy(&publisher->cond);
	pthread_mutex_destroy(&publisher->lock);
	pthread_cond_destroy(&publisher->turn_cond);
	ez_poller_close(&publisher->poller);
	free(publisher->topic);
	free(publisher);
}

static void release(struct ez_io_job *job)
{
	ez_publisher_unref(
		(struct ez_publisher *)((char *)job - offsetof(struct ez_publisher, release_job)));
}

static void leave_context(struct ez_publisher *publisher)
{
	struct ez_publisher **at = &publisher->context->publishers;

	while (*at && *at != publisher)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = publisher->next;
	publisher->release_job.run = release;
	ez_io_defer(publisher->context->io, &publisher->release_job);
}

static void stop_on_io(void *argument)
{
	struct ez_publisher *publisher = argument;
	struct ez_io *io = publisher->context->io;

	ez_io_timer_stop(io, &publisher->listen_timer);
	ez_io_timer_stop(io, &publisher->lease_timer);
	ez_io_close(io, &publisher->listener);
	pthread_mutex_lock(&publisher->lock);
	ez_links_flush_locked(publisher);
	pthread_mutex_unlock(&publisher->lock);
	ez_links_close(publisher);
	if (publisher->graph.io)
		ez_stream_close(&publisher->graph);
	if (publisher->own) {
		publisher->own->settled = NULL;
		ez_channel_put(publisher->own);
		ez_channel_unref(publisher->own);
	}
	pthread_mutex_lock(&publisher->lock);
	ez_registry_close(publisher->entry);
	publisher->entry = NULL;
	pthread_mutex_unlock(&publisher->lock);
	leave_context(publisher);
}

void ez_publisher_destroy(struct ez_publisher *publisher)
{
	if (!publisher || ez_context_check(publisher->context))
		return;
	ez_broadcast_finish(publisher, ez_clock_mono_ns() + FINISH_NS);
	pthread_mutex_lock(&publisher->lock);
	publisher->closed = true;
	ez_publisher_wake_locked(publisher);
	pthread_cond_broadcast(&publisher->turn_cond);
	/* Broadcasts in progress end first, waiting ones with -EPIPE. */
	while (publisher->turn_taken || publisher->turn_waiters)
		pthread_cond_wait(&publisher->turn_cond, &publisher->lock);
	/* Messages in the user's hands may keep the rest for longer. */
	ez_ready_fd_close(&publisher->ready_fd);
	pthread_mutex_unlock(&publisher->lock);
	ez_io_call(publisher->context->io, stop_on_io, publisher);
	ez_publisher_end_old_leases(publisher, true);
	ez_segment_lease_end(publisher, publisher->lease);
	ez_publisher_unref(publisher);
}

/* ---- questions and switches ---- */

void ez_publisher_totals(const struct ez_publisher *publisher, uint64_t *ret_messages,
			 uint64_t *ret_bytes)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&publisher->lock;
	/* In a forked child nobody will ever unlock it, if somebody had it. */
	bool is_ours = !ez_context_check(publisher->context);

	if (is_ours)
		pthread_mutex_lock(lock);
	*ret_messages = publisher->next_id;
	*ret_bytes = publisher->total_bytes;
	if (is_ours)
		pthread_mutex_unlock(lock);
}

size_t ez_publisher_channels(const struct ez_publisher *publisher)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&publisher->lock;
	const struct ez_link *link;
	size_t n = 0;

	if (ez_context_check(publisher->context))
		return 0;
	pthread_mutex_lock(lock);
	for (link = publisher->links; link; link = link->next)
		n += link->up;
	pthread_mutex_unlock(lock);
	return n;
}

static int set_paused(struct ez_publisher *publisher, bool paused)
{
	int err = ez_context_check(publisher->context);

	if (err)
		return err;
	pthread_mutex_lock(&publisher->lock);
	publisher->paused = paused;
	ez_publisher_wake_locked(publisher);
	pthread_mutex_unlock(&publisher->lock);
	return 0;
}

int ez_publisher_pause(struct ez_publisher *publisher)
{
	return set_paused(publisher, true);
}

int ez_publisher_resume(struct ez_publisher *publisher)
{
	return set_paused(publisher, false);
}
