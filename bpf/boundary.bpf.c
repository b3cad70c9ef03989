/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The boundary path: each probe counts by itself, a lease is paired with its free by an array over
 * (slot, buffer). One program for all sites; the attach cookie says which file and which probe.
 *
 * Hits of one endpoint follow each other (its lock is held around the probe), on any CPU; hits of
 * different endpoints overlap, also on one CPU. So a slot and its leases have one writer at a time,
 * and are still written so that a writer that breaks this rule gets an interval uncounted, not
 * wrong. Sums have as many writers as there are CPUs and preempted programs: ring_shared.h.
 */
#include "hit.bpf.h"
#include "registers.bpf.h"
#include "probe_list.h"

/* The interval from start to now. */
EZ_INLINE void interval(const struct ez_hit *hit, unsigned int which, __u64 start_ns)
{
	if (hit->now_ns < start_ns)
		ez_hit_unmatched(hit, EZ_LOSS_NEGATIVE);
	else if (!ez_ring_interval(hit->ring, hit->id, which, hit->now_ns - start_ns))
		ez_hit_lose(hit, EZ_LOSS_MAX_RACE);
}

/* From the one before to this one; exchanged, so that no interval is measured twice. */
EZ_INLINE void gap(const struct ez_hit *hit, unsigned int which)
{
	__u64 last_ns = EZ_XCHG(&hit->slot->last_ns, hit->now_ns);

	if (last_ns)
		interval(hit, which, last_ns);
}

/* A message, and its running number: the first one once, the newest one always. */
EZ_INLINE void message(const struct ez_hit *hit, __u64 bytes, __u64 total)
{
	struct ez_slot *slot = hit->slot;

	ez_ring_message(hit->ring, bytes);
	if (!EZ_READ(slot->first_total))
		(void)EZ_CAS(&slot->first_total, 0, total);
	EZ_WRITE(slot->last_total, total);
}

/* The place of that message's lease; NULL: the buffers are more than the table was made for. */
EZ_INLINE struct ez_lease *lease_at(const struct ez_hit *hit, __u64 message_id, __u64 num_buffers)
{
	struct ez_lease *lease;
	__u32 key;

	if (!num_buffers || num_buffers > lease_stride)
		goto lose;
	key = hit->slot_number * lease_stride + (__u32)(message_id % num_buffers);
	lease = bpf_map_lookup_elem(&leases, &key);
	if (lease)
		return lease;
lose:
	ez_hit_unmatched(hit, EZ_LOSS_BUFFERS);
	return 0;
}

EZ_INLINE int lease_is_of(const struct ez_hit *hit, struct ez_lease *lease, __u64 message_id)
{
	return EZ_READ(lease->message) == message_id + 1 && EZ_READ(lease->owner) == hit->owner;
}

/* The start is void while the rest changes: a free meanwhile finds no start rather than a wrong
 * one. */
EZ_INLINE void lease_set(const struct ez_hit *hit, struct ez_lease *lease, __u64 message_id,
			 __u64 lease_ns, __u64 begin_ns)
{
	(void)EZ_XCHG(&lease->lease_ns, 0);
	EZ_WRITE(lease->message, message_id + 1);
	EZ_WRITE(lease->owner, hit->owner);
	EZ_WRITE(lease->begin_ns, begin_ns);
	(void)EZ_XCHG(&lease->lease_ns, lease_ns);
}

EZ_INLINE void on_publish(const struct ez_hit *hit, const ez_registers *r)
{
	message(hit, EZ_ARG2(r), EZ_ARG3(r));
	gap(hit, EZ_PUB_GAP);
}

EZ_INLINE void on_lease(const struct ez_hit *hit, const ez_registers *r)
{
	struct ez_lease *lease = lease_at(hit, EZ_ARG1(r), EZ_ARG2(r));

	if (lease)
		lease_set(hit, lease, EZ_ARG1(r), hit->now_ns, 0);
}

/* The start is taken by an exchange: a second free of the same message finds none. */
EZ_INLINE void on_free(const struct ez_hit *hit, const ez_registers *r)
{
	struct ez_lease *lease;
	__u64 start_ns = 0;

	message(hit, EZ_ARG4(r), EZ_ARG3(r));
	lease = lease_at(hit, EZ_ARG1(r), EZ_ARG2(r));
	if (!lease)
		return;
	if (lease_is_of(hit, lease, EZ_ARG1(r)))
		start_ns = EZ_XCHG(&lease->lease_ns, 0);
	if (start_ns)
		interval(hit, EZ_SUB_LEASE, start_ns);
	else
		ez_hit_unmatched(hit, EZ_LOSS_UNMATCHED_FREE);
}

/* The lease goes on. If its start was not seen, the callback's still is, for callback_end. */
EZ_INLINE void on_callback_begin(const struct ez_hit *hit, const ez_registers *r)
{
	struct ez_lease *lease = lease_at(hit, EZ_ARG1(r), EZ_ARG2(r));

	gap(hit, EZ_SUB_GAP);
	EZ_WRITE(hit->slot->callback_message, EZ_ARG1(r) + 1);
	EZ_WRITE(hit->slot->callback_ns, hit->now_ns);
	if (!lease)
		return;
	if (lease_is_of(hit, lease, EZ_ARG1(r)) && EZ_READ(lease->lease_ns)) {
		interval(hit, EZ_SUB_QUEUE, EZ_READ(lease->lease_ns));
		EZ_WRITE(lease->begin_ns, hit->now_ns);
	} else {
		ez_hit_unmatched(hit, EZ_LOSS_UNMATCHED_CALLBACK);
		lease_set(hit, lease, EZ_ARG1(r), 0, hit->now_ns);
	}
}

/* May come before the free or after it, so the free leaves the beginning alone. */
EZ_INLINE void on_callback_end(const struct ez_hit *hit, const ez_registers *r)
{
	struct ez_lease *lease = lease_at(hit, EZ_ARG1(r), EZ_ARG2(r));
	__u64 begin_ns = 0, excluded_ns = EZ_ARG5(r);

	if (!lease)
		return;
	if (lease_is_of(hit, lease, EZ_ARG1(r)))
		begin_ns = EZ_XCHG(&lease->begin_ns, 0);
	else if (EZ_READ(hit->slot->callback_message) == EZ_ARG1(r) + 1)
		begin_ns = EZ_READ(hit->slot->callback_ns);
	if (!begin_ns) {
		ez_hit_unmatched(hit, EZ_LOSS_UNMATCHED_CALLBACK);
		return;
	}
	/* What the process says was no processing moves the beginning, never beyond now. */
	if (excluded_ns < hit->now_ns - begin_ns)
		begin_ns += excluded_ns;
	else
		begin_ns = hit->now_ns;
	interval(hit, EZ_SUB_PROCESSING, begin_ns);
}

EZ_INLINE void on_blocked_begin(const struct ez_hit *hit)
{
	EZ_WRITE(hit->slot->blocked_since_ns, hit->now_ns);
}

EZ_INLINE void on_blocked_end(const struct ez_hit *hit)
{
	__u64 since_ns = EZ_XCHG(&hit->slot->blocked_since_ns, 0);

	if (!since_ns) {
		ez_hit_unmatched(hit, EZ_LOSS_UNMATCHED_BLOCKED);
		return;
	}
	interval(hit, EZ_PUB_BLOCKED, since_ns);
	ez_ring_carry(hit->ring, hit->id, since_ns);
}

/* Its messages count from the first one on, whether or not that one's hit arrives. */
EZ_INLINE void on_open(const struct ez_hit *hit)
{
	(void)EZ_CAS(&hit->slot->first_total, 0, 1);
}

EZ_INLINE void dispatch(__u32 probe, const struct ez_hit *hit, const ez_registers *r)
{
	if (probe == EZ_PROBE_publish)
		on_publish(hit, r);
	else if (probe == EZ_PROBE_lease)
		on_lease(hit, r);
	else if (probe == EZ_PROBE_free)
		on_free(hit, r);
	else if (probe == EZ_PROBE_callback_begin)
		on_callback_begin(hit, r);
	else if (probe == EZ_PROBE_callback_end)
		on_callback_end(hit, r);
	else if (probe == EZ_PROBE_backpressure_begin)
		on_blocked_begin(hit);
	else if (probe == EZ_PROBE_backpressure_end)
		on_blocked_end(hit);
	else if (probe == EZ_PROBE_endpoint_open)
		on_open(hit);
}

EZ_PROGRAM(ezprof_boundary)
{
	__u32 probe = EZ_COOKIE_PROBE(cookie);
	struct ez_hit hit = {.now_ns = bpf_ktime_get_ns()};
	__u32 zero = 0;

	hit.id = hit.now_ns >> EZ_BUCKET_SHIFT;
	hit.counters = bpf_map_lookup_elem(&counters, &zero);
	if (!hit.counters)
		return 0;
	EZ_ADD(&hit.counters->hits[probe & (EZ_COUNTERS - 1)], 1);
	/* A close is counted and no more: what it ends is known from the registry. */
	if (probe == EZ_PROBE_endpoint_close)
		return 0;
	if (ez_hit_enter(&hit, EZ_COOKIE_FILE(cookie), EZ_ARG0(r)))
		dispatch(probe, &hit, r);
	return 0;
}
