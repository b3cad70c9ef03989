/* SPDX-License-Identifier: MIT */
/*
 * The PROFILE document of a graph that nobody measures: what ezmsg tells by itself, `source`
 * "ezmsg", and null for what that cannot know. Pure but for the clock in `time_ns`; one thread.
 */
#ifndef EZPROF_EZMSG_DOCUMENT_H
#define EZPROF_EZMSG_DOCUMENT_H

#include "ezmsg_traces.h"

/* A process that could not be made to tell. */
struct ezprof_ezmsg_error {
	int64_t pid;
	const char *host, *detail;
};

struct ezprof_ezmsg_facts {
	double window_s;  /* as it was asked for */
	double covered_s; /* 0: nothing was traced */
	bool by_other; /* another observer's tracing: what it leaves out is not known to be nothing
			*/
	const char *graph_source; /* "snapshot" or "dag" */
	const struct ez_dag *graph;
	const struct ez_snapshot *snapshot; /* NULL: this ezmsg has none */
	const struct ezprof_traces *traces;
	const struct ezprof_ezmsg_error *errors;
	size_t n_errors;
	const char *hint; /* one line: what instrumenting would add */
};

/* A text owned by the caller: 0, -ENOMEM, -EMSGSIZE. */
int ezprof_ezmsg_document(const struct ezprof_ezmsg_facts *facts, char **ret_text);

#endif
