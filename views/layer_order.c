/* SPDX-License-Identifier: MIT */
/* The order within the ranks: each slot near the average of its neighbours, back and forth. */
#include "layer.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#define SWEEPS 24
#define PATIENCE 6 /* sweeps without a better order */

struct keyed {
	double key;
	size_t order, slot;
};

static int compare_keys(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static double key_of(const struct ezprof_layers *l, size_t slot, bool left)
{
	const size_t *first = left ? l->left_first : l->right_first;
	const size_t *of = left ? l->left_of : l->right_of;
	size_t i, n = first[slot + 1] - first[slot];
	double sum = 0.0;

	for (i = first[slot]; i < first[slot + 1]; i++)
		sum += (double)l->slots[of[i]].order;
	return n ? sum / (double)n : (double)l->slots[slot].order;
}

static void sort_rank(struct ezprof_layers *l, size_t rank, bool left, struct keyed *room)
{
	size_t i, n = l->rank_counts[rank];

	for (i = 0; i < n; i++) {
		size_t slot = l->ranks[rank][i];

		room[i] = (struct keyed){key_of(l, slot, left), i, slot};
	}
	qsort(room, n, sizeof(*room), compare_keys);
	for (i = 0; i < n; i++) {
		l->ranks[rank][i] = room[i].slot;
		l->slots[room[i].slot].order = i;
	}
}

/* How often lines to the right neighbours of a rank cross: inversions, by a Fenwick tree. */
static uint64_t rank_crossings(const struct ezprof_layers *l, size_t rank, size_t *tree)
{
	size_t i, k, n = l->rank_counts[rank + 1];
	uint64_t crossings = 0, passed = 0;

	for (i = 0; i <= n; i++)
		tree[i] = 0;
	for (i = 0; i < l->rank_counts[rank]; i++) {
		size_t slot = l->ranks[rank][i];

		for (k = l->right_first[slot]; k < l->right_first[slot + 1]; k++) {
			size_t to = l->slots[l->right_of[k]].order + 1, at;
			uint64_t not_below = passed;

			for (at = to; at > 0; at &= at - 1)
				not_below -= tree[at];
			crossings += not_below;
		}
		for (k = l->right_first[slot]; k < l->right_first[slot + 1]; k++, passed++) {
			size_t at = l->slots[l->right_of[k]].order + 1;

			for (; at <= n; at += at & (~at + 1))
				tree[at]++;
		}
	}
	return crossings;
}

static uint64_t count_crossings(const struct ezprof_layers *l, size_t *tree)
{
	uint64_t crossings = 0;
	size_t rank;

	for (rank = 0; rank + 1 < l->n_ranks; rank++)
		crossings += rank_crossings(l, rank, tree);
	return crossings;
}

static void sweep(struct ezprof_layers *l, bool rightwards, struct keyed *room)
{
	size_t i;

	for (i = 1; i < l->n_ranks; i++)
		sort_rank(l, rightwards ? i : l->n_ranks - 1 - i, rightwards, room);
}

static void keep(const struct ezprof_layers *l, size_t *best)
{
	for (size_t i = 0; i < l->n_slots; i++)
		best[i] = l->slots[i].order;
}

static void restore(struct ezprof_layers *l, const size_t *best)
{
	for (size_t i = 0; i < l->n_slots; i++) {
		l->slots[i].order = best[i];
		l->ranks[l->slots[i].rank][best[i]] = i;
	}
}

int ezprof_layers_order(struct ezprof_layers *layers)
{
	struct keyed *room = calloc(layers->n_slots + 1, sizeof(*room));
	size_t *best = calloc(layers->n_slots + 1, sizeof(*best));
	size_t *tree = calloc(layers->n_slots + 2, sizeof(*tree));
	bool have_room = room && best && tree;
	unsigned int i, since = 0;
	uint64_t least;

	if (have_room) {
		least = count_crossings(layers, tree);
		keep(layers, best);
		for (i = 0; i < SWEEPS && least && since < PATIENCE; i++, since++) {
			uint64_t crossings;

			sweep(layers, i % 2 == 0, room);
			crossings = count_crossings(layers, tree);
			if (crossings >= least)
				continue;
			least = crossings;
			keep(layers, best);
			since = 0;
		}
		restore(layers, best);
	}
	free(room);
	free(tree);
	free(best);
	return have_room ? 0 : -ENOMEM;
}
