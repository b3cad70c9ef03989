/* SPDX-License-Identifier: MIT */
/*
 * Memory of another process, as its readers see it: a function, so that tests and fuzzers can give
 * them any.
 */
#ifndef EZPROF_FOREIGN_MEMORY_H
#define EZPROF_FOREIGN_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Foreign memory. read: all n bytes or a negative errno; -ESRCH when the process is gone. */
struct ezprof_memory {
	int (*read)(void *context, uint64_t address, void *to, size_t n);
	void *context;
};

/* ezprof_memory.read over a descriptor of /proc/PID/mem; the context is the address of the fd. */
int ezprof_memory_read_fd(void *context, uint64_t address, void *to, size_t n);

#endif
