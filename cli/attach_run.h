/* SPDX-License-Identifier: MIT */
/* `ezprof-bpf attach` at work: opener, targets, BPF, links, rights given up, agent. */
#ifndef EZPROF_ATTACH_RUN_H
#define EZPROF_ATTACH_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define EZPROF_ATTACH_PROGRAM "ezprof-bpf"

struct ezprof_attach_options {
	pid_t *pids;
	size_t pid_count;
	bool once;
	double window_s;
	double duration_s;   /* 0: without end */
	const char *address; /* NULL: what the processes say */
	uint32_t paths;	     /* of enum ezprof_path, or-ed; 0: the default */
	uint32_t endpoints_max;
	uint32_t record_mib; /* room for recordings; 0: none */
	bool perf_event;     /* not uprobe_multi, even where the kernel has it */
	bool sched;	     /* what threads do while they work for an endpoint */
	bool children, all;
	const char *graph; /* host:port; NULL: not asked for */
};

/* Returns the exit status. */
int ezprof_attach_run(const struct ezprof_attach_options *options);

#endif
