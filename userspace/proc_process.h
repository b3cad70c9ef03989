/* SPDX-License-Identifier: MIT */
/* Who a process is, from an open /proc/PID: the folder stays bound to that very process. */
#ifndef EZPROF_PROC_PROCESS_H
#define EZPROF_PROC_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

struct ezprof_proc_info {
	pid_t tgid;	     /* differs from the number asked for if that was a thread's */
	char state;	     /* as in /proc/PID/stat: 'Z' zombie, 'X' dead */
	uint64_t start_time; /* field 22: clock ticks since boot */
	uid_t uid;	     /* effective */
	char comm[16];
};

/* The caller owns the descriptor. Errors: -ESRCH no such process; those of open(). Any thread. */
int ezprof_proc_open(pid_t pid, int *ret_dir_fd);

/* Errors: -ESRCH it has ended and been waited for; -EIO the kernel's text isn't understood. */
int ezprof_proc_info(int dir_fd, struct ezprof_proc_info *ret_info);

#endif
