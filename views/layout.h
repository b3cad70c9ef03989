/* SPDX-License-Identifier: MIT */
/*
 * Where the boxes and lines of a graph go: ranks from left to right, boxes of a rank from top to
 * bottom, lines through free places of the ranks between. Each label of a line has a place of its
 * own in the column before the box that the line leads to, so nothing overlaps. Circles are drawn
 * with a line that goes back. Pure; any thread.
 */
#ifndef EZPROF_LAYOUT_H
#define EZPROF_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

struct ezprof_size {
	double width, height;
};

struct ezprof_line {
	size_t from, to;	  /* boxes */
	struct ezprof_size label; /* width 0: none */
};

struct ezprof_spot {
	double x, y;
};

/*
 * From the middle of a box's side, through pairs of points between which it is level, to the middle
 * of the other's: 2 + 2 * n points. None: it isn't drawn.
 */
struct ezprof_route {
	struct ezprof_spot *spots; /* owned */
	size_t n_spots;
	struct ezprof_spot label; /* the middle of its label, which the line goes through */
};

struct ezprof_box {
	double x, y, width, height; /* as wide as the widest of its rank */
};

struct ezprof_layout {
	struct ezprof_box *boxes;
	struct ezprof_route *routes;
	size_t n_boxes, n_lines;
	size_t undrawn; /* lines from a box to itself, and those for which there are too many */
	struct ezprof_size size;
};

/* Two graphs that are alike come out alike. -ENOMEM; ezprof_layout_free() it. */
int ezprof_layout_make(const struct ezprof_size *boxes, size_t n_boxes,
		       const struct ezprof_line *lines, size_t n_lines,
		       struct ezprof_layout *ret_layout);

void ezprof_layout_free(struct ezprof_layout *layout);

#endif
