/* SPDX-License-Identifier: MIT */
/* A graph of topics as text for people and for programs that draw. */
#ifndef EZPROF_GRAPH_PRINT_H
#define EZPROF_GRAPH_PRINT_H

#include "buffer.h"
#include "pickle_dag.h"

/*
 * Appends the graph, its names escaped as the format wants it: lines that end in a line break. The
 * buffer's sticky error tells of a failure. An empty graph is an empty drawing, and no text at all.
 */
typedef void (*ezprof_graph_print_fn)(struct ez_buffer *out, const struct ez_dag *dag);

/* "text", "dot", "mermaid" or "json"; NULL = none of them. */
ezprof_graph_print_fn ezprof_graph_format(const char *name);

#endif
