/* SPDX-License-Identifier: MIT */
/*
 * A graph to be drawn: named nodes and edges, with figures where a document is at hand. Pure. One
 * thread.
 */
#ifndef EZPROF_DRAWING_H
#define EZPROF_DRAWING_H

#include "model.h"
#include "name_table.h"
#include "pickle_dag.h"

struct ezprof_node {
	char *name;
	char *figures; /* "49.9 messages/s, blocked 97 %"; NULL = none */
	double heat; /* 0 to 1: how much of the time it is busy or blocked; negative = not known */
	const struct ezprof_object *object; /* publisher or subscriber of the model; NULL = none */
};

struct ezprof_arrow {
	size_t from, to;
	char *figures;
	bool inferred;			    /* taken from both being in one process */
	const struct ezprof_object *object; /* the subscriber that it leads to; NULL = none */
};

struct ezprof_drawing {
	struct ezprof_node *nodes;
	struct ezprof_arrow *arrows;
	size_t n_nodes, n_arrows;
	struct ezprof_name *names; /* the first node of each name */
	struct ezprof_name *ends;  /* the arrows, by from and to */
	bool live;		   /* made of a document: figures belong in it */
};

/* Of a graph server's topics. -ENOMEM. */
int ezprof_drawing_of_dag(const struct ez_dag *dag, struct ezprof_drawing *ret_drawing);

/*
 * Of a document, whose model must outlive it: publishers, subscribers, what goes from one to the
 * other, and which subscriber feeds which publisher. Edges of the dag (NULL: those that the
 * document names) that nobody uses are in it without figures. -ENOMEM.
 */
int ezprof_drawing_of_model(const struct ezprof_model *model, const struct ez_dag *dag,
			    struct ezprof_drawing *ret_drawing);

/* One node for each unit: what stands before the last "/" of a name. -ENOMEM. */
int ezprof_drawing_compact(const struct ezprof_drawing *drawing,
			   struct ezprof_drawing *ret_drawing);

void ezprof_drawing_free(struct ezprof_drawing *drawing);

#endif
