/* SPDX-License-Identifier: MIT */
/*
 * The objects whose spans are recorded: their links, and the numbers that their endpoints go by.
 * One thread.
 */
#ifndef EZPROF_SPANS_SOURCES_H
#define EZPROF_SPANS_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "measurement.h"

/*
 * An endpoint's running total is a beginning only once every call of the process sees that somebody
 * listens: one may have looked just before the link was there, and count later.
 */
#define EZPROF_SPAN_SETTLE_NS 150000000ull

#define EZPROF_SPAN_NUMBERS_MAX 65536u

/* An instrumented object of a process. */
struct ezprof_span_source {
	pid_t pid;
	uint64_t start_time;
	uid_t uid;
	uint32_t file;
	size_t object;		 /* its place in the target */
	int64_t clock_offset_ns; /* the process's clock minus ours */
	uint64_t linked_ns;
	uint64_t ready_ns; /* 0: not yet */
	struct ezprof_span_name {
		uint32_t generation; /* 0: none */
		uint32_t number;
	} * names; /* by index */
	size_t name_count;
};

struct ezprof_span_sources {
	struct ezprof_measurement *measurement;
	struct ezprof_span_source **list;
	size_t count;
	struct ezprof_span_link {
		uint32_t file;
		pid_t pid; /* 0: of every process */
		uint64_t start_time;
		struct ezprof_links links;
	} * links;
	size_t link_count;
	uint32_t next_number;
};

/* A process can't be recorded, and why. */
typedef void ezprof_span_refused(void *context, const struct ezprof_target *target,
				 const char *sentence);

/* Attaches to what is measured and isn't there yet. -ENOMEM; refusals are told. */
int ezprof_span_sources_look(struct ezprof_span_sources *sources, ezprof_span_refused *refused,
			     void *context);

/* Forgets what isn't measured any more. What the ring holds of it should have been taken. */
void ezprof_span_sources_sweep(struct ezprof_span_sources *sources);

/* Detaches from everything, and forgets it. */
void ezprof_span_sources_clear(struct ezprof_span_sources *sources);

/* NULL: none. */
struct ezprof_span_source *ezprof_span_source_find(const struct ezprof_span_sources *sources,
						   pid_t pid, uint32_t file);

/* The target, also shortly after its end; NULL: it is forgotten. */
struct ezprof_target *ezprof_span_source_target(const struct ezprof_span_sources *sources,
						const struct ezprof_span_source *source);

/* The number of an endpoint, given at the first time. -ENOSPC, -ENOMEM. */
int ezprof_span_source_number(struct ezprof_span_sources *sources,
			      struct ezprof_span_source *source, uint32_t index,
			      uint32_t generation, uint32_t *ret_number);

/* As of the newest reading of the registry; NULL: not there. */
const struct ezprof_endpoint *ezprof_span_source_endpoint(const struct ezprof_target *target,
							  const struct ezprof_span_source *source,
							  uint32_t index, uint32_t generation);

#endif
