/* SPDX-License-Identifier: MIT */
/*
 * What the BPF programs have counted, as raw values; and which processes count. Works without any
 * privilege once the maps are open. One thread at a time.
 */
#ifndef EZPROF_MAP_READER_H
#define EZPROF_MAP_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "loader.h"
#include "probe_list.h"
#include "window_shared.h"

struct ezprof_maps;

/* `bpf` must outlive it. Errors: -ENOMEM and those of mmap(). */
int ezprof_maps_open(const struct ezprof_bpf *bpf, struct ezprof_maps **ret_maps);
void ezprof_maps_close(struct ezprof_maps *maps);

/* Hits of a process count once it is a target (hits before are losses of their own kind). */
int ezprof_maps_add_target(struct ezprof_maps *maps, pid_t tgid, uint64_t start_time);

/*
 * The same process calls itself `ns_pid` in a pid namespace of its own, that may lie below ours.
 * For errors see ezprof_nested_pids_add().
 */
int ezprof_maps_add_nested(struct ezprof_maps *maps, pid_t tgid, uint64_t ns_dev, uint64_t ns_inode,
			   pid_t ns_pid);

/*
 * The process is dead: it is no target any more and its slots are free for others. Calling it for a
 * living process loses hits. A process that isn't a target: no error.
 */
int ezprof_maps_release(struct ezprof_maps *maps, pid_t tgid);

/*
 * The slots of one group of the process are free for others: none of its endpoints is open, and
 * none of its programs at work. A group that has none: no error.
 */
int ezprof_maps_release_group(struct ezprof_maps *maps, pid_t tgid, uint32_t file, uint32_t group);

/* One endpoint, as it is in the maps. */
struct ezprof_raw {
	uint64_t owner;		     /* EZ_OWNER_READY of that endpoint: for the fold */
	struct ez_slot slot;	     /* all 0 if that slot still belongs to an earlier endpoint */
	unsigned int cpu_count;	     /* possible CPUs */
	const struct ez_ring *rings; /* one per CPU; valid until the next read */
	bool stable; /* no note was being written and nothing changed between two readings */
};

/*
 * Reads the endpoint that probes call EZ_ENDPOINT_REF(generation, index) in that process and file.
 * Errors: -ENOENT no hit of it has been accepted so far; those of bpf().
 */
int ezprof_maps_read(struct ezprof_maps *maps, pid_t tgid, uint32_t file, uint32_t index,
		     uint32_t generation, struct ezprof_raw *ret_raw);

struct ezprof_counters {
	uint64_t hits[EZ_PROBE_COUNT];
	uint64_t losses[EZ_LOSS_COUNT];
};

/* Sums over all CPUs since the load. */
int ezprof_maps_counters(struct ezprof_maps *maps, struct ezprof_counters *ret_counters);

/* Key and meaning of a loss, for documents and for people. */
const char *ezprof_loss_key(enum ez_loss loss);
const char *ezprof_loss_text(enum ez_loss loss);

/* Time spent in the program, where the kernel measures it. Errors: -ENODATA it does not. */
int ezprof_maps_run_time(struct ezprof_maps *maps, uint64_t *ret_runs, uint64_t *ret_ns);

#endif
