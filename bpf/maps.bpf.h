/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The maps and settings, declared once; defined in maps.bpf.c. What their values mean says
 * window_shared.h. The sizes are set by the loader.
 */
#ifndef EZ_MAPS_BPF_H
#define EZ_MAPS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "window_shared.h"

struct ez_groups_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct ez_group_key);
	__type(value, struct ez_group);
};

/* Numbers of unused groups. First in, first out: a group rests as long as possible before reuse. */
struct ez_free_groups_map {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__uint(value_size, sizeof(__u32));
};

/* Processes that were asked for -> their start time. Looked at when a group is unknown. */
struct ez_targets_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
};

struct ez_nested_namespaces_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, EZ_NESTED_MAX);
	__type(key, __u32);
	__type(value, struct ez_pid_namespace);
};

struct ez_nested_pids_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct ez_nested_pid);
	__type(value, __u32);
};

struct ez_rings_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ez_ring);
};

struct ez_slots_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ez_slot);
};

struct ez_leases_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ez_lease);
};

struct ez_counters_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ez_counters);
};

extern struct ez_groups_map groups SEC(".maps");
extern struct ez_free_groups_map free_groups SEC(".maps");
extern struct ez_targets_map targets SEC(".maps");
extern struct ez_nested_namespaces_map nested_namespaces SEC(".maps");
extern struct ez_nested_pids_map nested_pids SEC(".maps");
extern struct ez_rings_map rings SEC(".maps");
extern struct ez_slots_map slots SEC(".maps");
extern struct ez_leases_map leases SEC(".maps");
extern struct ez_counters_map counters SEC(".maps");

/* Entries of `leases` per slot. */
extern const volatile __u32 lease_stride;
/* The agent's pid namespace, where it is not the host's: pids are those of this one. 0: the host's.
 */
extern const volatile __u64 pid_ns_dev, pid_ns_inode;
/* 0: what the verifier drops; see ez_keep_own_stack(). */
extern const volatile __u32 never;
/* Raised at each allocation of a group. */
extern __u64 last_epoch;

#endif
