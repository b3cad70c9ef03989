/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps and settings of sched_maps.bpf.h. */
#include "sched_maps.bpf.h"

struct ez_sched_targets_map sched_targets SEC(".maps");
struct ez_sched_tasks_map sched_tasks SEC(".maps");
struct ez_sched_free_map sched_free SEC(".maps");
struct ez_sched_threads_map sched_threads SEC(".maps");
struct ez_sched_sums_map sched_sums SEC(".maps");
struct ez_sched_covered_map sched_covered SEC(".maps");
struct ez_sched_counters_map sched_counters SEC(".maps");

const volatile __u32 sched_wanted = 0;

char SCHED_MAPS_LICENSE[] SEC("license") = "Dual BSD/GPL";
