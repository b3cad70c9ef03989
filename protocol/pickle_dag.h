/* SPDX-License-Identifier: MIT */
/*
 * The graph of topics as the answer to DAG carries it: a pickled ezmsg.core.dag.DAG. Written in the
 * form that all releases of ezmsg read; read in the forms that all of them write.
 */
#ifndef EZ_PICKLE_DAG_H
#define EZ_PICKLE_DAG_H

#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

struct ez_dag_topic {
	char *name;	    /* owned by the dag; terminated */
	size_t *successors; /* indices into topics */
	size_t n_successors;
};

/* Every topic that has an edge, sources and sinks alike. */
struct ez_dag {
	struct ez_dag_topic *topics;
	size_t n_topics;
};

/*
 * Room for n topics without names and successors, to be filled in; NULL without memory. Bears n =
 * 0.
 */
struct ez_dag *ez_dag_new(size_t n_topics);

/* Copies a name / appends a successor: 0 or -ENOMEM. */
int ez_dag_set_name(struct ez_dag *dag, size_t topic, const char *name, size_t len);
int ez_dag_add_successor(struct ez_dag *dag, size_t topic, size_t successor);

void ez_dag_free(struct ez_dag *dag); /* NULL is fine */

void ez_pickle_dag(struct ez_buffer *out, const struct ez_dag *dag);

/* The same in two halves: further members of the DAG object (key, value, SETITEM) go between. */
void ez_pickle_dag_begin(struct ez_buffer *out, const struct ez_dag *dag);
void ez_pickle_dag_end(struct ez_buffer *out);

/*
 * 0; -EBADMSG = malformed or not a DAG; -ENOTSUP, -EMSGSIZE, -ENOMEM. The topics come sorted by
 * name.
 */
int ez_pickle_read_dag(const void *data, size_t len, struct ez_dag **ret_dag);

struct ez_node;

/* The same of a node of a parsed pickle: a mapping of str to sets or lists of str. */
int ez_dag_of_node(const struct ez_node *graph, struct ez_dag **ret_dag);

#endif
