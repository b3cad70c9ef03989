/* SPDX-License-Identifier: MIT */
/*
 * The background thread of a context: one epoll loop that serves all of its sockets, runs jobs that
 * other threads hand over, and timers. Everything that is called back runs on that thread, "the I/O
 * thread", and must not block.
 *
 * The seat: while it handles what came, the I/O thread holds it. Another thread that holds it may
 * do what is said to be the I/O thread's, but for closing, connecting, deferring and timers.
 *
 * Lifetime rule: whoever embeds a source, a timer or a posted job must stay in memory until
 * ez_io_defer() has run: the events of one wake-up may still name what an earlier one closed.
 */
#ifndef EZ_IO_LOOP_H
#define EZ_IO_LOOP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "clock.h"

struct ez_io;

/* A descriptor that the loop watches; fd is -1 while it doesn't. */
struct ez_io_source {
	int fd;
	uint32_t events;
	bool shared; /* with pollers (poller.h) */
	void (*ready)(struct ez_io_source *source, uint32_t events);
};

struct ez_io_job {
	void (*run)(struct ez_io_job *job);
	struct ez_io_job *next;
	bool posted;
};

struct ez_io_timer {
	void (*fire)(struct ez_io_timer *timer);
	ez_mono_ns_t at_ns;
	struct ez_io_timer *next;
	bool armed;
};

int ez_io_create(struct ez_io **ret_io);

/* Stops the thread after the jobs posted so far; nothing may be watched any more. NULL is fine. */
void ez_io_destroy(struct ez_io *io);

/* Not with any lock held. */
void ez_io_take_seat(struct ez_io *io);
void ez_io_leave_seat(struct ez_io *io);
/*
 * A thread that waits on a poller says that it has read its sockets, or that it is at work so
 * quickly that it will soon: what comes is left to it for a moment. Any thread.
 */
void ez_io_reader_is_here(struct ez_io *io, ez_mono_ns_t now_ns);

/* Runs the job soon. False: it is posted already, and not posted twice. Any thread. */
bool ez_io_post(struct ez_io *io, struct ez_io_job *job);

/* Runs fn(argument) on the I/O thread and returns when it has. Any other thread, no lock held. */
void ez_io_call(struct ez_io *io, void (*fn)(void *argument), void *argument);

/* I/O thread only: */

/* Watches fd, which is the loop's from now on (see fork_guard.h), also after an error. */
int ez_io_watch(struct ez_io *io, struct ez_io_source *source, int fd, uint32_t events);
/* Ends that and closes the descriptor; an unwatched source is ignored. */
void ez_io_close(struct ez_io *io, struct ez_io_source *source);
/* Runs the job after the events of this wake-up: the place to free things. */
void ez_io_defer(struct ez_io *io, struct ez_io_job *job);
void ez_io_timer_set(struct ez_io *io, struct ez_io_timer *timer, ez_mono_ns_t at_ns);
void ez_io_timer_stop(struct ez_io *io, struct ez_io_timer *timer);

/*
 * Lets a poller watch the source too, before this loop does. Needs the seat, and what guards the
 * source's events. An error leaves it as it was.
 */
int ez_io_share(struct ez_io *io, struct ez_io_source *source, int epoll_fd);

/* Any thread, as long as something keeps the source watched. */
void ez_io_set_events(struct ez_io *io, struct ez_io_source *source, uint32_t events);

#endif
