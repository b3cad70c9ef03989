/* SPDX-License-Identifier: MIT */
#include "rx_heap.h"

#include <stdlib.h>

#include "prelude.h"

#define ROOM_BYTES_MIN 512

struct ez_rx_heap {
	struct ez_rx_heap *next;
	size_t room;
	uint8_t unused[EZ_VALUE_ALIGNMENT + EZ_MESSAGE_PHASE - 2 * sizeof(size_t)];
	uint8_t data[];
};

_Static_assert(sizeof(void *) == sizeof(size_t), "the data's place");
_Static_assert(offsetof(struct ez_rx_heap, data) % EZ_VALUE_ALIGNMENT == EZ_MESSAGE_PHASE,
	       "the data's place");

static struct ez_rx_heap *heap_new(size_t bytes)
{
	size_t room = bytes < ROOM_BYTES_MIN ? ROOM_BYTES_MIN : bytes;
	size_t all = (sizeof(struct ez_rx_heap) + room + EZ_VALUE_ALIGNMENT - 1) &
		     ~(size_t)(EZ_VALUE_ALIGNMENT - 1);
	struct ez_rx_heap *heap = aligned_alloc(EZ_VALUE_ALIGNMENT, all);

	if (heap)
		heap->room = room;
	return heap;
}

uint8_t *ez_rx_heap_take(struct ez_rx_heap **pool, size_t bytes)
{
	struct ez_rx_heap *heap = *pool;

	if (heap)
		*pool = heap->next;
	if (heap && heap->room < bytes) {
		free(heap);
		heap = NULL;
	}
	if (!heap)
		heap = heap_new(bytes);
	return heap ? heap->data : NULL;
}

void ez_rx_heap_give(struct ez_rx_heap **pool, uint8_t *data)
{
	struct ez_rx_heap *heap;

	if (!data)
		return;
	heap = (struct ez_rx_heap *)(void *)(data - offsetof(struct ez_rx_heap, data));
	heap->next = *pool;
	*pool = heap;
}

void ez_rx_heap_empty(struct ez_rx_heap **pool)
{
	struct ez_rx_heap *heap;

	while ((heap = *pool)) {
		*pool = heap->next;
		free(heap);
	}
}
