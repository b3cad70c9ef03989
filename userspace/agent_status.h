/* SPDX-License-Identifier: MIT */
/*
 * What an agent is and costs, for `ezprof-bpf status`: from its own document, and from what /proc
 * says of the rights of its two processes. Any thread.
 */
#ifndef EZPROF_AGENT_STATUS_H
#define EZPROF_AGENT_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The rights of a process. */
struct ezprof_rights {
	bool known; /* false: there is no such process */
	uid_t uid;
	uint64_t effective, permitted, bounding; /* capabilities, by bit */
	bool no_new_privs;
	unsigned int seccomp; /* 0 none, 2 a filter */
};

struct ezprof_agent_status {
	pid_t pid, opener_pid; /* 0: not known */
	char link[16], probes[16];
	bool shown; /* false: what it measures is other users', and isn't shown to this one */
	size_t process_count, endpoint_count;
	double hits_per_s, ns_per_hit;		  /* negative: not known */
	double agent_cpu_share, probes_cpu_share; /* of one CPU; likewise */
	uint64_t hits, map_bytes;
	bool sched; /* it was started with --sched, which costs: */
	uint64_t sched_hits;
	double sched_hits_per_s, sched_ns_per_hit, sched_cpu_share; /* negative: not known */
	int64_t lost;						    /* negative: not known */
	struct ezprof_rights agent, opener;
};

/* From a PROFILE document of one agent, and /proc. -EPROTO: it is no such document; -ENOMEM. */
int ezprof_agent_status_read(const char *document, size_t n,
			     struct ezprof_agent_status *ret_status);

/* A new JSON text on one line. */
char *ezprof_agent_status_json(const struct ezprof_agent_status *status, size_t n);

/*
 * Lets the kernel measure what BPF programs take, of all of them, for as long as the descriptor is
 * open. Errors: -EPERM it wants CAP_SYS_ADMIN; those of bpf().
 */
int ezprof_run_stats_enable(void);

#endif
