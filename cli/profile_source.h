/* SPDX-License-Identifier: MIT */
/* Where the views of a graph get their PROFILE document from. */
#ifndef EZPROF_PROFILE_SOURCE_H
#define EZPROF_PROFILE_SOURCE_H

#include "parse.h"

/*
 * Finds the graph (address: what --address said, or NULL) and asks for its document, which is the
 * caller's to free(). Blocks for some seconds at most. Prints why there is none, and returns an
 * exit status, 0 = there is one.
 */
int ezprof_profile_fetch(const char *program, const struct ez_address *address, double window_s,
			 char **ret_text);

#endif
