/* SPDX-License-Identifier: MIT */
/* The JSON of HELLO on an agent's socket: who asks for which graph, who answers with what. */
#ifndef EZPROF_HELLO_JSON_H
#define EZPROF_HELLO_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The value of "graph" in a client's HELLO; "" if there is none, or it is too long or no text. */
void ezprof_hello_graph(const char *text, size_t n, char *ret_graph, size_t graph_bytes);

/* A client's HELLO; graph may be NULL. A new text, or NULL without memory. */
char *ezprof_hello_client(const char *program, const char *graph);

/* An agent's answer: the graphs that its processes belong to. A new text, or NULL. */
char *ezprof_hello_agent(const char *const *graphs, size_t graph_count, const pid_t *pids,
			 size_t pid_count);

/*
 * The graphs of an agent's answer: as many as fit are copied to ret_graphs, each of graph_bytes.
 * Returns how many; -EPROTO if it is no such answer.
 */
int ezprof_hello_graphs(const char *text, char *ret_graphs, size_t graph_bytes, size_t graphs_max);

/* "version" of an answer, a server's or an agent's; "" if there is none, or it is too long. */
void ezprof_hello_version(const char *text, char *ret_version, size_t version_bytes);

#endif
