/* SPDX-License-Identifier: MIT */
/*
 * A thread that waits for messages or acknowledgements reads its sockets itself, since a detour by
 * the I/O thread costs two changes of context each way. How the two get along:
 *
 * - A socket is watched by the poller of each waiter that cares, then by the I/O loop, each time
 *   exclusively: the kernel asks them in this order and stops at the first that sleeps. So the
 *   I/O thread hears only of what comes while no waiter waits.
 * - Whoever reads a socket has the loop's seat (io_loop.h). A waiter reads all there is, or asks
 * the loop to: what is left in the socket would wake nobody again.
 * - A waiter takes plain frames only. The rest (errors, ends, a new segment) is left for the loop.
 * - In a flow of messages the I/O thread, when it is woken, leaves the socket to the waiter until
 *   that one hasn't been there for EZ_IO_LATE_NS, or hasn't read it for 1 ms.
 * - What else ends the wait (local messages, closing) is told by a kick.
 *
 * The owner's lock guards it; wait, forget and what needs only the descriptors take none.
 */
#ifndef EZ_POLLER_H
#define EZ_POLLER_H

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"

#define EZ_POLLER_EVENTS 16
/* Whoever comes back so soon is in a flow of messages, not waiting for single ones. */
#define EZ_POLLER_FLOW_NS (20 * EZ_NS_PER_US)

struct ez_poller {
	int epoll_fd;
	int kick_fd; /* an eventfd in it */
	bool stale;  /* there are sockets that it doesn't know */
	bool usable; /* waiting on it is worth while */
	bool kicked;
	ez_mono_ns_t at_work_ns; /* the last message taken or sent */
	uint32_t waiting;	 /* threads; raised under the lock, lowered without: atomic */
};

/* Closed, so that it may be closed. */
void ez_poller_init(struct ez_poller *poller);
/* Makes the descriptors: with the owner, so that their number doesn't depend on who waits when. */
int ez_poller_open(struct ez_poller *poller);
void ez_poller_close(struct ez_poller *poller);

/* Wakes a thread in ez_poller_wait(), if there is one; until calmed, all that come. */
void ez_poller_kick_locked(struct ez_poller *poller);
void ez_poller_calm_locked(struct ez_poller *poller);

/* A message was taken or sent. True: the one before was so shortly ago that this is a flow. */
static inline bool ez_poller_is_flow_locked(struct ez_poller *poller, ez_mono_ns_t now_ns)
{
	bool flow = now_ns - poller->at_work_ns < EZ_POLLER_FLOW_NS;

	poller->at_work_ns = now_ns;
	return flow;
}

/*
 * Until a socket is readable: how many, and which. 0: kicked, or interrupted; -ETIMEDOUT. The
 * caller has raised `waiting`, which is lowered here.
 */
int ez_poller_wait(struct ez_poller *poller, ez_mono_ns_t deadline_ns,
		   int ret_fds[EZ_POLLER_EVENTS]);
/*
 * Has the time come? To be asked after reading, too: a peer that never stops sending, whatever it
 * sends, must not make a wait longer.
 */
static inline bool ez_poller_is_late(ez_mono_ns_t deadline_ns)
{
	return deadline_ns != EZ_NEVER && ez_clock_mono_ns() >= deadline_ns;
}
/* Watches that socket no more. */
void ez_poller_forget(const struct ez_poller *poller, int fd);

#endif
