/* SPDX-License-Identifier: MIT */
#include "closed_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ezprof_closed_blocks_begin(struct ezprof_closed_blocks *b, uint32_t entries)
{
	size_t count = (entries + EZPROF_BLOCK_ENTRIES - 1) >> EZPROF_BLOCK_SHIFT;

	if (count > b->room) {
		struct ezprof_closed_block *grown = reallocarray(b->list, count, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		b->list = grown;
		b->room = count;
	}
	b->count = count;
	if (count)
		memset(b->list, 0, count * sizeof(b->list[0]));
	return 0;
}

void ezprof_closed_blocks_free(struct ezprof_closed_blocks *b)
{
	free(b->list);
	*b = (struct ezprof_closed_blocks){0};
}

void ezprof_closed_blocks_note(struct ezprof_closed_blocks *b, uint32_t index, uint64_t ns)
{
	struct ezprof_closed_block *block;

	if (index >> EZPROF_BLOCK_SHIFT >= b->count)
		return;
	block = &b->list[index >> EZPROF_BLOCK_SHIFT];
	if (!block->closed || ns < block->first_ns)
		block->first_ns = ns;
	if (ns > block->last_ns)
		block->last_ns = ns;
	block->closed++;
}

bool ezprof_closed_block_rests(const struct ezprof_closed_blocks *b, size_t block, uint64_t now_ns,
			       uint64_t rest_ns)
{
	const struct ezprof_closed_block *it;

	if (block >= b->count)
		return false;
	it = &b->list[block];
	return it->closed == EZPROF_BLOCK_ENTRIES && it->last_ns <= now_ns &&
	       now_ns - it->first_ns < rest_ns;
}
