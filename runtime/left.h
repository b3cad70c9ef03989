/* SPDX-License-Identifier: MIT */
/*
 * Sockets that an I/O loop leaves to the threads that wait on them (poller.h), while those are in a
 * flow: it doesn't watch them until nobody reads them any more. In a steady flow the thread that
 * waits comes back for each message, or nearly: to be woken each time it is away for a moment, and
 * to stand in its way, costs more than all messages meanwhile.
 */
#ifndef EZ_LEFT_H
#define EZ_LEFT_H

#include <sys/epoll.h>

#include "io_loop.h"
#include "soon.h"

/* The loop's thread only, but for what is marked. */
struct ez_left {
	int epoll_fd;
	struct ez_soon *soon;
	struct ez_io_source *sources;
	ez_mono_ns_t since_ns;	 /* of the last look at them; 0: there are none; atomic */
	ez_mono_ns_t read_at_ns; /* when a thread said that it reads; atomic */
	struct ez_io_late look_job;
};

void ez_left_init(struct ez_left *left, int epoll_fd, struct ez_soon *soon);
/* Watches a source, as what it is. A negative errno. */
int ez_left_watch(int epoll_fd, struct ez_io_source *source);
/* Leaves those that may be left; how many events remain. */
int ez_left_take_out(struct ez_left *left, struct epoll_event *events, int n);
/* The source ends. */
void ez_left_forget(struct ez_left *left, struct ez_io_source *source);
/* See ez_io_reader_is_here(). Any thread. */
void ez_left_reader_is_here(struct ez_left *left, ez_mono_ns_t now_ns);

#endif
