/* SPDX-License-Identifier: MIT */
/* Where the views of a graph get their PROFILE document from. */
#ifndef EZPROF_PROFILE_SOURCE_H
#define EZPROF_PROFILE_SOURCE_H

#include <stdio.h>

#include "clock.h"
#include "parse.h"

/* A server elsewhere that was found to be none of ours; zero-initialised. */
struct ezprof_foreign_server {
	struct ez_address address;
	ez_mono_ns_t until_ns; /* then it may be another one */
};

struct ezprof_profile_request {
	const char *program;		  /* what messages begin with */
	const struct ez_address *address; /* what --address said, or NULL */
	double window_s;
	double trace_s_max; /* of a graph that is watched for its window: at most; 0 = no limit */
	FILE *messages;	    /* why there is no document, and hints; NULL = stderr */
	/*
	 * For who asks again and again, else NULL: asking a Python server whether it is ours
	 * makes it print a warning.
	 */
	struct ezprof_foreign_server *foreign;
};

/* ezprof_profile_fetch() with more to choose from. Any thread, with messages of its own. */
int ezprof_profile_get(const struct ezprof_profile_request *request, char **ret_text);

/*
 * Finds the graph (address: what --address said, or NULL) and asks for its document, which is the
 * caller's to free(). Blocks for some seconds at most. Prints why there is none, and returns an
 * exit status, 0 = there is one.
 */
int ezprof_profile_fetch(const char *program, const struct ez_address *address, double window_s,
			 char **ret_text);

#endif
