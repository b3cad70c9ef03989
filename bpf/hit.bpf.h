/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One hit on its way into the maps: whose it is (group, slot, ring), and how its losses are
 * counted. One look-up in a hash per hit, no insert or delete but at a process's first hits.
 */
#ifndef EZ_HIT_BPF_H
#define EZ_HIT_BPF_H

#include "maps.bpf.h"
#include "ring_shared.h"

struct ez_hit {
	__u64 now_ns;
	__u64 id; /* of the bucket */
	__u64 owner;
	__u32 slot_number;
	struct ez_counters *counters;
	struct ez_slot *slot;
	struct ez_ring *ring;
};

/*
 * Keeps the program's stack where it belongs to this run alone. From Linux 6.13 on a program of
 * this type with 64 bytes of it or more gets one stack per CPU, since the kernel doesn't begin a
 * kprobe's program where another one is at work; but it does begin a uprobe's, if that preempts the
 * other, and then both write to the same stack (tests/bpf/overlap sees it). Programs with tail
 * calls are exempt. This one is never made, and not in what the verifier lets through.
 */
EZ_INLINE void ez_keep_own_stack(void *ctx)
{
	if (never)
		bpf_tail_call(ctx, 0, 0);
}

/* By atomic add, though per CPU: another program may interrupt between load and store. */
EZ_INLINE void ez_hit_lose(const struct ez_hit *hit, enum ez_loss loss)
{
	EZ_ADD(&hit->counters->losses[loss & (EZ_COUNTERS - 1)], 1);
}

/* An interval that can't be timed, beside what is counted. */
EZ_INLINE void ez_hit_unmatched(const struct ez_hit *hit, enum ez_loss loss)
{
	ez_hit_lose(hit, loss);
	EZ_ADD(&hit->slot->unmatched, 1);
}

/*
 * The first hit of a group of 16 endpoints. Two CPUs may do this at once for one key: only one
 * insert succeeds, the other gives its number back, and both use the one that is in the map. The
 * queue and the hash lock their own insides, also against programs on the same CPU; where they
 * refuse to wait, the hit is a loss.
 */
static __attribute__((noinline)) int ez_group_add(struct ez_group_key *key)
{
	struct ez_group group = {};
	__u32 number;

	if (!key || bpf_map_pop_elem(&free_groups, &number))
		return -1;
	group.tgid = key->tgid;
	group.group = key->group;
	group.first_slot = number * EZ_GROUP_SLOTS;
	group.epoch = (__u32)__sync_fetch_and_add(&last_epoch, 1) + 1;
	if (bpf_map_update_elem(&groups, key, &group, BPF_NOEXIST))
		bpf_map_push_elem(&free_groups, &number, BPF_ANY);
	return 0;
}

/* Of a process in a namespace below the agent's own; 0: nobody asked for it. */
static __attribute__((noinline, unused)) __u32 ez_nested_tgid(void)
{
	struct bpf_pidns_info info = {};
	struct ez_nested_pid key = {};

	for (__u32 i = 0; i < EZ_NESTED_MAX; i++) {
		struct ez_pid_namespace *namespace;
		__u32 *tgid;

		key.place = i;
		namespace = bpf_map_lookup_elem(&nested_namespaces, &key.place);
		if (!namespace || !namespace->inode ||
		    bpf_get_ns_current_pid_tgid(namespace->dev, namespace->inode, &info,
						sizeof(info)))
			continue;
		key.pid = info.tgid;
		tgid = bpf_map_lookup_elem(&nested_pids, &key);
		return tgid ? *tgid : 0;
	}
	return 0;
}

/*
 * The process, by the number that the agent knows it by; 0: none. The test is of a constant, so
 * that the verifier drops what isn't needed.
 */
EZ_INLINE __u32 ez_current_tgid(void)
{
	struct bpf_pidns_info info = {};

	if (!pid_ns_inode)
		return bpf_get_current_pid_tgid() >> 32;
	if (bpf_get_ns_current_pid_tgid(pid_ns_dev, pid_ns_inode, &info, sizeof(info)))
		return ez_nested_tgid();
	return info.tgid;
}

EZ_INLINE struct ez_group *ez_group_find(const struct ez_hit *hit, struct ez_group_key *key)
{
	struct ez_group *group = bpf_map_lookup_elem(&groups, key);

	if (group)
		return group;
	if (!bpf_map_lookup_elem(&targets, &key->tgid)) {
		ez_hit_lose(hit, EZ_LOSS_NOT_A_TARGET);
		return 0;
	}
	ez_group_add(key);
	group = bpf_map_lookup_elem(&groups, key);
	if (!group)
		ez_hit_lose(hit, EZ_LOSS_NO_SLOT);
	return group;
}

/*
 * The hit's group; false: lost, and counted as such. User space deletes a group once no program
 * can be at work on it, by what the process says (userspace/recycling.c); if that was a lie, the
 * element may be another process's by now. Inserts write in ascending order: with first_slot or
 * epoch new, the names before them, which are read after them, are new as well.
 */
EZ_INLINE int ez_hit_group(const struct ez_hit *hit, struct ez_group_key *key, struct ez_group *ret)
{
	struct ez_group *group = ez_group_find(hit, key);

	if (!group)
		return 0;
	ret->epoch = EZ_READ(group->epoch);
	ret->first_slot = EZ_READ(group->first_slot);
	if (EZ_READ(group->tgid) == key->tgid && EZ_READ(group->group) == key->group)
		return 1;
	ez_hit_lose(hit, EZ_LOSS_STALE_GENERATION);
	return 0;
}

/*
 * Makes sure that the slot is that owner's. Hits of one endpoint don't overlap (its lock is held
 * around the probe), so that a claim by another program is hardly ever seen; if it is, the worst is
 * that our running number is wiped and counting starts one message later.
 */
EZ_INLINE enum ez_ring_result ez_slot_own(struct ez_slot *slot, __u64 owner)
{
	__u64 current = EZ_READ(slot->owner);

	if ((current | 1) == owner)
		return EZ_RING_OK;
	if (current > owner)
		return EZ_RING_STALE;
	if (EZ_CAS(&slot->owner, current, owner & ~1ull) != current)
		return EZ_RING_RACED;
	EZ_WRITE(slot->first_total, 0);
	EZ_WRITE(slot->last_total, 0);
	EZ_WRITE(slot->last_ns, 0);
	EZ_WRITE(slot->blocked_since_ns, 0);
	EZ_WRITE(slot->unmatched, 0);
	(void)EZ_CAS(&slot->owner, owner & ~1ull, owner);
	return EZ_RING_OK;
}

/* Takes slot and ring for the endpoint and notes the bucket's beginning. */
EZ_INLINE int ez_hit_own(const struct ez_hit *hit)
{
	enum ez_ring_result owned;

	if (ez_slot_own(hit->slot, hit->owner) == EZ_RING_STALE)
		goto stale;
	owned = ez_ring_own(hit->ring, hit->owner, hit->id);
	if (owned == EZ_RING_STALE)
		goto stale;
	if (owned == EZ_RING_RACED)
		ez_hit_lose(hit, EZ_LOSS_MAX_RACE);
	if (ez_ring_note(hit->ring, hit->id) != EZ_RING_OK)
		ez_hit_lose(hit, EZ_LOSS_NOTE_RACE);
	return 1;
stale:
	ez_hit_lose(hit, EZ_LOSS_STALE_GENERATION);
	return 0;
}

/* Finds the place of the endpoint in the maps. False: lost, and counted as such. */
EZ_INLINE int ez_hit_enter(struct ez_hit *hit, __u32 file, __u64 endpoint)
{
	__u32 index = (__u32)endpoint;
	__u32 generation = endpoint >> 32;
	struct ez_group_key key = {
		.tgid = ez_current_tgid(),
		.file = file,
		.group = index >> EZ_GROUP_SHIFT,
	};
	struct ez_group group;

	if (index >= EZ_ENDPOINTS_MAX || !generation) {
		ez_hit_lose(hit, EZ_LOSS_BAD_ENDPOINT);
		return 0;
	}
	if (!ez_hit_group(hit, &key, &group))
		return 0;
	hit->slot_number = group.first_slot + (index & (EZ_GROUP_SLOTS - 1));
	hit->owner = EZ_OWNER_READY(group.epoch, generation);
	hit->slot = bpf_map_lookup_elem(&slots, &hit->slot_number);
	hit->ring = bpf_map_lookup_elem(&rings, &hit->slot_number);
	if (!hit->slot || !hit->ring) {
		ez_hit_lose(hit, EZ_LOSS_NO_SLOT);
		return 0;
	}
	return ez_hit_own(hit);
}

#endif
