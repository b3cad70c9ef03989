/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps and settings of window_maps.bpf.h. */
#include "window_maps.bpf.h"

struct ez_bucket_from_map bucket_from SEC(".maps");
struct ez_bucket_sums_map bucket_sums SEC(".maps");
struct ez_bucket_shapes_map bucket_shapes SEC(".maps");
struct ez_bucket_totals_map bucket_totals SEC(".maps");

const volatile __u32 bucket_slots = 1;

char WINDOW_MAPS_LICENSE[] SEC("license") = "Dual BSD/GPL";
