/* SPDX-License-Identifier: MIT */
/*
 * What this kernel can do, found by trying and never by its version. Needs the right to load BPF
 * programs.
 */
#ifndef EZPROF_KERNEL_FEATURES_H
#define EZPROF_KERNEL_FEATURES_H

#include <stdbool.h>

struct ezprof_features {
	bool uprobe_multi; /* one link for all sites of a file (Linux 6.6) */
	/* Its pid filter means the process. Before Linux 6.10 it means the thread, and misses the
	   hits of all others: such a kernel gets links without a filter. */
	bool uprobe_multi_pid;
};

/* Any thread. Errors: what loading the smallest program gave, -EPERM above all. */
int ezprof_features_probe(struct ezprof_features *ret_features);

/* Of the libbpf in use, such as "v1.1". */
const char *ezprof_libbpf_version(void);

#endif
