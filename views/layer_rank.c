/* SPDX-License-Identifier: MIT */
/* Ranks: each box right of those that lead to it; a line that closes a circle doesn't count. */
#include "layer.h"

#include <errno.h>
#include <stdlib.h>

enum mark { UNSEEN, OPEN, DONE };

struct walk {
	struct ezprof_layers *layers;
	size_t *first, *lines_of; /* the lines that begin at each box */
	size_t *next;		  /* per box: how many of its lines have been followed */
	size_t *stack, *finished; /* boxes; the latter in the order in which they were done */
	size_t n_finished;
	unsigned char *marks;
};

static bool counts(const struct ezprof_layers *layers, size_t line)
{
	return !layers->chains[line].dropped;
}

static void gather_lines(struct walk *walk)
{
	const struct ezprof_layers *l = walk->layers;
	size_t i, sum = 0;

	for (i = 0; i < l->n_lines; i++) {
		if (counts(l, i))
			walk->first[l->lines[i].from + 1]++;
	}
	for (i = 0; i <= l->n_boxes; i++) {
		sum += walk->first[i];
		walk->first[i] = sum;
	}
	for (i = 0; i < l->n_lines; i++) {
		if (counts(l, i))
			walk->lines_of[walk->first[l->lines[i].from] +
				       walk->next[l->lines[i].from]++] = i;
	}
	for (i = 0; i < l->n_boxes; i++)
		walk->next[i] = 0;
}

/* Depth first, without recursion: who wrote the document may have made it deep. */
static void walk_from(struct walk *walk, size_t box)
{
	struct ezprof_layers *l = walk->layers;
	size_t depth = 0;

	walk->stack[depth++] = box;
	walk->marks[box] = OPEN;
	while (depth) {
		size_t at = walk->stack[depth - 1], line, to;

		if (walk->first[at] + walk->next[at] == walk->first[at + 1]) {
			walk->marks[at] = DONE;
			walk->finished[walk->n_finished++] = at;
			depth--;
			continue;
		}
		line = walk->lines_of[walk->first[at] + walk->next[at]++];
		to = l->lines[line].to;
		if (walk->marks[to] == OPEN) {
			l->chains[line].back = true;
		} else if (walk->marks[to] == UNSEEN) {
			walk->marks[to] = OPEN;
			walk->stack[depth++] = to;
		}
	}
}

static void find_back_lines(struct walk *walk)
{
	const struct ezprof_layers *l = walk->layers;
	unsigned char *entered = walk->marks + l->n_boxes;
	size_t i;

	for (i = 0; i < l->n_lines; i++) {
		if (counts(l, i))
			entered[l->lines[i].to] = 1;
	}
	for (i = 0; i < l->n_boxes; i++) {
		if (!entered[i])
			walk_from(walk, i);
	}
	for (i = 0; i < l->n_boxes; i++) {
		if (walk->marks[i] == UNSEEN)
			walk_from(walk, i);
	}
}

static void raise_rank(size_t *rank, size_t least)
{
	if (*rank < least)
		*rank = least;
}

/* Left of what they lead to, right of what leads to them: along the lines that don't go back. */
static void set_ranks(struct walk *walk)
{
	struct ezprof_layers *l = walk->layers;
	size_t i, k;

	for (i = walk->n_finished; i-- > 0;) {
		size_t at = walk->finished[i];

		for (k = walk->first[at]; k < walk->first[at + 1]; k++) {
			size_t line = walk->lines_of[k];
			struct ezprof_slot *to = &l->slots[l->lines[line].to];

			if (!l->chains[line].back)
				raise_rank(&to->rank, l->slots[at].rank + 2);
		}
	}
}

/* Who is fed by nobody stands right before whom he feeds, not at the far left. */
static void pull_sources(struct walk *walk)
{
	struct ezprof_layers *l = walk->layers;
	const unsigned char *entered = walk->marks + l->n_boxes;
	size_t i, k;

	for (i = 0; i < l->n_boxes; i++) {
		size_t nearest = (size_t)-1;

		if (entered[i])
			continue;
		for (k = walk->first[i]; k < walk->first[i + 1]; k++) {
			size_t rank = l->slots[l->lines[walk->lines_of[k]].to].rank;

			if (rank < nearest)
				nearest = rank;
		}
		if (nearest != (size_t)-1 && nearest >= 2)
			l->slots[i].rank = nearest - 2;
	}
}

int ezprof_layers_rank(struct ezprof_layers *layers)
{
	size_t n = layers->n_boxes + 1, m = layers->n_lines + 1;
	struct walk walk = {
		.layers = layers,
		.first = calloc(n + 1, sizeof(size_t)),
		.lines_of = calloc(m, sizeof(size_t)),
		.next = calloc(n, sizeof(size_t)),
		.stack = calloc(n, sizeof(size_t)),
		.finished = calloc(n, sizeof(size_t)),
		.marks = calloc(2 * n, 1),
	};
	int err = 0;

	if (!walk.first || !walk.lines_of || !walk.next || !walk.stack || !walk.finished ||
	    !walk.marks)
		err = -ENOMEM;
	if (!err) {
		gather_lines(&walk);
		find_back_lines(&walk);
		set_ranks(&walk);
		pull_sources(&walk);
	}
	free(walk.first);
	free(walk.lines_of);
	free(walk.next);
	free(walk.stack);
	free(walk.finished);
	free(walk.marks);
	return err;
}
