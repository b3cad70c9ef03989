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

#include "bucket.h"
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

/* The buffer of a message. Numbers of buffers are powers of two mostly: no division for them. */
static inline uint64_t ez_entry_buffer(const struct ez_entry *e, uint64_t message_id)
{
	uint32_t n = e->num_buffers;

	return __builtin_expect((n & (n - 1)) == 0, 1) ? message_id & (n - 1) : message_id % n;
}

static inline uint64_t *ez_entry_lease_start(const struct ez_entry *e, uint64_t message_id)
{
	return (uint64_t *)(uintptr_t)e->lease_starts + ez_entry_buffer(e, message_id);
}

/* NULL: none is kept. */
static inline struct ez_mark *ez_entry_mark(const struct ez_entry *e, uint64_t message_id)
{
	return e->marks ? (struct ez_mark *)(uintptr_t)e->marks + ez_entry_buffer(e, message_id)
			: NULL;
}

/* How the last message travelled. */
static inline void ez_endpoint_set_transport(struct ez_entry *e, enum ez_transport transport)
{
	if (e)
		e->transport = transport;
}

/*
 * Each call below has a quiet half, inline, and one for when somebody listens (endpoint.c), which
 * does the whole of it: so the quiet half keeps nothing for the other's sake.
 */
void ez_endpoint_publish_heard(struct ez_entry *e, uint64_t message_id, uint64_t bytes,
			       uint64_t moment);
void ez_endpoint_lease_heard(struct ez_entry *e, uint64_t message_id, uint64_t moment);
void ez_endpoint_free_heard(struct ez_entry *e, uint64_t message_id, uint64_t bytes,
			    uint64_t moment);
void ez_endpoint_release_heard(struct ez_entry *e, uint64_t message_id, uint64_t bytes);
void ez_endpoint_drop_heard(struct ez_entry *e);
void ez_endpoint_callback_begin_heard(struct ez_entry *e, uint64_t message_id, uint64_t moment);
void ez_endpoint_callback_end_heard(struct ez_entry *e, uint64_t message_id, uint64_t moment,
				    uint64_t excluded_ns);

/*
 * Calls whose names end in _at take the moment of the event, for who knows it already (on the
 * process's CLOCK_MONOTONIC; 0: now).
 */

/*
 * Publisher: a broadcast is complete; `bytes` is the marshalled size whatever the transport.
 */
static inline void ez_endpoint_publish_at(struct ez_entry *e, uint64_t message_id, uint64_t bytes,
					  uint64_t moment)
{
	if (!e)
		return;
	if (ez_probe_any_of_four(EZ_PLACE_publish)) {
		ez_endpoint_publish_heard(e, message_id, bytes, moment);
		return;
	}
	ez_entry_begin(e);
	e->messages++;
	e->bytes += bytes;
	ez_entry_end(e);
}

static inline void ez_endpoint_publish(struct ez_entry *e, uint64_t message_id, uint64_t bytes)
{
	ez_endpoint_publish_at(e, message_id, bytes, 0);
}

/* Channel: a message has arrived (counted only; no probe). */
static inline void ez_endpoint_arrive(struct ez_entry *e, uint64_t bytes)
{
	if (!e)
		return;
	ez_entry_begin(e);
	e->messages++;
	e->bytes += bytes;
	ez_entry_end(e);
}

/* Link: the buffer of that message is leased to the channel. Client: the message is queued. */
static inline void ez_endpoint_lease_at(struct ez_entry *e, uint64_t message_id, uint64_t moment)
{
	if (!e)
		return;
	if (ez_probe_any_of_four(EZ_PLACE_publish)) {
		ez_endpoint_lease_heard(e, message_id, moment);
		return;
	}
	ez_entry_begin(e);
	*ez_entry_lease_start(e, message_id) = EZ_START_COARSE(ez_clock_ns(CLOCK_MONOTONIC_COARSE));
	e->leases++;
	ez_entry_end(e);
}

static inline void ez_endpoint_lease(struct ez_entry *e, uint64_t message_id)
{
	ez_endpoint_lease_at(e, message_id, 0);
}

/* What a free does when nobody listens. */
static inline void ez_endpoint_free_quiet(struct ez_entry *e, uint64_t message_id, uint64_t bytes)
{
	ez_entry_begin(e);
	*ez_entry_lease_start(e, message_id) = 0;
	e->frees++;
	e->bytes += bytes;
	ez_entry_end(e);
}

/*
 * The lease of that message ends: acknowledged (link) or released (client). Call it once per
 * ez_endpoint_lease(); whether a lease is open is the caller's knowledge, not this table's.
 */
static inline void ez_endpoint_free_at(struct ez_entry *e, uint64_t message_id, uint64_t bytes,
				       uint64_t moment)
{
	if (!e)
		return;
	if (ez_probe_any_of_four(EZ_PLACE_free))
		ez_endpoint_free_heard(e, message_id, bytes, moment);
	else
		ez_endpoint_free_quiet(e, message_id, bytes);
}

static inline void ez_endpoint_free(struct ez_entry *e, uint64_t message_id, uint64_t bytes)
{
	ez_endpoint_free_at(e, message_id, bytes, 0);
}

/* Client: callback_end and free in one. */
static inline void ez_endpoint_release(struct ez_entry *e, uint64_t message_id, uint64_t bytes)
{
	if (!e)
		return;
	if (ez_probe_any_of_four(EZ_PLACE_free))
		ez_endpoint_release_heard(e, message_id, bytes);
	else
		ez_endpoint_free_quiet(e, message_id, bytes);
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
	if (ez_probe_any_of_four(EZ_PLACE_free))
		ez_endpoint_drop_heard(e);
	ez_entry_end(e);
}

/* Whether the next call does anything: who would need a lock for it alone may ask before. */
static inline bool ez_endpoint_callback_begin_is_heard(void)
{
	return ez_probe_any_of_four(EZ_PLACE_free);
}

/* Client: taken from the queue, user code runs next; and: user code is done with it. */
static inline void ez_endpoint_callback_begin_at(struct ez_entry *e, uint64_t message_id,
						 uint64_t moment)
{
	if (e && ez_probe_any_of_four(EZ_PLACE_free))
		ez_endpoint_callback_begin_heard(e, message_id, moment);
}

static inline void ez_endpoint_callback_begin(struct ez_entry *e, uint64_t message_id)
{
	ez_endpoint_callback_begin_at(e, message_id, 0);
}

static inline void ez_endpoint_callback_end_at(struct ez_entry *e, uint64_t message_id,
					       uint64_t moment)
{
	if (e && (ez_probe_any_of_four(EZ_PLACE_free) || ez_probe_enabled(EZ_PROBE_callback_end)))
		ez_endpoint_callback_end_heard(e, message_id, moment, 0);
}

/* `excluded_ns` of the time since callback_begin don't count as processing. */
static inline void ez_endpoint_callback_end_excluding(struct ez_entry *e, uint64_t message_id,
						      uint64_t excluded_ns)
{
	if (e && (ez_probe_any_of_four(EZ_PLACE_free) || ez_probe_enabled(EZ_PROBE_callback_end)))
		ez_endpoint_callback_end_heard(e, message_id, 0, excluded_ns);
}

static inline void ez_endpoint_callback_end(struct ez_entry *e, uint64_t message_id)
{
	ez_endpoint_callback_end_at(e, message_id, 0);
}

/* Publisher: it starts to wait for a free buffer or for a socket; and: it goes on. */
void ez_endpoint_blocked_begin_at(struct ez_entry *e, uint64_t message_id, uint64_t moment);
void ez_endpoint_blocked_end_at(struct ez_entry *e, uint64_t message_id, uint64_t moment);

static inline void ez_endpoint_blocked_begin(struct ez_entry *e, uint64_t message_id)
{
	ez_endpoint_blocked_begin_at(e, message_id, 0);
}

static inline void ez_endpoint_blocked_end(struct ez_entry *e, uint64_t message_id)
{
	ez_endpoint_blocked_end_at(e, message_id, 0);
}

#endif
