/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The window path's maps: buckets as processes handed them over. Compiles alone under both
 * compilers. A bucket of an endpoint is handed over once, by one program run, under the endpoint's
 * lock; so every value here has one writer at a time, and what remains to be told is how a reader
 * (a copy by another CPU) can believe what it sees: that is what the order of writing below is for.
 */
#ifndef EZ_BUCKET_SHARED_H
#define EZ_BUCKET_SHARED_H

/* Both define the window geometry: that they agree is checked by the compiler. */
#include "bucket_layout.h"
#include "window_shared.h"

/*
 * Whose bucket, and which: the group's epoch (raised whenever slots change hands) above 36 bits of
 * the id (292 years). 0: none.
 */
#define EZ_TAG_ID_BITS 36u
#define EZ_TAG(epoch, id) \
	((ez_u64)(epoch) << EZ_TAG_ID_BITS | ((id) & ((1ull << EZ_TAG_ID_BITS) - 1)))
#define EZ_TAG_ID(tag) ((tag) & ((1ull << EZ_TAG_ID_BITS) - 1))
#define EZ_TAG_EPOCH(tag) ((ez_u32)((tag) >> EZ_TAG_ID_BITS))
/* Epochs that fit; a tag's epoch is compared with that many bits of the group's. */
#define EZ_TAG_EPOCH_MASK ((1u << (64 - EZ_TAG_ID_BITS)) - 1)

/*
 * Per-CPU array `bucket_sums`, key = (id & 127) * slots + slot, so that one batch look-up reads a
 * bucket of all endpoints. Only the CPU that took the hand-over has that tag; others keep older
 * ones. The tag is 0 while the rest is written.
 */
struct ez_bucket_sums {
	ez_u64 tag;
	ez_u64 bytes;
	ez_u32 messages;
	ez_u32 drops;
	ez_u32 n[EZ_INTERVALS];
	ez_u64 sum_ns[EZ_INTERVALS];
	ez_u64 carry_ns;
};
_Static_assert(sizeof(struct ez_bucket_sums) == 80, "shared with BPF");

/* Array `bucket_shapes`, key = slot * 128 + (id & 127), mmapable. The tag as above. */
struct ez_bucket_shape {
	ez_u64 tag;
	struct ez_shape shape;
};
_Static_assert(sizeof(struct ez_bucket_shape) == 2384, "shared with BPF");

/*
 * Array `bucket_totals`, key = slot, mmapable: what was accepted of an endpoint since the attach.
 * `seq` is odd while it is written. Running numbers are the endpoint's own
 * (ez_bucket.total_before): end_total - first_total is what went by, messages what was counted of
 * it.
 */
struct ez_bucket_totals {
	ez_u64 seq;
	ez_u64 owner;	/* EZ_OWNER_READY(); 0: nobody's */
	ez_u64 last_id; /* newest bucket that was handed over, whether it could be read or not */
	ez_u64 first_total; /* before the first accepted bucket */
	ez_u64 end_total;   /* after the newest one that could be read */
	ez_u64 messages;
	ez_u64 bytes;
	ez_u64 drops;
	ez_u64 n[EZ_INTERVALS];
	ez_u64 failed; /* buckets that could not be read: what they held is a hole in the numbers */
	ez_u64 reserved[3];
};
_Static_assert(sizeof(struct ez_bucket_totals) == 128, "shared with BPF");

/* Hash `bucket_from`: the first whole bucket of a process and file; smaller ids are ignored. */
struct ez_bucket_from_key {
	ez_u32 tgid;
	ez_u32 file;
};

#endif
