/* SPDX-License-Identifier: MIT */
/* What /proc says of a process beyond what was opened of it: its namespaces, its threads' owner. */
#ifndef EZPROF_PROCESS_STATUS_H
#define EZPROF_PROCESS_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The process that this thread belongs to. -ESRCH; -EPROTO. */
int ezprof_process_of_thread(pid_t tid, pid_t *ret_pid);

struct ezprof_namespaces {
	uint64_t pid_ns_dev, pid_ns_inode; /* which pid namespace it is in; 0: not known */
	bool other_network;		   /* its 127.0.0.1 isn't ours */
	pid_t ns_pid;			   /* its pid in its innermost pid namespace */
	int64_t clock_offset_ns; /* its CLOCK_MONOTONIC minus the host's: not 0 in a time namespace
				  */
};

/* Wants the rights of ptrace for another user's clock. -ESRCH; -EPROTO. */
int ezprof_process_namespaces(pid_t pid, struct ezprof_namespaces *ret_namespaces);

/* The last number of the line "NSpid:" in the text of /proc/PID/status. -EPROTO. Pure. */
int ezprof_status_ns_pid(const char *status, pid_t *ret_pid);

/* The line "monotonic" in the text of /proc/PID/timens_offsets, in ns; 0 if there is none. Pure. */
int64_t ezprof_timens_monotonic_ns(const char *offsets);

#endif
