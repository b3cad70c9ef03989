/* SPDX-License-Identifier: MIT */
#include "lookup.h"

#include <errno.h>
#include <stdlib.h>

#define ROOM_MIN 64u

int ezprof_lookup_add(struct ezprof_lookup *lookup, uint64_t key, double weight, size_t object)
{
	size_t room = lookup->room ? 2 * lookup->room : ROOM_MIN;
	struct ezprof_found *grown;

	if (lookup->n == lookup->room) {
		grown = reallocarray(lookup->list, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		lookup->list = grown;
		lookup->room = room;
	}
	lookup->list[lookup->n++] = (struct ezprof_found){key, weight, object};
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct ezprof_found *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->object < y->object ? -1 : x->object > y->object;
}

void ezprof_lookup_sort(struct ezprof_lookup *lookup)
{
	if (lookup->n)
		qsort(lookup->list, lookup->n, sizeof(lookup->list[0]), compare);
}

void ezprof_lookup_free(struct ezprof_lookup *lookup)
{
	free(lookup->list);
	*lookup = (struct ezprof_lookup){0};
}

const struct ezprof_found *ezprof_lookup_first(const struct ezprof_lookup *lookup, uint64_t key)
{
	size_t low = 0, high = lookup->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lookup->list[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < lookup->n && lookup->list[low].key == key ? &lookup->list[low] : NULL;
}
