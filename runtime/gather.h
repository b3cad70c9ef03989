/* SPDX-License-Identifier: MIT */
/*
 * When a frame may wait for the next ones, to leave with them in one write. A write takes longer
 * than all else that a small message costs, so a thread that is back more quickly than one takes
 * serves everybody sooner if it writes for several. No frame waits for longer than a write in such
 * a flow; where the flow ends in the middle, the I/O thread writes what is there (ez_io_soon()).
 */
#ifndef EZ_GATHER_H
#define EZ_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"

/* Whoever needs less than this from one message to the next is about to be back. */
#define EZ_GATHER_QUICK_NS (2 * EZ_NS_PER_US)
#define EZ_GATHER_WAIT_NS (5 * EZ_NS_PER_US)
#define EZ_GATHER_MAX 16

/* The owner's lock guards it. */
struct ez_gather {
	uint32_t limit; /* so many leave together at most */
	uint32_t held;
	ez_mono_ns_t since_ns; /* the first of them */
};

/* A part of the buffers that leaves the other side enough to go on with; with few of them none. */
static inline uint32_t ez_gather_limit(uint32_t num_buffers)
{
	uint32_t limit = num_buffers / 4;

	return limit < EZ_GATHER_MAX ? limit : EZ_GATHER_MAX;
}

/* One more frame is there: may it wait? */
static inline bool ez_gather_add(struct ez_gather *gather, ez_mono_ns_t now_ns)
{
	if (!gather->held++)
		gather->since_ns = now_ns;
	return gather->held < gather->limit && now_ns - gather->since_ns < EZ_GATHER_WAIT_NS;
}

#endif
