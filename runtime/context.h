/* SPDX-License-Identifier: MIT */
/*
 * A context: the process's tie to one graph server, its I/O thread, and what lives on it.
 */
#ifndef EZ_CONTEXT_H
#define EZ_CONTEXT_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "ezmsg/ezmsg.h"
#include "fork_guard.h"
#include "io_loop.h"
#include "parse.h"
#include "uuid.h"

#define EZ_PROGRAM "libezmsg"

/* How long the creation of an endpoint, and of one channel, may take. */
#define EZ_CREATE_NS (10 * EZ_NS_PER_S)
#define EZ_CHANNEL_SETUP_NS (5 * EZ_NS_PER_S)

struct ez_channel;

struct ez_context {
	uint32_t generation;
	struct ez_address address; /* of the graph server; host is a literal */
	bool server_is_ours;
	bool count_only; /* EZ_COUNT_ONLY */
	bool elide_ok;	 /* what a publisher of 3.10 may be told then */
	struct ez_io *io;

	/* I/O thread only */
	struct ez_channel *channels;
	struct ez_publisher *publishers;
	struct ez_subscriber *subscribers;
};

/* 0, or -EOWNERDEAD in a forked child. */
static inline int ez_context_check(const struct ez_context *context)
{
	return ez_forked_since(context->generation) ? -EOWNERDEAD : 0;
}

/* The channel to that publisher, or the one with that id; NULL if there is none. I/O thread. */
struct ez_channel *ez_context_channel_of(const struct ez_context *context,
					 const struct ez_uuid *publisher_id);
struct ez_channel *ez_context_channel(const struct ez_context *context,
				      const struct ez_uuid *channel_id);
/* A publisher of this context; NULL if it lives elsewhere. I/O thread. */
struct ez_publisher *ez_context_publisher(const struct ez_context *context,
					  const struct ez_uuid *id);

/* The point in time that lies timeout_ns ahead; EZ_NEVER for EZ_FOREVER. */
ez_mono_ns_t ez_deadline_ns(int64_t timeout_ns);

/*
 * A lock that is held for moments only: who finds it taken tries for some microseconds before it
 * sleeps, where libc can do that. Publisher and receiver in one process meet at three of them with
 * each message; put to sleep and woken they'd be slower than the other one's turn by far.
 */
void ez_lock_init(pthread_mutex_t *lock);

/* pthread_cond_timedwait on CLOCK_MONOTONIC: 0 or ETIMEDOUT. The condition needs ez_cond_init(). */
void ez_cond_init(pthread_cond_t *cond);
int ez_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, ez_mono_ns_t deadline_ns);

#endif
