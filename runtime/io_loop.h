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

/* To set a timer may cost as much as a write, and its end more: not too often in a flow. */
#define EZ_IO_LATE_NS (250 * EZ_NS_PER_US)

/* A descriptor that the loop watches; fd is -1 while it doesn't. */
struct ez_io_source {
	int fd;
	uint32_t events;
	bool shared;	      /* with pollers (poller.h) */
	bool left;	      /* to their threads: not watched */
	bool overdue;	      /* nobody read it for long: the next event is the loop's */
	ez_mono_ns_t read_ns; /* when such a thread has; needs the seat */
	struct ez_io_source *left_next;
	void (*ready)(struct ez_io_source *source, uint32_t events);
};

struct ez_io_job {
	void (*run)(struct ez_io_job *job);
	struct ez_io_job *next;
	bool posted;
};

/* Something that happens late unless somebody is quicker. */
struct ez_io_late {
	void (*run)(struct ez_io_late *job);
	/* At exit() of the process, by another thread: without waiting for a lock. NULL: nothing.
	 */
	void (*leave)(struct ez_io_late *job);
	struct ez_io_late *next;
	ez_mono_ns_t due_ns;
	bool set;
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

/*
 * Runs the job about EZ_IO_LATE_NS from now; one that waits already is put off until then. Doesn't
 * wake the thread before. True: it was not waiting. Any thread.
 */
bool ez_io_at_latest(struct ez_io *io, struct ez_io_late *job, ez_mono_ns_t now_ns);

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

/*
 * Ends that: from now on the loop reads it at once. Needs the same; the source may be closed. After
 * an error nobody watches it, until it is shared again or this is called again.
 */
int ez_io_unshare(struct ez_io *io, struct ez_io_source *source, int epoll_fd);

/* Any thread, as long as something keeps the source watched. */
void ez_io_set_events(struct ez_io *io, struct ez_io_source *source, uint32_t events);

#endif
