/* SPDX-License-Identifier: MIT */
/*
 * How high the slots of a rank are: as near to their neighbours' heights as their order and sizes
 * allow, the squares of the distances being least (pool adjacent violators).
 */
#include "layer.h"

#include <errno.h>
#include <stdlib.h>

#define SWEEPS 12
#define GAP 14.0	/* between two boxes */
#define THROUGH_GAP 9.0 /* where one of the two is a line */
#define BAND_MAX 24.0	/* nobody is between */
#define THROUGH_WEIGHT 4.0
#define FREE_WEIGHT 0.01 /* of who has no neighbour there */

/* Slots that lie one right below the other: where the first one is, less its offset. */
struct pool {
	double sum, weight;
	size_t n;
};

struct place {
	struct ezprof_layers *layers;
	struct pool *pools;
	double *offsets;
};

static double wanted(const struct ezprof_layers *l, size_t slot, bool left, bool right,
		     double *ret_weight)
{
	double sum = 0.0;
	size_t i, n = 0;

	for (i = l->left_first[slot]; left && i < l->left_first[slot + 1]; i++, n++)
		sum += l->slots[l->left_of[i]].y;
	for (i = l->right_first[slot]; right && i < l->right_first[slot + 1]; i++, n++)
		sum += l->slots[l->right_of[i]].y;
	*ret_weight = !n ? FREE_WEIGHT : l->slots[slot].through ? THROUGH_WEIGHT : 1.0;
	return n ? sum / (double)n : l->slots[slot].y;
}

/* How far the middles of two slots must be apart at least. */
static double distance(const struct ezprof_slot *above, const struct ezprof_slot *below)
{
	return (above->size.height + below->size.height) / 2.0 +
	       (above->through || below->through ? THROUGH_GAP : GAP);
}

static double mean(const struct pool *pool)
{
	return pool->sum / pool->weight;
}

static void place_rank(struct place *place, size_t rank, bool left, bool right)
{
	struct ezprof_layers *l = place->layers;
	const size_t *slots = l->ranks[rank];
	struct pool *pools = place->pools;
	size_t i, k, at, n = 0;
	double offset = 0.0, weight, y;

	for (i = 0; i < l->rank_counts[rank]; i++) {
		if (i)
			offset += distance(&l->slots[slots[i - 1]], &l->slots[slots[i]]);
		place->offsets[i] = offset;
		y = wanted(l, slots[i], left, right, &weight) - offset;
		pools[n++] = (struct pool){y * weight, weight, 1};
		while (n > 1 && mean(&pools[n - 2]) > mean(&pools[n - 1])) {
			pools[n - 2].sum += pools[n - 1].sum;
			pools[n - 2].weight += pools[n - 1].weight;
			pools[n - 2].n += pools[n - 1].n;
			n--;
		}
	}
	for (i = 0, at = 0; i < n; i++) {
		for (k = 0; k < pools[i].n; k++, at++)
			l->slots[slots[at]].y = mean(&pools[i]) + place->offsets[at];
	}
}

static void sweep(struct place *place, unsigned int number)
{
	size_t i, n = place->layers->n_ranks;
	bool rightwards = number % 2 == 0, both = number + 2 >= SWEEPS;

	for (i = 0; i < n; i++)
		place_rank(place, rightwards ? i : n - 1 - i, rightwards || both,
			   !rightwards || both);
}

static int compare_tops(const void *a, const void *b)
{
	const struct ezprof_slot *x = *(struct ezprof_slot *const *)a;
	const struct ezprof_slot *y = *(struct ezprof_slot *const *)b;
	double difference = x->y - x->size.height / 2.0 - (y->y - y->size.height / 2.0);

	return difference < 0 ? -1 : difference > 0;
}

/* Parts that have nothing to do with each other come close: no rank needs an empty band. */
static void close_up(struct ezprof_layers *l, struct ezprof_slot **slots)
{
	double bottom = 0.0, moved = 0.0;
	size_t i;

	for (i = 0; i < l->n_slots; i++)
		slots[i] = &l->slots[i];
	qsort(slots, l->n_slots, sizeof(*slots), compare_tops);
	for (i = 0; i < l->n_slots; i++) {
		double half = slots[i]->size.height / 2.0, top = slots[i]->y - half - moved;

		if (i && top > bottom + BAND_MAX)
			moved += top - bottom - BAND_MAX;
		slots[i]->y -= moved;
		if (!i || slots[i]->y + half > bottom)
			bottom = slots[i]->y + half;
	}
}

int ezprof_layers_place(struct ezprof_layers *layers)
{
	struct place place = {
		.layers = layers,
		.pools = calloc(layers->n_slots + 1, sizeof(*place.pools)),
		.offsets = calloc(layers->n_slots + 1, sizeof(*place.offsets)),
	};
	struct ezprof_slot **slots = calloc(layers->n_slots + 1, sizeof(*slots));
	bool have_room = place.pools && place.offsets && slots;
	unsigned int i;

	for (i = 0; have_room && i < SWEEPS; i++)
		sweep(&place, i);
	if (have_room)
		close_up(layers, slots);
	free(slots);
	free(place.pools);
	free(place.offsets);
	return have_room ? 0 : -ENOMEM;
}
