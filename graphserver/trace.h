/* SPDX-License-Identifier: MIT */
/*
 * The samples that a process traced, numbered, as many as the limits let it keep. Loop thread only.
 */
#ifndef EZPROF_TRACE_H
#define EZPROF_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "pickle_tree.h"

struct ezprof_sample;

/* Starts zeroed. */
struct ezprof_trace {
	struct ezprof_sample *samples; /* oldest first */
	size_t n, bytes;
	uint64_t last_seq;
};

/* Adds all of a list of ProfilingTraceSample. 0, -EBADMSG, -ENOMEM. */
int ezprof_trace_add(struct ezprof_trace *trace, const struct ez_node *samples);

/*
 * Appends to a list that is open in a pickle the samples after a number, up to max. Returns how
 * many; *seq is the number of the last one.
 */
size_t ezprof_trace_put(const struct ezprof_trace *trace, uint64_t *seq, size_t max,
			struct ez_buffer *out);

void ezprof_trace_clear(struct ezprof_trace *trace);

#endif
