/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps and settings of spans_maps.bpf.h. */
#include "spans_maps.bpf.h"

struct ez_span_ring_map span_ring SEC(".maps");
struct ez_span_counters_map span_counters SEC(".maps");

const volatile __u64 span_wake_bytes = 4096;

char SPANS_MAPS_LICENSE[] SEC("license") = "Dual BSD/GPL";
