/* SPDX-License-Identifier: MIT */
/*
 * What a PROFILE document lacks where its graph server knows no PROFILE, or is silent: the graph of
 * topics, and a word on the server.
 */
#ifndef EZPROF_DOCUMENT_GRAPH_H
#define EZPROF_DOCUMENT_GRAPH_H

#include <stdint.h>

struct ez_dag;

/*
 * Adds `graph` (topic -> list of the topics that it feeds) and `graph_source`: "dag". *text, owned
 * by the caller, is replaced on success. -EPROTO: it is no document; -ENOMEM. Pure; any thread.
 */
int ezprof_document_add_graph(char **text, const struct ez_dag *dag);

/* Adds an entry to errors[] that is about nobody's process; otherwise the same. */
int ezprof_document_add_error(char **text, const char *who, const char *reason, const char *detail);

/* How many agents of this machine tell this user nothing, and another hint for it; the same. */
int ezprof_document_add_silent(char **text, uint64_t agents, const char *hint);

#endif
