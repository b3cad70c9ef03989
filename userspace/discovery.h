/* SPDX-License-Identifier: MIT */
/*
 * Processes that are to be measured though nobody named them, and what becomes instrumented later:
 * descendants of the named ones, processes of a graph, all processes; programs that a measured
 * process executes, libraries that it loads. Found by looking at /proc now and then; what needs
 * rights is asked of the opener. One thread.
 */
#ifndef EZPROF_DISCOVERY_H
#define EZPROF_DISCOVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "measurement.h"

struct ezprof_discovery;

struct ezprof_discovery_options {
	bool children;	   /* descendants of the named processes */
	bool all;	   /* every process with probes */
	const char *graph; /* every process that uses this graph server; NULL: not asked for */
	/* A process is measured from now on; before it has started, that it was added. */
	void (*joined)(void *context, struct ezprof_target *target);
	void (*say)(void *context, const char *line); /* a line for people */
	void *context;
};

/* `measurement` must outlive it. NULL without memory. */
struct ezprof_discovery *ezprof_discovery_new(struct ezprof_measurement *measurement,
					      const struct ezprof_discovery_options *options);
void ezprof_discovery_free(struct ezprof_discovery *discovery); /* NULL is fine */

/* Changes who is told. */
void ezprof_discovery_tell(struct ezprof_discovery *discovery,
			   const struct ezprof_discovery_options *options);

/* More may come: the end of all targets is not the end. */
bool ezprof_discovery_goes_on(const struct ezprof_discovery *discovery);

/* This process counts as asked for: a root of `children`, and what it executes is followed. */
int ezprof_discovery_name(struct ezprof_discovery *discovery, pid_t pid);

/*
 * Looks for processes and attaches to the new ones (once the measurement has started; before, adds
 * them). ret_refusal is filled if one was refused that nothing was found of; may be NULL.
 * Returns -EPIPE once the opener is gone, else 0.
 */
int ezprof_discovery_look(struct ezprof_discovery *discovery, struct ezprof_refusal *ret_refusal);

#endif
