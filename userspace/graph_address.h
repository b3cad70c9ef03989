/* SPDX-License-Identifier: MIT */
/* Addresses of graph servers as texts, host:port. */
#ifndef EZPROF_GRAPH_ADDRESS_H
#define EZPROF_GRAPH_ADDRESS_H

#include <stdbool.h>

/* Do the two texts name the same graph server? Pure: names are compared, not looked up. */
bool ezprof_same_graph(const char *a, const char *b);

#endif
