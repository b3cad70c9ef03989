/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How hits are added to a ring, and how a bucket's beginning is noted: the protocol that stays
 * exact when uprobe programs preempt each other on one CPU. Compiled for BPF, and for user space by
 * the tests, which run every interleaving they can think of (EZ_RING_STEP marks where a program may
 * be stopped).
 *
 * The writers of a ring are programs on one CPU: each sees what the others wrote in order, and any
 * of them may stop anywhere while others run. The one reader is a copy made by another CPU.
 *
 * - Sums only grow, by atomic adds: no add is ever lost, whoever is stopped where.
 * - A note holds the sums as they were before the first add of its bucket. Its writer reads the
 * sums first and claims the note then. If any other program of the bucket came in between, that one
 *   has claimed the note and the compare-and-swap fails. A program that finds the note claimed adds
 *   without waiting: what it adds came after the sums were read. So a note never holds adds of its
 *   own bucket.
 * - A program may be stopped between reading its clock and the rest. Going on in a later bucket, it
 *   adds after that one's note, and so counts there: misplaced, not lost. And it may take its own
 *   bucket's note only now, with the later bucket's adds in it: so the reader cuts every note to
 * the notes of later buckets, or those adds would count twice.
 * - A claimed note is never taken over, not even after a full turn of the ring (its writer would
 *   have been stopped for 17 s): the newer bucket then goes without a note, and its hits count in
 *   one beside it.
 * - A new owner takes the ring over in the same way, the base in the place of the note. Two owners
 *   never run at once: an index is used again 20 s after it was closed, and a group's slots are
 *   given to others only when its process is dead or all that used them is closed.
 */
#ifndef EZ_RING_SHARED_H
#define EZ_RING_SHARED_H

#include "window_shared.h"

#ifndef EZ_RING_STEP
#define EZ_RING_STEP()
#endif

#define EZ_INLINE static inline __attribute__((always_inline))
#define EZ_READ(x) (*(volatile __typeof__(x) *)&(x))
#define EZ_WRITE(x, value) (*(volatile __typeof__(x) *)&(x) = (value))
/* Full barriers: what was written before is seen before. */
#define EZ_CAS(p, old, new) __sync_val_compare_and_swap(p, old, new)
#define EZ_XCHG(p, value) __sync_lock_test_and_set(p, value)
#ifndef EZ_ADD
#define EZ_ADD(p, value) ((void)__sync_fetch_and_add(p, value))
#endif

enum ez_ring_result { EZ_RING_OK, EZ_RING_RACED, EZ_RING_STALE };

#define EZ_SUMS_WORDS (sizeof(struct ez_sums) / sizeof(ez_u64))
#define EZ_MAX_TRIES 4

EZ_INLINE void ez_sums_copy(struct ez_sums *to, const struct ez_sums *from)
{
	ez_u64 *t = (ez_u64 *)to;
	const ez_u64 *f = (const ez_u64 *)from;

#pragma GCC unroll 11
	for (unsigned int i = 0; i < EZ_SUMS_WORDS; i++) {
		ez_u64 word;

		EZ_RING_STEP();
		word = EZ_READ(f[i]);
		EZ_RING_STEP();
		EZ_WRITE(t[i], word);
	}
}

EZ_INLINE struct ez_note *ez_ring_note_at(struct ez_ring *ring, ez_u64 id)
{
	return &ring->notes[id & (EZ_RING_BUCKETS - 1)];
}

/* Takes the ring over for a newer owner. Maxima of this bucket were the earlier owner's. */
EZ_INLINE enum ez_ring_result ez_ring_take(struct ez_ring *ring, ez_u64 current, ez_u64 owner,
					   ez_u64 id)
{
	struct ez_note *note = ez_ring_note_at(ring, id);
	struct ez_sums base;
	ez_u64 seen;

	ez_sums_copy(&base, &ring->sums);
#pragma GCC unroll 4
	for (unsigned int i = 0; i < EZ_INTERVALS; i++) {
		EZ_WRITE(note->max[i], 0);
		EZ_RING_STEP();
	}
	seen = EZ_CAS(&ring->owner, current, owner & ~1ull);
	EZ_RING_STEP();
	if (seen != current)
		return seen > owner ? EZ_RING_STALE : EZ_RING_RACED;
	ez_sums_copy(&ring->base, &base);
	EZ_WRITE(ring->base_id, id);
	EZ_RING_STEP();
	(void)EZ_CAS(&ring->owner, owner & ~1ull, owner);
	return EZ_RING_OK;
}

/* Makes sure that the ring is that owner's. RACED: it is, but a maximum may have been wiped. */
EZ_INLINE enum ez_ring_result ez_ring_own(struct ez_ring *ring, ez_u64 owner, ez_u64 id)
{
	ez_u64 current = EZ_READ(ring->owner);

	EZ_RING_STEP();
	/* Claimed counts as owned: whoever claimed it has read the base before we add. */
	if ((current | 1) == owner)
		return EZ_RING_OK;
	if (current > owner)
		return EZ_RING_STALE;
	return ez_ring_take(ring, current, owner, id);
}

/* Notes the beginning of bucket `id` unless that has been done. To be called before any add. */
EZ_INLINE enum ez_ring_result ez_ring_note(struct ez_ring *ring, ez_u64 id)
{
	struct ez_note *note = ez_ring_note_at(ring, id);
	ez_u64 state = EZ_READ(note->state);
	struct ez_sums sums;

	EZ_RING_STEP();
	if (EZ_NOTE_ID(state) >= id)
		return EZ_RING_OK;
	if (state && !EZ_NOTE_IS_READY(state))
		return EZ_RING_RACED;
	ez_sums_copy(&sums, &ring->sums);
	if (EZ_CAS(&note->state, state, EZ_NOTE_CLAIMED(id)) != state)
		return EZ_RING_RACED;
	EZ_RING_STEP();
	ez_sums_copy(&note->sums, &sums);
	(void)EZ_XCHG(&note->state, EZ_NOTE_READY(id));
	return EZ_RING_OK;
}

/* Raises the bucket's maximum. False: given up after too many collisions. */
EZ_INLINE int ez_ring_max(struct ez_ring *ring, ez_u64 id, unsigned int interval, ez_u64 ns)
{
	ez_u64 *word = &ez_ring_note_at(ring, id)->max[interval & (EZ_INTERVALS - 1)];
	ez_u64 new = EZ_MAX_WORD(id, ns);

#pragma GCC unroll 4
	for (int i = 0; i < EZ_MAX_TRIES; i++) {
		ez_u64 old = EZ_READ(*word);

		EZ_RING_STEP();
		/* The same bucket's and not smaller; or of a bucket one turn later. */
		if (EZ_MAX_IS_OF(old, id) ? old >= new : EZ_MAX_IS_LATER(old, id))
			return 1;
		if (EZ_CAS(word, old, new) == old)
			return 1;
		EZ_RING_STEP();
	}
	return 0;
}

/* One ended interval. The caller has noted the bucket. False: the maximum may be too small. */
EZ_INLINE int ez_ring_interval(struct ez_ring *ring, ez_u64 id, unsigned int interval, ez_u64 ns)
{
	unsigned int i = interval & (EZ_INTERVALS - 1);

	EZ_ADD(&ring->sums.n[i], 1);
	EZ_RING_STEP();
	EZ_ADD(&ring->sums.sum_ns[i], ns);
	EZ_RING_STEP();
	return ez_ring_max(ring, id, i, ns);
}

EZ_INLINE void ez_ring_message(struct ez_ring *ring, ez_u64 bytes)
{
	EZ_ADD(&ring->sums.messages, 1);
	EZ_RING_STEP();
	EZ_ADD(&ring->sums.bytes, bytes);
	EZ_RING_STEP();
}

/* The part of a wait that lies before the bucket in which it ended. */
EZ_INLINE void ez_ring_carry(struct ez_ring *ring, ez_u64 id, ez_u64 since_ns)
{
	ez_u64 begin_ns = id << EZ_BUCKET_SHIFT;

	if (since_ns < begin_ns)
		EZ_ADD(&ring->sums.carry_ns, begin_ns - since_ns);
	EZ_RING_STEP();
}

#endif
