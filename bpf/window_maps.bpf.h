/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Maps and settings of the window path, declared once; defined in window_maps.bpf.c. */
#ifndef EZ_WINDOW_MAPS_BPF_H
#define EZ_WINDOW_MAPS_BPF_H

#include "maps.bpf.h"
#include "bucket_shared.h"

struct ez_bucket_from_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct ez_bucket_from_key);
	__type(value, __u64);
};

struct ez_bucket_sums_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ez_bucket_sums);
};

struct ez_bucket_shapes_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ez_bucket_shape);
};

struct ez_bucket_totals_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ez_bucket_totals);
};

extern struct ez_bucket_from_map bucket_from SEC(".maps");
extern struct ez_bucket_sums_map bucket_sums SEC(".maps");
extern struct ez_bucket_shapes_map bucket_shapes SEC(".maps");
extern struct ez_bucket_totals_map bucket_totals SEC(".maps");

/* Slots in each of the maps above. */
extern const volatile __u32 bucket_slots;

#endif
