/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps and settings of maps.bpf.h, and the licence that the kernel asks for. */
#include "maps.bpf.h"

struct ez_groups_map groups SEC(".maps");
struct ez_free_groups_map free_groups SEC(".maps");
struct ez_targets_map targets SEC(".maps");
struct ez_nested_namespaces_map nested_namespaces SEC(".maps");
struct ez_nested_pids_map nested_pids SEC(".maps");
struct ez_rings_map rings SEC(".maps");
struct ez_slots_map slots SEC(".maps");
struct ez_leases_map leases SEC(".maps");
struct ez_counters_map counters SEC(".maps");

const volatile __u32 lease_stride = 64;
const volatile __u64 pid_ns_dev = 0, pid_ns_inode = 0;
const volatile __u32 never = 0;
__u64 last_epoch = 0;

char LICENSE[] SEC("license") = "Dual BSD/GPL";
