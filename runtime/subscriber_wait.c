/* SPDX-License-Identifier: MIT */
/* How a thread waits for a subscriber's next message: poller.h says why it reads sockets itself. */
#include "subscriber.h"

#include <errno.h>

/*
 * Tells the poller all sockets. Worth waiting on is it where all messages come by sockets: with
 * publishers in this process too the condition is quicker, and the I/O thread reads.
 */
static bool settle(struct ez_subscriber *subscriber)
{
	bool usable = subscriber->taps != NULL;
	const struct ez_tap *tap;

	for (tap = subscriber->taps; tap && usable; tap = tap->subscriber_next) {
		struct ez_channel *channel = tap->channel;

		usable = !channel->local;
		if (usable && channel->phase == EZ_SETUP_DONE &&
		    ez_stream_is_open(&channel->peer) && !channel->peer.paused)
			usable = !ez_stream_share(&channel->peer, subscriber->poller.epoll_fd);
	}
	return usable;
}

static int settle_locked(struct ez_subscriber *subscriber)
{
	bool usable;

	subscriber->poller.stale = false;
	pthread_mutex_unlock(&subscriber->lock);
	ez_io_take_seat(subscriber->context->io);
	usable = settle(subscriber);
	ez_io_leave_seat(subscriber->context->io);
	pthread_mutex_lock(&subscriber->lock);
	subscriber->poller.usable = usable;
	return 0;
}

static struct ez_stream *stream_of(const struct ez_subscriber *subscriber, int fd)
{
	const struct ez_tap *tap = subscriber->taps;

	while (tap && tap->channel->peer.source.fd != fd)
		tap = tap->subscriber_next;
	return tap ? &tap->channel->peer : NULL;
}

static void read_sockets(struct ez_subscriber *subscriber, const int *fds, int n)
{
	struct ez_io *io = subscriber->context->io;

	ez_io_take_seat(io);
	for (int i = 0; i < n; i++) {
		struct ez_stream *stream = stream_of(subscriber, fds[i]);

		if (!stream || !ez_stream_read_here(stream))
			ez_poller_forget(&subscriber->poller, fds[i]);
		else if (ez_stream_is_amid(stream))
			ez_io_reader_is_here(io, ez_clock_mono_ns());
	}
	ez_io_leave_seat(io);
}

static int poll_locked(struct ez_subscriber *subscriber, ez_mono_ns_t deadline_ns)
{
	struct ez_poller *poller = &subscriber->poller;
	int fds[EZ_POLLER_EVENTS];
	int n;

	__atomic_add_fetch(&poller->waiting, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&subscriber->lock);
	n = ez_poller_wait(poller, deadline_ns, fds);
	if (n > 0)
		read_sockets(subscriber, fds, n);
	pthread_mutex_lock(&subscriber->lock);
	/* At the end it stays, for all to see. */
	if (!subscriber->closed && !subscriber->failed)
		ez_poller_calm_locked(poller);
	if (n < 0)
		return n;
	return ez_poller_is_late(deadline_ns) ? -ETIMEDOUT : 0;
}

int ez_subscriber_wait_locked(struct ez_subscriber *subscriber, ez_mono_ns_t deadline_ns)
{
	int err;

	if (subscriber->poller.stale)
		return settle_locked(subscriber);
	if (subscriber->poller.usable)
		return poll_locked(subscriber, deadline_ns);
	subscriber->waiting++;
	err = ez_cond_wait_until(&subscriber->cond, &subscriber->lock, deadline_ns);
	subscriber->waiting--;
	return err;
}
