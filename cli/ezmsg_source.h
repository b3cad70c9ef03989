/* SPDX-License-Identifier: MIT */
/*
 * A graph that nobody prepared: what ezmsg 3.9.0 and later tell by themselves (session snapshot,
 * trace stream), or the graph alone from older ones, as a PROFILE document with `source` "ezmsg".
 *
 * Tracing is switched on only where no other observer has it on, and ends by itself, for a command
 * to end it would end another one's as well. ezmsg's own metric snapshots are never asked: each of
 * them begins a new window for everybody.
 */
#ifndef EZPROF_EZMSG_SOURCE_H
#define EZPROF_EZMSG_SOURCE_H

#include <stdbool.h>

#include "parse.h"

struct ezprof_ezmsg_told {
	bool graph_only;  /* there is no more to be had; the hint says why */
	bool by_other;	  /* another observer traces: its stream was listened to */
	const char *hint; /* what instrumenting would add; static */
};

/*
 * Blocks for window_s and up to some seconds more. ret_text is owned by the caller; ret_told may be
 * NULL. Errors: those of client.h.
 */
int ezprof_ezmsg_source(const struct ez_address *address, double window_s, char **ret_text,
			struct ezprof_ezmsg_told *ret_told);

#endif
