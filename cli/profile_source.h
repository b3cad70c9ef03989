/* SPDX-License-Identifier: MIT */
/* Where the views of a graph get their PROFILE document from. */
#ifndef EZPROF_PROFILE_SOURCE_H
#define EZPROF_PROFILE_SOURCE_H

#include <stdbool.h>
#include <stdio.h>

#include "clock.h"
#include "parse.h"

/* What who asks again and again needn't find out again; zero-initialised. */
struct ezprof_source_memory {
	/* A server elsewhere that is none of ours: a Python one prints a warning when asked for it.
	 */
	struct ez_address foreign;
	ez_mono_ns_t foreign_until_ns; /* then it may be another one */
	/* The graph that was found without being named; it is looked for again when it fails. */
	struct ez_address graph;
	bool have_graph;
};

struct ezprof_profile_request {
	const char *program;		  /* what messages begin with */
	const struct ez_address *address; /* what --address said, or NULL */
	double window_s;
	double trace_s_max; /* of a graph that is watched for its window: at most; 0 = no limit */
	FILE *messages;	    /* why there is no document, and hints; NULL = stderr */
	struct ezprof_source_memory *memory; /* NULL = asked once */
};

/* ezprof_profile_fetch() with more to choose from. Any thread, with messages of its own. */
int ezprof_profile_get(const struct ezprof_profile_request *request, char **ret_text);

/*
 * Finds the graph (address: what --address said, or NULL) and asks for its document, which is the
 * caller's to free(). Blocks for some seconds at most. Prints why there is none, and returns an
 * exit status, 0 = there is one. memory: as in the request.
 */
int ezprof_profile_fetch(const char *program, const struct ez_address *address, double window_s,
			 struct ezprof_source_memory *memory, char **ret_text);

#endif
