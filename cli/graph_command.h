/* SPDX-License-Identifier: MIT */
/* `ezprof graph`: the topics of a graph and how they are connected. */
#ifndef EZPROF_GRAPH_COMMAND_H
#define EZPROF_GRAPH_COMMAND_H

int ezprof_graph_main(int argc, char **argv);

#endif
