/* SPDX-License-Identifier: MIT */
/*
 * BPF_LINK_CREATE for uprobe_multi and perf_event links, by bpf() itself: neither the headers of
 * Linux 6.1 nor libbpf 1.1 know uprobe_multi.
 */
#ifndef EZPROF_BPF_LINK_ATTR_H
#define EZPROF_BPF_LINK_ATTR_H

#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EZPROF_TRACE_UPROBE_MULTI 48u /* BPF_TRACE_UPROBE_MULTI */

/* The part of union bpf_attr that BPF_LINK_CREATE reads for these two types. */
struct ezprof_bpf_link_attr {
	uint32_t program_fd;
	uint32_t target_fd; /* perf_event: its descriptor */
	uint32_t attach_type;
	uint32_t flags;
	union {
		struct {
			uint64_t path, offsets, ref_ctr_offsets, cookies; /* addresses */
			uint32_t count, multi_flags, pid;
		} multi;
		struct {
			uint64_t cookie;
		} perf_event;
	};
};
_Static_assert(sizeof(struct ezprof_bpf_link_attr) == 64, "as the kernel has it");

/* Returns the link's descriptor (close-on-exec) or a negative errno. */
static inline int ezprof_bpf_link_create(const struct ezprof_bpf_link_attr *attr)
{
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, attr, sizeof(*attr));

	return fd < 0 ? -errno : (int)fd;
}

#endif
