/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What BPF programs and user space share: window geometry and the values of the boundary path's
 * maps. Compiles alone under both compilers; fixed-width fields only.
 *
 * A slot is the place of one endpoint in every map. All sums of a slot only grow while the agent
 * lives; nothing is ever reset, so nothing can be lost to a reset. A window is the difference of
 * two states: a "note" is the sums as they were when a bucket (2^27 ns) began on that CPU, taken
 * by the first hit in that bucket there. What a bucket without a note began with is the next
 * later note, or the sums themselves if there is none.
 */
#ifndef EZ_WINDOW_SHARED_H
#define EZ_WINDOW_SHARED_H

#ifdef __bpf__
#include "vmlinux.h"
typedef __u64 ez_u64;
typedef __u32 ez_u32;
#else
#include <stdint.h>
typedef uint64_t ez_u64;
typedef uint32_t ez_u32;
#endif

#define EZ_BUCKET_SHIFT 27u  /* ns: 134.2 ms a bucket */
#define EZ_RING_BUCKETS 128u /* 17.2 s; windows up to 16 s need 120 + the current one */
#define EZ_GROUP_SLOTS 16u   /* endpoints of a process share a look-up by index >> 4 */
#define EZ_GROUP_SHIFT 4u

/* clang-format off */
/* Intervals of an endpoint; the numbers are indices of n[] and sum_ns[]. */
#define EZ_INTERVAL_LIST(X) \
	X(PUB_LEASE, 0)      /* reserved: a broadcast's lease to its last free */ \
	X(PUB_BLOCKED, 1)    /* publisher: backpressure_begin to backpressure_end */ \
	X(PUB_GAP, 2)        /* publisher: publish to publish */ \
	X(PUB_SERIALISE, 3)  /* reserved */ \
	X(LINK_LEASE, 3)     /* link: lease to free; as a client's, since a hit doesn't tell the kind */ \
	X(SUB_QUEUE, 0)      /* client: lease to callback_begin */ \
	X(SUB_PROCESSING, 1) /* client: callback_begin to callback_end */ \
	X(SUB_GAP, 2)        /* client: callback_begin to callback_begin */ \
	X(SUB_LEASE, 3)      /* client: lease to free */
#define EZ_INTERVALS 4u

/* Every way in which a hit can fail to be counted, or an interval to be measured. */
#define EZ_LOSS_LIST(X) \
	X(NO_SLOT, "no_slot", "hits of endpoints that found no slot: raise --max-endpoints") \
	X(NOT_A_TARGET, "not_a_target", "hits of processes that nobody asked for") \
	X(BAD_ENDPOINT, "bad_endpoint", "hits that name no possible endpoint") \
	X(STALE_GENERATION, "stale_generation", "hits of an endpoint that is already closed") \
	X(BUFFERS, "buffers", "leases of a buffer beyond the lease table: not timed") \
	X(UNMATCHED_FREE, "unmatched_free", "frees without a lease that was seen: not timed") \
	X(UNMATCHED_CALLBACK, "unmatched_callback", "callback ends or begins without their start: not timed") \
	X(UNMATCHED_BLOCKED, "unmatched_blocked", "ends of a wait whose begin was not seen: not timed") \
	X(NEGATIVE, "negative", "intervals that end before they begin: dropped") \
	X(MAX_RACE, "max_race", "a maximum given up after too many collisions") \
	X(NOTE_RACE, "note_race", "a bucket's beginning noted by another program on the same CPU") \
	X(READ_FAILED, "read_failed", "buckets that could not be read out of the process")
/* clang-format on */

#define EZ_WINDOW_ENUM_INTERVAL(name, value) EZ_##name = value,
enum ez_interval { EZ_INTERVAL_LIST(EZ_WINDOW_ENUM_INTERVAL) };
#undef EZ_WINDOW_ENUM_INTERVAL
#define EZ_WINDOW_ENUM_LOSS(name, text, meaning) EZ_LOSS_##name,
enum ez_loss { EZ_LOSS_LIST(EZ_WINDOW_ENUM_LOSS) EZ_LOSS_COUNT };
#undef EZ_WINDOW_ENUM_LOSS

/* Grows only. */
struct ez_sums {
	ez_u64 messages; /* publisher: publish hits; client and link: free hits */
	ez_u64 bytes;
	ez_u64 n[EZ_INTERVALS];
	ez_u64 sum_ns[EZ_INTERVALS];
	ez_u64 carry_ns; /* blocked time that lies before the bucket in which its wait ended */
};
_Static_assert(sizeof(struct ez_sums) == 88, "shared with BPF");

/*
 * State word of a note: bucket id << 1 | ready. Taken by compare-and-swap with ready = 0 by the
 * one program that may fill the note, set to ready = 1 when `sums` is whole.
 */
#define EZ_NOTE_CLAIMED(id) ((ez_u64)(id) << 1)
#define EZ_NOTE_READY(id) ((ez_u64)(id) << 1 | 1)
#define EZ_NOTE_ID(state) ((state) >> 1)
#define EZ_NOTE_IS_READY(state) ((state)&1)

/* A maximum: low 20 bits of the bucket id << 44 | ns, saturated at 2^44 - 1 (4.9 hours). */
#define EZ_MAX_SHIFT 44u
#define EZ_MAX_NS ((1ull << EZ_MAX_SHIFT) - 1)
#define EZ_MAX_WORD(id, ns) ((ez_u64)(id) << EZ_MAX_SHIFT | ((ns) > EZ_MAX_NS ? EZ_MAX_NS : (ns)))
#define EZ_MAX_IS_OF(word, id) ((word) >> EZ_MAX_SHIFT == ((id)&0xfffff))
/* The word is of a later bucket (the 20 bits wrap after 39 hours). 0 is of none. */
#define EZ_MAX_IS_LATER(word, id) \
	((word) != 0 && ((((word) >> EZ_MAX_SHIFT) - (id)) & 0xfffff) - 1 < 0x7ffff)

struct ez_note {
	ez_u64 state;
	struct ez_sums sums;
	ez_u64 max[EZ_INTERVALS];
	ez_u64 reserved;
};
_Static_assert(sizeof(struct ez_note) == 136, "shared with BPF");

/*
 * Per-CPU array `rings`, key = slot. `owner` says whose the sums are: EZ_OWNER_READY(epoch,
 * generation); `base` is the sums as they were when that owner's first hit came on this CPU, in
 * bucket `base_id`, so what counts is sums - base. Claimed and filled like a note. Notes of
 * `base_id` and before tell of earlier owners.
 */
struct ez_ring {
	ez_u64 owner;
	struct ez_sums base;
	struct ez_sums sums;
	ez_u64 base_id;
	struct ez_note notes[EZ_RING_BUCKETS];
};
_Static_assert(sizeof(struct ez_ring) == 192 + 128 * 136, "shared with BPF");
_Static_assert(sizeof(struct ez_ring) <= 32768, "limit of a per-CPU value");

/* epoch: raised at each allocation of a group; generation: the registry's, 31 bits of it. */
#define EZ_OWNER_CLAIMED(epoch, generation) \
	((ez_u64)(epoch) << 32 | (ez_u64)((generation)&0x7fffffff) << 1)
#define EZ_OWNER_READY(epoch, generation) (EZ_OWNER_CLAIMED(epoch, generation) | 1)

/* Array `slots`, key = slot, mmapable: what is one per endpoint and not one per CPU. */
struct ez_slot {
	ez_u64 owner;		 /* as in ez_ring, always ready */
	ez_u64 first_total;	 /* running number of the first accepted publish or free; 0: none */
	ez_u64 last_total;	 /* and of the newest one */
	ez_u64 last_ns;		 /* last publish or callback_begin */
	ez_u64 blocked_since_ns; /* wait in progress; 0: none */
	ez_u64 unmatched;	 /* intervals that could not be timed */
	ez_u64 callback_message; /* message id + 1 of the newest callback_begin, */
	ez_u64 callback_ns; /* and when it was: its lease may be free and the buffer used again */
};
_Static_assert(sizeof(struct ez_slot) == 64, "shared with BPF");

/* Array `leases`, key = slot * stride + message id % num_buffers; stride is fixed at load. */
struct ez_lease {
	ez_u64 message; /* message id + 1 */
	ez_u64 lease_ns;
	ez_u64 begin_ns; /* callback_begin; 0: not yet */
	ez_u64 owner;
};
_Static_assert(sizeof(struct ez_lease) == 32, "shared with BPF");

/* Per-CPU array `counters`, one value. */
#define EZ_COUNTERS 16u
struct ez_counters {
	ez_u64 hits[EZ_COUNTERS];   /* by enum ez_probe */
	ez_u64 losses[EZ_COUNTERS]; /* by enum ez_loss */
};
_Static_assert((int)EZ_LOSS_COUNT <= (int)EZ_COUNTERS, "room for every loss");

/* No index of an endpoint reaches this (EZ_REGISTRY_ENTRIES_MAX). */
#define EZ_ENDPOINTS_MAX 16384u

/* Hash `groups`. The file number is the agent's, one per instrumented file. */
struct ez_group_key {
	ez_u32 tgid;
	ez_u32 file;
	ez_u32 group; /* endpoint index >> EZ_GROUP_SHIFT */
	ez_u32 reserved;
};
_Static_assert(sizeof(struct ez_group_key) == 16, "shared with BPF");

/* Written by one insert. `tgid` and `group` are the key's once more, see ez_hit_group(). */
struct ez_group {
	ez_u32 tgid;
	ez_u32 group;
	ez_u32 first_slot;
	ez_u32 epoch;
};
_Static_assert(sizeof(struct ez_group) == 16, "shared with BPF");

/*
 * Pid namespaces below the agent's own, where that isn't the host's. Array `nested_namespaces`,
 * key = place; inode 0: none. Hash `nested_pids`: a process's number in the namespace of that
 * place -> by which the agent knows it.
 */
#define EZ_NESTED_MAX 8u
struct ez_pid_namespace {
	ez_u64 dev, inode;
};
struct ez_nested_pid {
	ez_u32 place;
	ez_u32 pid;
};

/* Attach cookie of a site: file number << 8 | enum ez_probe. */
#define EZ_COOKIE(file, probe) ((ez_u64)(file) << 8 | (ez_u64)(probe))
#define EZ_COOKIE_FILE(cookie) ((ez_u32)((cookie) >> 8))
#define EZ_COOKIE_PROBE(cookie) ((ez_u32)((cookie)&0xff))

#endif
