/* SPDX-License-Identifier: MIT */
/*
 * Which blocks of a registry hold closed endpoints only, and since when: what a reading of the
 * registry notes beside the open ones. Plain values, no I/O. One thread.
 */
#ifndef EZPROF_CLOSED_BLOCKS_H
#define EZPROF_CLOSED_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Endpoints of a block: those whose indices differ in these low bits only. */
#define EZPROF_BLOCK_SHIFT 4u
#define EZPROF_BLOCK_ENTRIES (1u << EZPROF_BLOCK_SHIFT)

struct ezprof_closed_blocks {
	size_t count, room;
	struct ezprof_closed_block {
		uint32_t closed;	    /* of its endpoints */
		uint64_t first_ns, last_ns; /* when: the first and the last that was */
	} * list;
};

/* Forgets everything and makes room for blocks of `entries` indices. Errors: -ENOMEM. */
int ezprof_closed_blocks_begin(struct ezprof_closed_blocks *blocks, uint32_t entries);
void ezprof_closed_blocks_free(struct ezprof_closed_blocks *blocks);

/* The endpoint with that index was closed then. An index beyond the room is ignored. */
void ezprof_closed_blocks_note(struct ezprof_closed_blocks *blocks, uint32_t index, uint64_t ns);

/*
 * All of its endpoints are closed, and for a while none of the indices can be in use again: each
 * rests `rest_ns` after its close. An index beyond the room: false.
 */
bool ezprof_closed_block_rests(const struct ezprof_closed_blocks *blocks, size_t block,
			       uint64_t now_ns, uint64_t rest_ns);

#endif
