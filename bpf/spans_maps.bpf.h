/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Maps and settings of the spans path, declared once; defined in spans_maps.bpf.c. */
#ifndef EZ_SPANS_MAPS_BPF_H
#define EZ_SPANS_MAPS_BPF_H

#include "maps.bpf.h"
#include "spans_shared.h"

struct ez_span_ring_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct ez_span_counters_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ez_span_counters);
};

extern struct ez_span_ring_map span_ring SEC(".maps");
extern struct ez_span_counters_map span_counters SEC(".maps");

/* The reader is woken when so much waits for it; else it looks by itself now and then. */
extern const volatile __u64 span_wake_bytes;

#endif
