/* SPDX-License-Identifier: MIT */
#include "layout.h"
#include "layer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN_GAP 22.0 /* room for a line to bend */

void ezprof_layout_free(struct ezprof_layout *layout)
{
	size_t i;

	for (i = 0; layout->routes && i < layout->n_lines; i++)
		free(layout->routes[i].spots);
	free(layout->routes);
	free(layout->boxes);
	memset(layout, 0, sizeof(*layout));
}

/* Where each rank's column begins, and how wide it is. */
struct column {
	double x, width;
};

static double fill_columns(const struct ezprof_layers *l, struct column *columns)
{
	double x = 0.0;
	size_t i;

	for (i = 0; i < l->n_slots; i++) {
		struct column *column = &columns[l->slots[i].rank];

		if (column->width < l->slots[i].size.width)
			column->width = l->slots[i].size.width;
	}
	for (i = 0; i < l->n_ranks; i++) {
		columns[i].x = x;
		x += columns[i].width + COLUMN_GAP;
	}
	return x > 0 ? x - COLUMN_GAP : 0;
}

/* Moves all down or up so that the highest begins at 0; the height of the whole. */
static double level(struct ezprof_layers *l)
{
	double top = 0.0, bottom = 0.0;
	size_t i;

	for (i = 0; i < l->n_slots; i++) {
		double half = l->slots[i].size.height / 2.0;

		if (!i || l->slots[i].y - half < top)
			top = l->slots[i].y - half;
		if (!i || l->slots[i].y + half > bottom)
			bottom = l->slots[i].y + half;
	}
	for (i = 0; i < l->n_slots; i++)
		l->slots[i].y -= top;
	return bottom - top;
}

static struct ezprof_spot spot_at(const struct ezprof_layers *l, const struct column *columns,
				  size_t slot, bool right)
{
	const struct column *column = &columns[l->slots[slot].rank];

	return (struct ezprof_spot){column->x + (right ? column->width : 0.0), l->slots[slot].y};
}

static int make_route(const struct ezprof_layers *l, const struct column *columns, size_t line,
		      struct ezprof_route *route)
{
	const struct ezprof_chain *chain = &l->chains[line];
	struct ezprof_spot *spots = calloc(2 + 2 * chain->n, sizeof(*spots));
	size_t i, n = 0;

	if (!spots)
		return -ENOMEM;
	spots[n++] = spot_at(l, columns, l->lines[line].from, !chain->back);
	for (i = 0; i < chain->n; i++) {
		size_t slot = chain->first + (chain->back ? chain->n - 1 - i : i);

		spots[n++] = spot_at(l, columns, slot, chain->back);
		spots[n++] = spot_at(l, columns, slot, !chain->back);
		if (l->slots[slot].label)
			route->label = (struct ezprof_spot){(spots[n - 1].x + spots[n - 2].x) / 2.0,
							    spots[n - 1].y};
	}
	spots[n++] = spot_at(l, columns, l->lines[line].to, chain->back);
	route->spots = spots;
	route->n_spots = n;
	return 0;
}

static int read_off(struct ezprof_layers *l, struct ezprof_layout *layout)
{
	struct column *columns = calloc(l->n_ranks + 1, sizeof(*columns));
	size_t i;
	int err = columns ? 0 : -ENOMEM;

	if (!err) {
		layout->size.width = fill_columns(l, columns);
		layout->size.height = level(l);
	}
	for (i = 0; i < l->n_boxes && !err; i++) {
		const struct ezprof_slot *slot = &l->slots[i];
		const struct column *column = &columns[slot->rank];

		layout->boxes[i] = (struct ezprof_box){column->x, slot->y - slot->size.height / 2.0,
						       column->width, slot->size.height};
	}
	for (i = 0; i < l->n_lines && !err; i++) {
		if (l->chains[i].dropped)
			layout->undrawn++;
		else
			err = make_route(l, columns, i, &layout->routes[i]);
	}
	free(columns);
	return err;
}

static int begin(struct ezprof_layers *l, const struct ezprof_size *boxes)
{
	size_t i;

	l->slots = calloc(l->n_boxes + 1, sizeof(*l->slots));
	l->chains = calloc(l->n_lines + 1, sizeof(*l->chains));
	if (!l->slots || !l->chains)
		return -ENOMEM;
	l->n_slots = l->n_boxes;
	l->slots_room = l->n_boxes + 1;
	for (i = 0; i < l->n_boxes; i++)
		l->slots[i].size = boxes[i];
	for (i = 0; i < l->n_lines; i++)
		l->chains[i].dropped = l->lines[i].from == l->lines[i].to;
	return 0;
}

int ezprof_layout_make(const struct ezprof_size *boxes, size_t n_boxes,
		       const struct ezprof_line *lines, size_t n_lines,
		       struct ezprof_layout *ret_layout)
{
	struct ezprof_layers layers = {.lines = lines, .n_boxes = n_boxes, .n_lines = n_lines};
	struct ezprof_layout layout = {
		.boxes = calloc(n_boxes + 1, sizeof(*layout.boxes)),
		.routes = calloc(n_lines + 1, sizeof(*layout.routes)),
		.n_boxes = n_boxes,
		.n_lines = n_lines,
	};
	int err = layout.boxes && layout.routes ? begin(&layers, boxes) : -ENOMEM;

	if (!err)
		err = ezprof_layers_rank(&layers);
	if (!err)
		err = ezprof_layers_fill(&layers);
	if (!err)
		err = ezprof_layers_order(&layers);
	if (!err)
		err = ezprof_layers_place(&layers);
	if (!err)
		err = read_off(&layers, &layout);
	ezprof_layers_free(&layers);
	if (err)
		ezprof_layout_free(&layout);
	else
		*ret_layout = layout;
	return err;
}
