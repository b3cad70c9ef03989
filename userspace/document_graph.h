/* SPDX-License-Identifier: MIT */
/* The graph of topics in a PROFILE document, where a graph server that knows no PROFILE tells it.
 */
#ifndef EZPROF_DOCUMENT_GRAPH_H
#define EZPROF_DOCUMENT_GRAPH_H

struct ez_dag;

/*
 * Adds `graph` (topic -> list of the topics that it feeds) and `graph_source`: "dag". *text, owned
 * by the caller, is replaced on success. -EPROTO: it is no document; -ENOMEM. Pure; any thread.
 */
int ezprof_document_add_graph(char **text, const struct ez_dag *dag);

#endif
