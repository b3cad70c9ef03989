/* SPDX-License-Identifier: MIT */
/*
 * --sched: which processes are looked at, and what the maps hold of their endpoints. Works without
 * any privilege once the maps are open. One thread at a time.
 */
#ifndef EZPROF_SCHED_READER_H
#define EZPROF_SCHED_READER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "loader.h"
#include "sched_fold.h"
#include "target.h"

struct ezprof_scheds;

#define EZPROF_SCHED_OPEN_MAX 16u

/* `bpf` must outlive it and have been loaded with `sched`. Errors: -ENOMEM, those of mmap(). */
int ezprof_scheds_open(const struct ezprof_bpf *bpf, struct ezprof_scheds **ret_scheds);
void ezprof_scheds_close(struct ezprof_scheds *scheds); /* NULL is ignored */

/*
 * Begins to look at the objects of a target whose tables of threads are known by now and weren't
 * before; each object's sched_from_id is set: the first whole bucket from then on.
 */
int ezprof_scheds_follow(struct ezprof_scheds *scheds, struct ezprof_target *target);
/* The process has ended. */
void ezprof_scheds_drop(struct ezprof_scheds *scheds, pid_t tgid);

/* Begins a snapshot. */
void ezprof_scheds_begin(struct ezprof_scheds *scheds);

/*
 * Fills in covered time and time off the CPU of `count` buckets from first_id on (at most the
 * ring's 128), and the threads that are off it now; times on the process's clock.
 */
void ezprof_scheds_read(struct ezprof_scheds *scheds, uint32_t slot, uint32_t epoch,
			uint64_t first_id, size_t count, struct ezprof_sched_bucket *buckets,
			struct ezprof_sched_open ret_open[EZPROF_SCHED_OPEN_MAX],
			size_t *ret_open_count);

/* Since the attach; times only while the kernel measures them, else 0. */
struct ezprof_sched_counts {
	uint64_t hits[EZ_SCHED_EVENTS], losses[EZ_SCHED_LOSS_COUNT];
	uint64_t runs, run_ns;
};
int ezprof_scheds_counts(struct ezprof_scheds *scheds, struct ezprof_sched_counts *ret_counts);

#endif
