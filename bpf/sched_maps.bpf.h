/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Maps and settings of --sched, declared once; defined in sched_maps.bpf.c. See sched_shared.h. */
#ifndef EZ_SCHED_MAPS_BPF_H
#define EZ_SCHED_MAPS_BPF_H

#include "maps.bpf.h"
#include "sched_shared.h"

struct ez_sched_targets_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ez_sched_target);
};

/* Address of a task -> index in sched_threads. */
struct ez_sched_tasks_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u32);
};

/* Indices that are not in use. */
struct ez_sched_free_map {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__uint(value_size, sizeof(__u32));
};

struct ez_sched_threads_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ez_sched_thread);
};

struct ez_sched_sums_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ez_sched_sums);
};

struct ez_sched_covered_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ez_sched_covered);
};

struct ez_sched_counters_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ez_sched_counters);
};

extern struct ez_sched_targets_map sched_targets SEC(".maps");
extern struct ez_sched_tasks_map sched_tasks SEC(".maps");
extern struct ez_sched_free_map sched_free SEC(".maps");
extern struct ez_sched_threads_map sched_threads SEC(".maps");
extern struct ez_sched_sums_map sched_sums SEC(".maps");
extern struct ez_sched_covered_map sched_covered SEC(".maps");
extern struct ez_sched_counters_map sched_counters SEC(".maps");

/* Whether --sched was asked for: what buckets say of covered time is kept. */
extern const volatile __u32 sched_wanted;

#endif
