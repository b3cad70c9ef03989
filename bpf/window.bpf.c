/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The window path: a process hands a closed bucket over, and it is put into the maps.
 *
 * Safety of every update: the process fires the probe under the endpoint's lock, and a program runs
 * to its end before the process goes on, so programs of one endpoint never overlap, whatever CPU
 * they run on; each bucket lies in places of its own endpoint and id. So plain stores do. They
 * would overlap only if a process broke the rule on purpose, and then it is its own figures that
 * are wrong. Against readers each value is void (tag 0, odd seq) while it is written; on aarch64
 * the order of stores is kept by the exchanges.
 */
#include "window_maps.bpf.h"
#include "sched_maps.bpf.h"
#include "hit.bpf.h"
#include "registers.bpf.h"
#include "probe_list.h"

/* A handed-over bucket: arguments of the probe, and where it goes. */
struct hand_over {
	__u64 page;
	__u64 id;
	__u64 total_before;
	__u64 tag;
	__u64 owner;
	__u32 slot;
	struct ez_bucket_totals *totals;
};

/* What of a bucket is copied to the stack: its head, which is all but the shape. */
struct head {
	__u64 seq, id, total_before, bytes;
	__u32 messages, drops, n[EZ_INTERVALS];
	__u64 sum_ns[EZ_INTERVALS], carry_ns, open_since_ns[EZ_INTERVALS];
};
_Static_assert(sizeof(struct head) == EZ_BUCKET_HEAD_BYTES, "the head of struct ez_bucket");

EZ_INLINE void seq_raise(struct ez_bucket_totals *totals)
{
	(void)EZ_XCHG(&totals->seq, totals->seq + 1);
}

/*
 * Older than the attach (also left-overs of an earlier attach, and of the parent of a fork): not
 * ours and no loss. Unknown process and file: nobody asked.
 */
EZ_INLINE int is_wanted(const struct ez_hit *hit, __u32 file, __u64 id)
{
	struct ez_bucket_from_key key = {
		.tgid = ez_current_tgid(),
		.file = file,
	};
	const __u64 *from = bpf_map_lookup_elem(&bucket_from, &key);

	if (!from)
		ez_hit_lose(hit, EZ_LOSS_NOT_A_TARGET);
	return from && id >= EZ_READ(*from);
}

/* The totals become the endpoint's. False: the endpoint is an older one than their owner. */
EZ_INLINE int own_totals(const struct hand_over *h)
{
	struct ez_bucket_totals *t = h->totals;

	if (t->owner == h->owner)
		return 1;
	if (t->owner > h->owner)
		return 0;
	seq_raise(t);
	t->owner = h->owner;
	t->last_id = 0;
	t->first_total = h->total_before;
	t->end_total = h->total_before;
	t->messages = 0;
	t->bytes = 0;
	t->drops = 0;
	t->failed = 0;
#pragma unroll
	for (int i = 0; i < (int)EZ_INTERVALS; i++)
		t->n[i] = 0;
	seq_raise(t);
	return 1;
}

/* Where the endpoint's buckets go. */
EZ_INLINE int find_place(const struct ez_hit *hit, __u32 file, __u64 endpoint, struct hand_over *h)
{
	__u32 index = (__u32)endpoint;
	struct ez_group_key key = {
		.tgid = ez_current_tgid(),
		.file = file,
		.group = index >> EZ_GROUP_SHIFT,
	};
	struct ez_group group;

	if (index >= EZ_ENDPOINTS_MAX || !(endpoint >> 32)) {
		ez_hit_lose(hit, EZ_LOSS_BAD_ENDPOINT);
		return 0;
	}
	if (!ez_hit_group(hit, &key, &group))
		return 0;
	h->slot = group.first_slot + (index & (EZ_GROUP_SLOTS - 1));
	h->owner = EZ_OWNER_READY(group.epoch, endpoint >> 32);
	h->tag = EZ_TAG(group.epoch, h->id);
	h->totals = bpf_map_lookup_elem(&bucket_totals, &h->slot);
	if (!h->totals) {
		ez_hit_lose(hit, EZ_LOSS_NO_SLOT);
		return 0;
	}
	if (own_totals(h) && h->id > h->totals->last_id)
		return 1;
	ez_hit_lose(hit, EZ_LOSS_STALE_GENERATION);
	return 0;
}

/* Straight into the mapped entry: there is no room on the stack, and no copy to be overwritten. */
EZ_INLINE int put_shape(const struct hand_over *h)
{
	__u32 key = h->slot * EZ_RING_BUCKETS + (h->id & (EZ_RING_BUCKETS - 1));
	struct ez_bucket_shape *to = bpf_map_lookup_elem(&bucket_shapes, &key);
	const void *from = (const void *)(h->page + EZ_BUCKET_HEAD_BYTES);

	if (!to)
		return 0;
	(void)EZ_XCHG(&to->tag, 0);
	if (bpf_probe_read_user(&to->shape, sizeof(to->shape), from))
		return 0;
	(void)EZ_XCHG(&to->tag, h->tag);
	return 1;
}

EZ_INLINE int put_sums(const struct hand_over *h, const struct head *head)
{
	__u32 key = (h->id & (EZ_RING_BUCKETS - 1)) * bucket_slots + h->slot;
	struct ez_bucket_sums *to = bpf_map_lookup_elem(&bucket_sums, &key);

	if (!to)
		return 0;
	(void)EZ_XCHG(&to->tag, 0);
	to->bytes = head->bytes;
	to->messages = head->messages;
	to->drops = head->drops;
#pragma unroll
	for (int i = 0; i < (int)EZ_INTERVALS; i++) {
		to->n[i] = head->n[i];
		to->sum_ns[i] = head->sum_ns[i];
	}
	to->carry_ns = head->carry_ns;
	(void)EZ_XCHG(&to->tag, h->tag);
	return 1;
}

EZ_INLINE void add_totals(const struct hand_over *h, const struct head *head)
{
	struct ez_bucket_totals *t = h->totals;

	seq_raise(t);
	t->last_id = h->id;
	t->end_total = head->total_before + head->messages;
	t->messages += head->messages;
	t->bytes += head->bytes;
	t->drops += head->drops;
#pragma unroll
	for (int i = 0; i < (int)EZ_INTERVALS; i++)
		t->n[i] += head->n[i];
	seq_raise(t);
}

/* What it held can't be known here: it will be missing between the running numbers. */
EZ_INLINE void add_failure(const struct ez_hit *hit, const struct hand_over *h)
{
	ez_hit_lose(hit, EZ_LOSS_READ_FAILED);
	seq_raise(h->totals);
	h->totals->last_id = h->id;
	h->totals->failed++;
	seq_raise(h->totals);
}

/* Only with --sched, and not of the fallback's probes. */
EZ_INLINE int wants_covered(__u64 bytes)
{
#ifdef EZ_USDT
	(void)bytes;
	return 0;
#else
	return sched_wanted && bytes >= EZ_COVERED_OFFSET + sizeof(struct ez_covered);
#endif
}

/* What can't be read is not covered. */
EZ_INLINE void put_covered(const struct hand_over *h)
{
	__u32 key = h->slot * EZ_RING_BUCKETS + (h->id & (EZ_RING_BUCKETS - 1));
	struct ez_sched_covered *to = bpf_map_lookup_elem(&sched_covered, &key);
	const void *from = (const void *)(h->page + EZ_COVERED_OFFSET);
	struct ez_covered covered;

	if (!to || bpf_probe_read_user(&covered, sizeof(covered), from))
		return;
	(void)EZ_XCHG(&to->tag, 0);
	to->covered_ns = covered.covered_ns;
	to->carry_ns = covered.carry_ns;
	(void)EZ_XCHG(&to->tag, h->tag);
}

EZ_INLINE void take(const struct ez_hit *hit, const struct hand_over *h)
{
	struct head head;

	if (bpf_probe_read_user(&head, sizeof(head), (const void *)h->page) || head.id != h->id ||
	    !put_shape(h) || !put_sums(h, &head))
		add_failure(hit, h);
	else
		add_totals(h, &head);
}

EZ_PROGRAM(ezprof_window)
{
	__u32 file = EZ_COOKIE_FILE(cookie), zero = 0;
	struct hand_over h = {
		.page = EZ_ARG1(r),
		.id = EZ_ARG3(r),
		.total_before = EZ_ARG4(r),
	};
	struct ez_hit hit = {.counters = bpf_map_lookup_elem(&counters, &zero)};

	if (!hit.counters)
		return 0;
	EZ_ADD(&hit.counters->hits[EZ_PROBE_window], 1);
	if (!is_wanted(&hit, file, h.id))
		return 0;
	if (EZ_ARG2(r) < sizeof(struct ez_bucket))
		ez_hit_lose(&hit, EZ_LOSS_BAD_ENDPOINT);
	else if (find_place(&hit, file, EZ_ARG0(r), &h)) {
		if (wants_covered(EZ_ARG2(r)))
			put_covered(&h);
		take(&hit, &h);
	}
	return 0;
}
