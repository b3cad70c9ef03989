/* SPDX-License-Identifier: MIT */
/* How a publisher waits for buffers: poller.h says why it reads acknowledgements itself. */
#include "publisher.h"

#include <errno.h>

/*
 * Tells the poller all links. With none but the own one there is nothing to read; with a descriptor
 * for event loops all is left to the I/O thread (publisher_ready.c).
 */
static bool settle(struct ez_publisher *publisher)
{
	struct ez_link *link;
	bool usable = false;

	if (publisher->ready_fd.fd >= 0)
		return false;
	for (link = publisher->links; link; link = link->next) {
		if (!link->up || link->is_local)
			continue;
		if (ez_stream_share(&link->stream, publisher->poller.epoll_fd))
			return false;
		usable = true;
	}
	return usable;
}

/* Links come and go under the seat as well as under the lock. */
static int settle_locked(struct ez_publisher *publisher)
{
	struct ez_io *io = publisher->context->io;
	bool usable;

	publisher->poller.stale = false;
	pthread_mutex_unlock(&publisher->lock);
	ez_io_take_seat(io);
	usable = settle(publisher);
	pthread_mutex_lock(&publisher->lock);
	publisher->poller.usable = usable;
	ez_io_leave_seat(io);
	return 0;
}

static struct ez_stream *stream_of(const struct ez_publisher *publisher, int fd)
{
	struct ez_link *link = publisher->links;

	while (link && link->stream.source.fd != fd)
		link = link->next;
	return link && link->up ? &link->stream : NULL;
}

static void read_sockets(struct ez_publisher *publisher, const int *fds, int n)
{
	ez_io_take_seat(publisher->context->io);
	for (int i = 0; i < n; i++) {
		struct ez_stream *stream = stream_of(publisher, fds[i]);

		if (!stream || !ez_stream_read_here(stream))
			ez_poller_forget(&publisher->poller, fds[i]);
	}
	ez_io_leave_seat(publisher->context->io);
}

static int poll_locked(struct ez_publisher *publisher, ez_mono_ns_t deadline_ns)
{
	int fds[EZ_POLLER_EVENTS];
	int n;

	__atomic_add_fetch(&publisher->poller.waiting, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&publisher->lock);
	n = ez_poller_wait(&publisher->poller, deadline_ns, fds);
	if (n > 0)
		read_sockets(publisher, fds, n);
	pthread_mutex_lock(&publisher->lock);
	ez_poller_calm_locked(&publisher->poller);
	if (n < 0)
		return n;
	return ez_poller_is_late(deadline_ns) ? -ETIMEDOUT : 0;
}

int ez_publisher_wait_locked(struct ez_publisher *publisher, ez_mono_ns_t deadline_ns)
{
	int err;

	if (publisher->poller.stale)
		return settle_locked(publisher);
	/* The wait is none of the thread's own time. */
	publisher->left_ns = 0;
	if (publisher->gather.held) {
		ez_links_flush_locked(publisher);
		return 0;
	}
	publisher->observers++;
	if (publisher->poller.usable)
		err = poll_locked(publisher, deadline_ns);
	else
		err = ez_cond_wait_until(&publisher->cond, &publisher->lock, deadline_ns);
	publisher->observers--;
	return err;
}
