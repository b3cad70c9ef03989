/* SPDX-License-Identifier: MIT */
/*
 * What happens to an endpoint, told in one call each: the call moves the registry's counters and
 * fires the probe. The counters move whether or not anybody listens; probe arguments are made
 * ready only when somebody does.
 *
 * All functions: the caller holds the endpoint's lock, that is, no two calls on one entry overlap.
 * NULL entries are ignored. No errors. Nothing here allocates, locks or makes a system call (but
 * for the clock, which is read in user space).
 */
#ifndef EZ_ENDPOINT_H
#define EZ_ENDPOINT_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "probes.h"
#include "registry_layout.h"

static inline uint64_t ez_entry_ref(const struct ez_entry *e)
{
	return e ? EZ_ENDPOINT_REF(e->generation, e->index) : 0;
}

static inline const char *ez_entry_topic(const struct ez_entry *e)
{
	return (const char *)(uintptr_t)e->topic;
}

static inline const char *ez_entry_handle(const struct ez_entry *e)
{
	return (const char *)(uintptr_t)e->handle;
}

static inline uint64_t ez_clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Brackets an update, its probe included; see struct ez_entry. Release order is enough: one writer.
 */
static inline void ez_entry_begin(struct ez_entry *e)
{
	__atomic_store_n(&e->seq, e->seq + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void ez_entry_end(struct ez_entry *e)
{
	__atomic_store_n(&e->seq, e->seq + 1, __ATOMIC_RELEASE);
}

static inline uint64_t *ez_entry_lease_start(const struct ez_entry *e, uint64_t message_id)
{
	return (uint64_t *)(uintptr_t)e->lease_starts + message_id % e->num_buffers;
}

/*
 * The same calls while somebody listens, out of line: what is left inline is then as small as
 * without probes, but for a load and a branch. See endpoint_probed.c.
 */
#define EZ_PROBED __attribute__((noinline, cold, visibility("hidden")))
EZ_PROBED void ez_endpoint_publish_probed(struct ez_entry *e, uint64_t message_id, uint64_t bytes);
EZ_PROBED void ez_endpoint_lease_probed(struct ez_entry *e, uint64_t message_id);
EZ_PROBED void ez_endpoint_free_probed(struct ez_entry *e, uint64_t message_id, uint64_t bytes);
EZ_PROBED void ez_endpoint_callback_begin_probed(const struct ez_entry *e, uint64_t message_id);
EZ_PROBED void ez_endpoint_callback_end_probed(const struct ez_entry *e, uint64_t message_id,
					       uint64_t excluded_ns);

static inline void ez_entry_count_publish(struct ez_entry *e, uint64_t bytes)
{
	e->messages++;
	e->bytes += bytes;
}

static inline void ez_entry_count_lease(struct ez_entry *e, uint64_t message_id)
{
	*ez_entry_lease_start(e, message_id) = ez_clock_ns(CLOCK_MONOTONIC_COARSE);
	e->leases++;
}

static inline void ez_entry_count_free(struct ez_entry *e, uint64_t message_id, uint64_t bytes)
{
	*ez_entry_lease_start(e, message_id) = 0;
	e->frees++;
	e->bytes += bytes;
}

/* How the last message travelled. */
static inline void ez_endpoint_set_transport(struct ez_entry *e, enum ez_transport transport)
{
	if (e)
		e->transport = transport;
}

/*
 * Publisher: a broadcast is complete; `bytes` is the marshalled size whatever the transport.
 */
static inline void ez_endpoint_publish(struct ez_entry *e, uint64_t message_id, uint64_t bytes)
{
	if (!e)
		return;
	if (ez_probe_enabled(EZ_PROBE_publish)) {
		ez_endpoint_publish_probed(e, message_id, bytes);
		return;
	}
	ez_entry_begin(e);
	ez_entry_count_publish(e, bytes);
	ez_entry_end(e);
}

/* Channel: a message has arrived (counted only; no probe). */
static inline void ez_endpoint_arrive(struct ez_entry *e, uint64_t bytes)
{
	if (!e)
		return;
	ez_entry_begin(e);
	ez_entry_count_publish(e, bytes);
	ez_entry_end(e);
}

/* Link: the buffer of that message is leased to the channel. Client: the message is queued. */
static inline void ez_endpoint_lease(struct ez_entry *e, uint64_t message_id)
{
	if (!e)
		return;
	if (ez_probe_enabled(EZ_PROBE_lease)) {
		ez_endpoint_lease_probed(e, message_id);
		return;
	}
	ez_entry_begin(e);
	ez_entry_count_lease(e, message_id);
	ez_entry_end(e);
}

/*
 * The lease of that message ends: acknowledged (link) or released (client). Call it once per
 * ez_endpoint_lease(); whether a lease is open is the caller's knowledge, not this table's.
 */
static inline void ez_endpoint_free(struct ez_entry *e, uint64_t message_id, uint64_t bytes)
{
	if (!e)
		return;
	if (ez_probe_enabled(EZ_PROBE_free)) {
		ez_endpoint_free_probed(e, message_id, bytes);
		return;
	}
	ez_entry_begin(e);
	ez_entry_count_free(e, message_id, bytes);
	ez_entry_end(e);
}

/*
 * The lease ends because its holder left: counted apart, and no probe, for a departure is not a
 * measurement. The total of frees still moves, so that in-flight stays true.
 */
static inline void ez_endpoint_free_departed(struct ez_entry *e, uint64_t message_id)
{
	if (!e)
		return;
	ez_entry_begin(e);
	*ez_entry_lease_start(e, message_id) = 0;
	e->frees++;
	e->disconnect_frees++;
	ez_entry_end(e);
}

/* Publisher: a link is about to be closed; the departures that it counted go on with the publisher.
 */
static inline void ez_endpoint_keep_departures(struct ez_entry *publisher,
					       const struct ez_entry *link)
{
	if (!publisher || !link || !link->disconnect_frees)
		return;
	ez_entry_begin(publisher);
	publisher->disconnect_frees += link->disconnect_frees;
	ez_entry_end(publisher);
}

/* Client: the message was dropped unread (leaky). Call ez_endpoint_free() for its lease as well. */
static inline void ez_endpoint_drop(struct ez_entry *e)
{
	if (!e)
		return;
	ez_entry_begin(e);
	e->drops++;
	ez_entry_end(e);
}

/* Client: taken from the queue, user code runs next; and: user code is done with it. */
static inline void ez_endpoint_callback_begin(struct ez_entry *e, uint64_t message_id)
{
	if (e && ez_probe_enabled(EZ_PROBE_callback_begin))
		ez_endpoint_callback_begin_probed(e, message_id);
}

/* `excluded_ns` of the time since callback_begin don't count as processing. */
static inline void ez_endpoint_callback_end_excluding(struct ez_entry *e, uint64_t message_id,
						      uint64_t excluded_ns)
{
	if (e && ez_probe_enabled(EZ_PROBE_callback_end))
		ez_endpoint_callback_end_probed(e, message_id, excluded_ns);
}

static inline void ez_endpoint_callback_end(struct ez_entry *e, uint64_t message_id)
{
	ez_endpoint_callback_end_excluding(e, message_id, 0);
}

/* Publisher: it starts to wait for a free buffer or for a socket; and: it goes on. */
static inline void ez_endpoint_blocked_begin(struct ez_entry *e, uint64_t message_id)
{
	if (!e)
		return;
	ez_entry_begin(e);
	e->blocked_since_ns = ez_clock_ns(CLOCK_MONOTONIC);
	if (ez_probe_enabled(EZ_PROBE_backpressure_begin))
		ez_probe_backpressure_begin(ez_entry_ref(e), message_id, ez_entry_topic(e));
	ez_entry_end(e);
}

static inline void ez_endpoint_blocked_end(struct ez_entry *e, uint64_t message_id)
{
	if (!e)
		return;
	ez_entry_begin(e);
	e->blocked_ns += ez_clock_ns(CLOCK_MONOTONIC) - e->blocked_since_ns;
	e->blocked_since_ns = 0;
	if (ez_probe_enabled(EZ_PROBE_backpressure_end))
		ez_probe_backpressure_end(ez_entry_ref(e), message_id, ez_entry_topic(e));
	ez_entry_end(e);
}

#endif
