/* SPDX-License-Identifier: MIT */
/*
 * A shared memory segment of a publisher, mapped: N slots of S bytes, 16 of them reserved, so that
 * S - 16 are usable. Its header was written by another process and is checked once, here. Counted
 * references; the mapping goes with the last one. Any thread. Nothing keeps a peer from truncating
 * it: segment_guard.h.
 */
#ifndef EZ_SEGMENT_H
#define EZ_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "segment_guard.h"

#define EZ_SEGMENT_NAME_BYTES 256
#define EZ_SEGMENT_RESERVED 16

struct ez_segment {
	uint32_t refs;
	uint8_t *base;
	size_t bytes;
	uint64_t slots;
	uint64_t stride;
	struct ez_guarded *guarded;
	char name[EZ_SEGMENT_NAME_BYTES]; /* as on the wire, without the slash */
};

/*
 * Maps the segment of that name. -EINVAL: not a possible name; -EBADMSG: its header is none;
 * else the error of shm_open() or mmap().
 */
int ez_segment_map(const char *name, bool writable, struct ez_segment **ret_segment);

/*
 * Memory of this process with the same layout, for a publisher whose graph server is on another
 * host: nobody can attach it, so every channel takes TCP. -EINVAL: sizes that overflow; -ENOMEM.
 */
int ez_segment_private(const char *name, uint64_t slots, uint64_t buffer_bytes,
		       struct ez_segment **ret_segment);

struct ez_segment *ez_segment_ref(struct ez_segment *segment);
void ez_segment_unref(struct ez_segment *segment); /* NULL is fine */

static inline size_t ez_segment_usable(const struct ez_segment *segment)
{
	return (size_t)segment->stride - EZ_SEGMENT_RESERVED;
}

/* Somebody has truncated it: nothing in it can be relied on. */
static inline bool ez_segment_lost(const struct ez_segment *segment)
{
	return ez_segment_guard_tripped(segment->guarded);
}

/* The usable bytes of a slot; index < slots. */
static inline uint8_t *ez_segment_slot(const struct ez_segment *segment, uint64_t index)
{
	return segment->base + index * segment->stride + EZ_SEGMENT_RESERVED;
}

#endif
