/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where time off the CPU is added up: by endpoint and bucket; see sched_shared.h. */
#ifndef EZ_SCHED_SUMS_BPF_H
#define EZ_SCHED_SUMS_BPF_H

#include "sched_maps.bpf.h"
#include "ring_shared.h"

#define RACE_TRIES 8

/* The place of a bucket, cleared if it was an older one's. */
EZ_INLINE struct ez_sched_sums *sums_at(__u32 slot, __u64 tag)
{
	__u32 key = slot * EZ_RING_BUCKETS + (EZ_TAG_ID(tag) & (EZ_RING_BUCKETS - 1));
	struct ez_sched_sums *to = bpf_map_lookup_elem(&sched_sums, &key);
	__u64 seen;

	for (int i = 0; to && i < RACE_TRIES; i++) {
		seen = EZ_READ(to->tag);
		if (seen == tag)
			return to;
		if (seen == EZ_SCHED_TAKEN)
			continue;
		/* Slots of a closed endpoint have gone to another one. */
		if (EZ_TAG_EPOCH(seen) > EZ_TAG_EPOCH(tag))
			return 0;
		if (EZ_CAS(&to->tag, seen, EZ_SCHED_TAKEN) != seen)
			continue;
		to->ns[EZ_SCHED_BLOCKED] = 0;
		to->ns[EZ_SCHED_RUNNABLE] = 0;
		(void)EZ_XCHG(&to->tag, tag);
		return to;
	}
	return 0;
}

/* Not static: the verifier then looks at it once, and not once per turn of a loop. */
int ezprof_sched_add(__u64 place, __u32 state, __u64 id, __u64 ns);

__attribute__((noinline)) int ezprof_sched_add(__u64 place, __u32 state, __u64 id, __u64 ns)
{
	struct ez_sched_sums *sums = sums_at((__u32)place, EZ_TAG(place >> 32, id));

	if (sums)
		EZ_ADD(&sums->ns[state & 1], ns);
	return !sums;
}

/* Adds the stretch, cut into buckets; of one longer than the ring, its end. 0: all of it. */
EZ_INLINE int add_stretch(__u64 place, __u32 state, __u64 from, __u64 to)
{
	__u64 id = EZ_BUCKET_ID(from), last = EZ_BUCKET_ID(to);
	int lost = 0;

	if (to <= from)
		return 0;
	if (last - id >= EZ_RING_BUCKETS) {
		id = last - EZ_RING_BUCKETS + 1;
		from = id << EZ_BUCKET_SHIFT;
	}
	for (__u32 i = 0; i < EZ_RING_BUCKETS; i++) {
		__u64 end = (id + 1) << EZ_BUCKET_SHIFT;

		if (end > to)
			end = to;
		lost |= ezprof_sched_add(place, state, id, end - from);
		if (id++ >= last)
			break;
		from = end;
	}
	return lost;
}

#endif
