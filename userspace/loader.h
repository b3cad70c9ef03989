/* SPDX-License-Identifier: MIT */
/*
 * The BPF programs and maps in the kernel, sized for what will be measured. Maps can't grow once
 * privileges are gone, so room is made in advance.
 */
#ifndef EZPROF_LOADER_H
#define EZPROF_LOADER_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel_features.h"
#include "privileges.h"

struct ezprof_bpf;

/* Ways of measuring, loaded by themselves or together; each has its own program and maps. */
enum ezprof_path {
	EZPROF_PATH_BOUNDARY = 1, /* one hit per event */
	EZPROF_PATH_WINDOW = 2,	  /* one hit per bucket of 134 ms */
	EZPROF_PATH_SPANS = 4	  /* beside windows: every message, while somebody records */
};

/* What the ring for spans has room for where nobody says otherwise. */
#define EZPROF_SPAN_RING_BYTES (4u << 20)

struct ezprof_bpf_options {
	/* room is made for twice as many, at least 64, at most 1 GiB of maps */
	uint32_t endpoints_found;
	/* Endpoints share room by 16 of a process and file: sum of ceil(endpoints / 16), at least 1
	   for each that is attached to. Half as many again are made. */
	uint32_t groups_found;
	uint32_t endpoints_max;	  /* --max-endpoints instead of the two; rounded up to 16; 0: not
				     given */
	uint32_t buffers_max;	  /* largest num_buffers found; leases beyond are counted as lost */
	uint32_t paths;		  /* of enum ezprof_path, or-ed; 0: boundary */
	uint32_t span_ring_bytes; /* raised to a power of two; 0: EZPROF_SPAN_RING_BYTES */
	bool perf_event;	  /* don't use uprobe_multi, even where the kernel has it */
	bool run_stats;		  /* let the kernel measure the time programs take */
	bool sched; /* attach to the scheduler's tracepoints at once; with the window path only */
};

/*
 * Loads and starts nothing: programs run once something is attached. Needs CAP_BPF and CAP_PERFMON.
 * RLIMIT_MEMLOCK is left alone: BPF memory isn't accounted to it any more.
 * ret_refusal (may be NULL) is filled where the error is a refusal (-EPERM, -EACCES).
 */
int ezprof_bpf_load(const struct ezprof_bpf_options *options, struct ezprof_bpf **ret_bpf,
		    struct ezprof_refusal *ret_refusal);

/* Closes programs and maps. NULL is ignored. */
void ezprof_bpf_free(struct ezprof_bpf *bpf);

/* The program of a path; -1: that path isn't loaded. */
int ezprof_bpf_path_fd(const struct ezprof_bpf *bpf, enum ezprof_path path);
/* Of the boundary path, or of the window path if that is the only one. */
int ezprof_bpf_program_fd(const struct ezprof_bpf *bpf);
uint32_t ezprof_bpf_paths(const struct ezprof_bpf *bpf);
/* How programs must be attached: true: uprobe_multi, false: perf_event. */
bool ezprof_bpf_uprobe_multi(const struct ezprof_bpf *bpf);
/* Links may carry a pid filter. */
bool ezprof_bpf_pid_filter(const struct ezprof_bpf *bpf);
uint32_t ezprof_bpf_endpoints_max(const struct ezprof_bpf *bpf);
uint32_t ezprof_bpf_span_ring_bytes(const struct ezprof_bpf *bpf);
uint64_t ezprof_bpf_map_bytes(const struct ezprof_bpf *bpf);
int ezprof_bpf_cpu_count(const struct ezprof_bpf *bpf); /* possible CPUs */

/* NULL: without --sched. */
struct ezprof_sched_fds;
const struct ezprof_sched_fds *ezprof_bpf_sched_fds(const struct ezprof_bpf *bpf);
/* Detaches from the scheduler; what was counted stays. */
void ezprof_bpf_sched_detach(struct ezprof_bpf *bpf);

/* NULL: without `sched`. */
struct ezprof_sched_fds;
const struct ezprof_sched_fds *ezprof_bpf_sched_fds(const struct ezprof_bpf *bpf);
/* Detaches from the scheduler; what was counted stays. */
void ezprof_bpf_sched_detach(struct ezprof_bpf *bpf);

/* Needed by links and by the map reader. */
struct ezprof_bpf_fds {
	int nested_namespaces, nested_pids;
	int groups, free_groups, targets, rings, slots, leases, counters;
	int bucket_from, bucket_sums, bucket_shapes, bucket_totals;
	int span_ring, span_counters;
};
const struct ezprof_bpf_fds *ezprof_bpf_map_fds(const struct ezprof_bpf *bpf);

#endif
