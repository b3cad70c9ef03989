/* SPDX-License-Identifier: MIT */
/*
 * The descriptor that is readable while a publish wouldn't wait. Nobody is inside the library then,
 * so what a thread that waits does here, or hurries others to do, is done without it:
 *
 * - Acknowledgements are read by the I/O thread, at once: the poller has no sockets any more, hence
 *   none is left to its threads (poller.h).
 * - No frame waits for the next ones (gather.h). To write them later could find a socket full, and
 *   take back what the descriptor has said.
 * - A timer looks whether a buffer has been leased for too long.
 */
#include "publisher.h"

void ez_publisher_show_fd_locked(struct ez_publisher *publisher)
{
	enum ez_gate gate = ez_gate_locked(publisher);
	bool passes = gate == EZ_GATE_OPEN || gate == EZ_GATE_ENDED;

	if (gate != EZ_GATE_BLOCKED)
		publisher->blocked_ns = 0;
	else if (publisher->lease_timeout_ns && !publisher->blocked_ns)
		publisher->blocked_ns = ez_clock_mono_ns();
	/* The order of a publish: it takes its turn first, then meets the gate. */
	ez_ready_fd_show(&publisher->ready_fd,
			 publisher->closed || (!publisher->turn_taken && passes));
}

static void look_at_leases(struct ez_io_timer *timer)
{
	struct ez_publisher *publisher =
		(struct ez_publisher *)((char *)timer - offsetof(struct ez_publisher, lease_timer));
	ez_mono_ns_t timeout_ns = publisher->lease_timeout_ns;
	ez_mono_ns_t now_ns, since_ns;

	pthread_mutex_lock(&publisher->lock);
	since_ns = now_ns = ez_clock_mono_ns();
	if (publisher->blocked_ns && now_ns - publisher->blocked_ns >= timeout_ns)
		ez_gate_look_locked(publisher, publisher->blocked_ns);
	else if (publisher->blocked_ns)
		since_ns = publisher->blocked_ns;
	pthread_mutex_unlock(&publisher->lock);
	ez_io_timer_set(publisher->context->io, timer, since_ns + timeout_ns);
}

static int leave_sockets_to_io_locked(struct ez_publisher *publisher)
{
	struct ez_link *link;
	int err = 0;

	publisher->poller.usable = false;
	for (link = publisher->links; link && !err; link = link->next)
		err = ez_io_unshare(publisher->context->io, &link->stream.source,
				    publisher->poller.epoll_fd);
	/* One is with neither, others not with the poller any more: it is told all again. */
	if (err)
		publisher->poller.stale = true;
	return err;
}

/* Makes the descriptor, and the sockets the loop's; or neither. */
static int make_fd_locked(struct ez_publisher *publisher)
{
	int fd = ez_ready_fd_open(&publisher->ready_fd);
	int err;

	if (fd < 0)
		return fd;
	ez_links_flush_locked(publisher);
	err = leave_sockets_to_io_locked(publisher);
	if (!err)
		return fd;
	ez_ready_fd_close(&publisher->ready_fd);
	return err;
}

struct opening {
	struct ez_publisher *publisher;
	int fd;
};

static void open_on_io(void *argument)
{
	struct opening *opening = argument;
	struct ez_publisher *publisher = opening->publisher;
	bool is_new;

	pthread_mutex_lock(&publisher->lock);
	is_new = publisher->ready_fd.fd < 0;
	opening->fd = is_new ? make_fd_locked(publisher) : publisher->ready_fd.fd;
	is_new = is_new && opening->fd >= 0;
	if (is_new) {
		publisher->observers++;
		publisher->gather.limit = 0;
	}
	/* One that waits at the poller goes on to wait without it. */
	ez_publisher_wake_locked(publisher);
	pthread_mutex_unlock(&publisher->lock);
	if (is_new && publisher->lease_timeout_ns) {
		publisher->lease_timer.fire = look_at_leases;
		look_at_leases(&publisher->lease_timer);
	}
}

int ez_publisher_fd(struct ez_publisher *publisher)
{
	struct opening opening = {.publisher = publisher};
	int err = ez_context_check(publisher->context);

	if (err)
		return err;
	pthread_mutex_lock(&publisher->lock);
	opening.fd = publisher->ready_fd.fd;
	pthread_mutex_unlock(&publisher->lock);
	/* Its thread has the seat that it takes to change sockets, and sets timers. */
	if (opening.fd < 0)
		ez_io_call(publisher->context->io, open_on_io, &opening);
	return opening.fd;
}
