/* SPDX-License-Identifier: MIT */
#include "layer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_STEP 256
/* Lines that would need more places than that aren't drawn: nobody could follow them. */
#define SLOTS_MAX 40000u

void ezprof_layers_free(struct ezprof_layers *layers)
{
	size_t i;

	for (i = 0; layers->ranks && i < layers->n_ranks; i++)
		free(layers->ranks[i]);
	free(layers->ranks);
	free(layers->rank_counts);
	free(layers->slots);
	free(layers->segments);
	free(layers->chains);
	free(layers->left_first);
	free(layers->left_of);
	free(layers->right_first);
	free(layers->right_of);
	memset(layers, 0, sizeof(*layers));
}

static int add_slot(struct ezprof_layers *l, struct ezprof_slot slot)
{
	struct ezprof_slot *grown;

	if (l->n_slots == l->slots_room) {
		grown = reallocarray(l->slots, l->slots_room + ROOM_STEP, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		l->slots = grown;
		l->slots_room += ROOM_STEP;
	}
	l->slots[l->n_slots++] = slot;
	return 0;
}

static int add_segment(struct ezprof_layers *l, size_t left, size_t right)
{
	struct ezprof_segment *grown;

	if (l->n_segments == l->segments_room) {
		grown = reallocarray(l->segments, l->segments_room + ROOM_STEP, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		l->segments = grown;
		l->segments_room += ROOM_STEP;
	}
	l->segments[l->n_segments++] = (struct ezprof_segment){left, right};
	return 0;
}

static int add_chain(struct ezprof_layers *l, size_t number)
{
	const struct ezprof_line *line = &l->lines[number];
	struct ezprof_chain *chain = &l->chains[number];
	size_t left = chain->back ? line->to : line->from;
	size_t right = chain->back ? line->from : line->to;
	size_t rank = l->slots[left].rank, last = left, i;
	int err = 0;

	chain->first = l->n_slots;
	chain->n = l->slots[right].rank - rank - 1;
	if (l->n_slots + chain->n > SLOTS_MAX) {
		chain->dropped = true;
		return 0;
	}
	for (i = 0; i < chain->n && !err; i++) {
		struct ezprof_slot slot = {.rank = rank + 1 + i, .through = true};

		/* The label is beside the box that the line leads to. */
		if (line->label.width > 0 && i == (chain->back ? 0 : chain->n - 1)) {
			slot.size = line->label;
			slot.through = false;
			slot.label = true;
		}
		err = add_slot(l, slot);
		if (!err)
			err = add_segment(l, last, l->n_slots - 1);
		last = l->n_slots - 1;
	}
	return err ? err : add_segment(l, last, right);
}

static int fill_ranks(struct ezprof_layers *l)
{
	size_t i;

	for (i = 0; i < l->n_slots; i++) {
		if (l->n_ranks <= l->slots[i].rank)
			l->n_ranks = l->slots[i].rank + 1;
	}
	l->rank_counts = calloc(l->n_ranks + 1, sizeof(*l->rank_counts));
	l->ranks = calloc(l->n_ranks + 1, sizeof(*l->ranks));
	if (!l->rank_counts || !l->ranks)
		return -ENOMEM;
	for (i = 0; i < l->n_slots; i++)
		l->slots[i].order = l->rank_counts[l->slots[i].rank]++;
	for (i = 0; i < l->n_ranks; i++) {
		l->ranks[i] = calloc(l->rank_counts[i] + 1, sizeof(**l->ranks));
		if (!l->ranks[i])
			return -ENOMEM;
	}
	for (i = 0; i < l->n_slots; i++)
		l->ranks[l->slots[i].rank][l->slots[i].order] = i;
	return 0;
}

/* The slots on the one side of each slot, in two lists: where each begins, and all. */
static int fill_side(const struct ezprof_layers *l, bool left, size_t **ret_first, size_t **ret_of)
{
	size_t *first = calloc(l->n_slots + 2, sizeof(*first));
	size_t *of = calloc(l->n_segments + 1, sizeof(*of));
	size_t i;

	*ret_first = first;
	*ret_of = of;
	if (!first || !of)
		return -ENOMEM;
	for (i = 0; i < l->n_segments; i++)
		first[2 + (left ? l->segments[i].right : l->segments[i].left)]++;
	for (i = 2; i < l->n_slots + 2; i++)
		first[i] += first[i - 1];
	for (i = 0; i < l->n_segments; i++) {
		size_t slot = left ? l->segments[i].right : l->segments[i].left;

		of[first[slot + 1]++] = left ? l->segments[i].left : l->segments[i].right;
	}
	return 0;
}

int ezprof_layers_fill(struct ezprof_layers *layers)
{
	size_t i;
	int err = 0;

	for (i = 0; i < layers->n_lines && !err; i++) {
		if (!layers->chains[i].dropped)
			err = add_chain(layers, i);
	}
	if (!err)
		err = fill_ranks(layers);
	if (!err)
		err = fill_side(layers, true, &layers->left_first, &layers->left_of);
	if (!err)
		err = fill_side(layers, false, &layers->right_first, &layers->right_of);
	return err;
}
