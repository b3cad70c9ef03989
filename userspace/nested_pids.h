/* SPDX-License-Identifier: MIT */
/*
 * Processes in pid namespaces below our own, for BPF programs: a program learns the current
 * process's number in a namespace only if that is the process's own one, so where we aren't in the
 * host's, those namespaces are told to it, with the numbers there and what we call them. One
 * thread.
 */
#ifndef EZPROF_NESTED_PIDS_H
#define EZPROF_NESTED_PIDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "window_shared.h"

struct ezprof_nested_pids {
	int namespaces_fd, pids_fd; /* of the maps */
	bool needed;		    /* our own namespace isn't the host's */
	uint64_t own_inode;
	struct {
		uint64_t dev, inode;
		uint32_t users;
	} places[EZ_NESTED_MAX];
};

/* Whose namespace this is: false: the host's, where every process has a number. */
bool ezprof_own_pid_namespace(uint64_t *ret_dev, uint64_t *ret_inode);

void ezprof_nested_pids_init(struct ezprof_nested_pids *nested, int namespaces_fd, int pids_fd);

/*
 * A process that we call `tgid` and that calls itself `ns_pid`. In our own namespace, or where we
 * are in the host's: nothing to do. Errors: -ENOSPC processes of EZ_NESTED_MAX other namespaces are
 * there already; those of bpf().
 */
int ezprof_nested_pids_add(struct ezprof_nested_pids *nested, pid_t tgid, uint64_t dev,
			   uint64_t inode, pid_t ns_pid);

/* The process is gone. One that was never added: nothing. */
void ezprof_nested_pids_remove(struct ezprof_nested_pids *nested, pid_t tgid);

#endif
