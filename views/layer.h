/* SPDX-License-Identifier: MIT */
/*
 * The layers that a layout is made of, private to it. A slot is a box, a label, or a place that a
 * line goes through; boxes are in even ranks, labels in odd ones. Each line is a chain of slots of
 * one rank after the other.
 */
#ifndef EZPROF_LAYER_H
#define EZPROF_LAYER_H

#include "layout.h"

struct ezprof_slot {
	size_t rank, order; /* order: its number within the rank */
	struct ezprof_size size;
	double y;     /* of its middle */
	bool through; /* neither box nor label: it should lie straight */
	bool label;
};

/* Between slots of neighbouring ranks, from left to right. */
struct ezprof_segment {
	size_t left, right;
};

/* What a line became. */
struct ezprof_chain {
	size_t first, n; /* slots between its ends */
	bool back;	 /* drawn from right to left */
	bool dropped;
};

struct ezprof_layers {
	const struct ezprof_line *lines;
	size_t n_boxes, n_lines;
	struct ezprof_slot *slots; /* boxes first */
	size_t n_slots, slots_room;
	struct ezprof_segment *segments;
	size_t n_segments, segments_room;
	struct ezprof_chain *chains; /* per line */
	size_t **ranks;		     /* the slots of each rank, in order */
	size_t *rank_counts, n_ranks;
	/* Segments by slot: those of slot s to the left are left_of[left_first[s]..[s + 1]]. */
	size_t *left_first, *left_of, *right_first, *right_of;
};

/* Ranks of all boxes; which lines go back. -ENOMEM. */
int ezprof_layers_rank(struct ezprof_layers *layers);

/* Slots and segments of all lines; ranks and neighbours. -ENOMEM. */
int ezprof_layers_fill(struct ezprof_layers *layers);

/* The order within each rank that crosses least. -ENOMEM. */
int ezprof_layers_order(struct ezprof_layers *layers);

/* How high each slot is: near its neighbours, none on another. -ENOMEM. */
int ezprof_layers_place(struct ezprof_layers *layers);

void ezprof_layers_free(struct ezprof_layers *layers);

#endif
