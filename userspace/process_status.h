/* SPDX-License-Identifier: MIT */
/* What /proc says of a process beyond what was opened of it: its namespaces, its threads' owner. */
#ifndef EZPROF_PROCESS_STATUS_H
#define EZPROF_PROCESS_STATUS_H

#include <stdint.h>
#include <sys/types.h>

/* The process that this thread belongs to. -ESRCH; -EPROTO. */
int ezprof_process_of_thread(pid_t tid, pid_t *ret_pid);

/*
 * Its pid in its innermost pid namespace, and its CLOCK_MONOTONIC minus that of the host, which
 * is not 0 in a time namespace. -ESRCH; -EPROTO.
 */
int ezprof_process_namespaces(pid_t pid, pid_t *ret_ns_pid, int64_t *ret_clock_offset_ns);

/* The last number of the line "NSpid:" in the text of /proc/PID/status. -EPROTO. Pure. */
int ezprof_status_ns_pid(const char *status, pid_t *ret_pid);

/* The line "monotonic" in the text of /proc/PID/timens_offsets, in ns; 0 if there is none. Pure. */
int64_t ezprof_timens_monotonic_ns(const char *offsets);

#endif
