/* SPDX-License-Identifier: MIT */
/* The layout of a graph: nothing on anything else, from left to right, circles and all. */
#include "layout.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define BOXES_MAX 60u
#define LINES_MAX 120u
#define ROUNDS 300u

static const struct ezprof_size box_size = {100, 50}, label_size = {80, 30};

struct graph {
	struct ezprof_size boxes[BOXES_MAX];
	struct ezprof_line lines[LINES_MAX];
	size_t n_boxes, n_lines;
	struct ezprof_layout layout;
};

static void add_line(struct graph *graph, size_t from, size_t to)
{
	graph->lines[graph->n_lines++] = (struct ezprof_line){from, to, label_size};
}

static void lay_out(struct graph *graph, size_t n_boxes)
{
	size_t i;

	graph->n_boxes = n_boxes;
	for (i = 0; i < n_boxes; i++)
		graph->boxes[i] = box_size;
	assert_int_equal(ezprof_layout_make(graph->boxes, n_boxes, graph->lines, graph->n_lines,
					    &graph->layout),
			 0);
}

static bool apart(const struct ezprof_box *a, const struct ezprof_box *b)
{
	return a->x + a->width <= b->x + 0.01 || b->x + b->width <= a->x + 0.01 ||
	       a->y + a->height <= b->y + 0.01 || b->y + b->height <= a->y + 0.01;
}

/* All boxes, and behind them the labels of lines that are drawn. */
static size_t areas_of(const struct graph *graph, struct ezprof_box *areas)
{
	size_t i, n = graph->n_boxes;

	memcpy(areas, graph->layout.boxes, n * sizeof(*areas));
	for (i = 0; i < graph->n_lines; i++) {
		const struct ezprof_route *route = &graph->layout.routes[i];

		if (route->n_spots)
			areas[n++] = (struct ezprof_box){route->label.x - label_size.width / 2,
							 route->label.y - label_size.height / 2,
							 label_size.width, label_size.height};
	}
	return n;
}

/* Nothing lies on anything else or outside, and routes end at their boxes. */
static void check(const struct graph *graph)
{
	struct ezprof_box areas[BOXES_MAX + LINES_MAX];
	size_t i, k, n = areas_of(graph, areas), drawn = 0;

	for (i = 0; i < n; i++) {
		assert_true(areas[i].x >= -0.01 && areas[i].y >= -0.01);
		assert_true(areas[i].x + areas[i].width <= graph->layout.size.width + 0.01);
		assert_true(areas[i].y + areas[i].height <= graph->layout.size.height + 0.01);
		for (k = 0; k < i; k++)
			assert_true(apart(&areas[i], &areas[k]));
	}
	for (i = 0; i < graph->n_lines; i++) {
		const struct ezprof_route *route = &graph->layout.routes[i];
		const struct ezprof_box *to = &graph->layout.boxes[graph->lines[i].to];
		const struct ezprof_spot *end;

		if (!route->n_spots)
			continue;
		drawn++;
		end = &route->spots[route->n_spots - 1];
		assert_true(fabs(end->x - to->x) < 0.01 || fabs(end->x - to->x - to->width) < 0.01);
		assert_true(fabs(end->y - to->y - to->height / 2) < 0.01);
	}
	assert_int_equal(drawn + graph->layout.undrawn, graph->n_lines);
}

static bool is_left_of(const struct graph *graph, size_t a, size_t b)
{
	return graph->layout.boxes[a].x + box_size.width < graph->layout.boxes[b].x;
}

static void test_chain(void **state)
{
	struct graph g = {0};

	(void)state;
	add_line(&g, 2, 0);
	add_line(&g, 0, 1);
	lay_out(&g, 3);
	check(&g);
	assert_true(is_left_of(&g, 2, 0) && is_left_of(&g, 0, 1));
	/* A straight line. */
	assert_true(fabs(g.layout.boxes[2].y - g.layout.boxes[1].y) < 0.01);
	ezprof_layout_free(&g.layout);
}

static void test_circle(void **state)
{
	struct graph g = {0};

	(void)state;
	add_line(&g, 0, 1);
	add_line(&g, 1, 2);
	add_line(&g, 2, 0);
	add_line(&g, 1, 1);
	lay_out(&g, 3);
	check(&g);
	assert_true(is_left_of(&g, 0, 1) && is_left_of(&g, 1, 2));
	assert_int_equal(g.layout.undrawn, 1);
	assert_int_equal(g.layout.routes[3].n_spots, 0);
	/* Back from the left side of the last to the right side of the first. */
	assert_true(g.layout.routes[2].spots[0].x > g.layout.routes[2].spots[1].x - 0.01);
	ezprof_layout_free(&g.layout);
}

/* Four lines in disorder, which need not cross. */
static void test_crossings(void **state)
{
	static const size_t to[] = {3, 1, 0, 2};
	struct graph g = {0};
	size_t i, k;

	(void)state;
	for (i = 0; i < 4; i++)
		add_line(&g, i, 4 + to[i]);
	lay_out(&g, 8);
	check(&g);
	for (i = 0; i < 4; i++) {
		for (k = 0; k < 4; k++)
			assert_int_equal(g.layout.boxes[i].y < g.layout.boxes[k].y,
					 g.layout.boxes[4 + to[i]].y < g.layout.boxes[4 + to[k]].y);
	}
	ezprof_layout_free(&g.layout);
}

/* Two parts that have nothing to do with each other don't lie far apart. */
static void test_parts(void **state)
{
	struct graph g = {0};

	(void)state;
	add_line(&g, 0, 1);
	add_line(&g, 1, 0);
	add_line(&g, 2, 3);
	lay_out(&g, 5);
	check(&g);
	assert_true(g.layout.size.height < 4 * 2 * box_size.height);
	ezprof_layout_free(&g.layout);
}

static void test_none(void **state)
{
	struct graph g = {0};

	(void)state;
	lay_out(&g, 0);
	assert_true(g.layout.size.width >= 0 && g.layout.size.height >= 0);
	ezprof_layout_free(&g.layout);
}

/* Any graph, and twice the same. */
static void test_random(void **state)
{
	unsigned int seed = 1, round;
	size_t i;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		struct graph g = {0}, again = {0};
		size_t n = 1 + (size_t)rand_r(&seed) % BOXES_MAX;
		size_t lines = (size_t)rand_r(&seed) % LINES_MAX;

		for (i = 0; i < lines; i++)
			add_line(&g, (size_t)rand_r(&seed) % n, (size_t)rand_r(&seed) % n);
		again = g;
		lay_out(&g, n);
		lay_out(&again, n);
		check(&g);
		for (i = 0; i < n; i++)
			assert_memory_equal(&g.layout.boxes[i], &again.layout.boxes[i],
					    sizeof(g.layout.boxes[i]));
		ezprof_layout_free(&g.layout);
		ezprof_layout_free(&again.layout);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain),	  cmocka_unit_test(test_circle),
		cmocka_unit_test(test_crossings), cmocka_unit_test(test_parts),
		cmocka_unit_test(test_none),	  cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
