/* SPDX-License-Identifier: MIT */
/* What a demo node does with the library: the part to read as an example. */
#ifndef EZ_NODE_ROLES_H
#define EZ_NODE_ROLES_H

#include "node_options.h"

/*
 * Plays the role until stop_fd (a signalfd) becomes readable, then prints what was counted. Returns
 * 0 or a negative errno; *ret_what then says what failed.
 */
int node_run(const struct node_options *options, int stop_fd, const char **ret_what);

#endif
