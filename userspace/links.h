/* SPDX-License-Identifier: MIT */
/*
 * Links between the BPF program and the probe sites of one object file. Closing the returned file
 * descriptors detaches; the kernel then lowers the semaphores itself.
 */
#ifndef EZPROF_LINKS_H
#define EZPROF_LINKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One link per file with uprobe_multi, one per site with perf_event. */
#define EZPROF_LINKS_MAX 64u

/* Where the kernel says by which number perf_event_open() knows uprobes. */
#define EZPROF_UPROBE_TYPE "/sys/bus/event_source/devices/uprobe/type"

struct ezprof_link_site {
	uint64_t offset, semaphore_offset, cookie;
};

struct ezprof_link_request {
	int program_fd;
	bool uprobe_multi;
	int object_fd; /* any regular file; its path is not used */
	pid_t pid;     /* 0: every process */
	uint32_t site_count;
	struct ezprof_link_site sites[EZPROF_LINKS_MAX];
};

/*
 * Whether this process has the rights for perf_event uprobes: it asks for an impossible one and
 * looks at the kernel's reason for refusing it.
 */
bool ezprof_links_may_perf_event(void);

/*
 * All sites or none. The caller owns the descriptors. Any thread.
 * Errors: -ESRCH no such process; -EPERM, -EACCES (see privileges.h); -EINVAL a site that is no
 * one-byte nop, or no site at all; -ENODEV perf_event: EZPROF_UPROBE_TYPE is missing; those of
 * bpf() and perf_event_open().
 */
int ezprof_links_create(const struct ezprof_link_request *request,
			int ret_fds[static EZPROF_LINKS_MAX], uint32_t *ret_count);

#endif
