/* SPDX-License-Identifier: MIT */
/* The part of the loader that --sched needs: sizes, programs, and their raw tracepoints. */
#ifndef EZPROF_SCHED_LOADER_H
#define EZPROF_SCHED_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sched_shared.h"

struct ezprof; /* the skeleton */

struct ezprof_sched_fds {
	bool wanted;
	int targets, tasks, free, threads, sums, covered, counters;
	int programs[EZ_SCHED_EVENTS];
	int links[EZ_SCHED_EVENTS]; /* -1: none */
};

/* Before the skeleton is loaded: with sched not wanted none of its programs is. */
int ezprof_sched_prepare(struct ezprof *skeleton, bool wanted, uint32_t slots);

/*
 * After that, if it is wanted: attaches. From then on every switch on this machine is a hit. On
 * failure nothing is attached and ret_why, in no more than `size` bytes, says what is missing.
 * Errors: those of bpf(). -ENOENT: this kernel has no such tracepoint.
 */
int ezprof_sched_attach(struct ezprof *skeleton, struct ezprof_sched_fds *ret_fds, char *ret_why,
			size_t size);

/* Closes the links. What was counted stays. */
void ezprof_sched_detach(struct ezprof_sched_fds *fds);

/* What its maps take. */
uint64_t ezprof_sched_map_bytes(uint32_t slots);

#endif
