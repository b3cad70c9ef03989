/* SPDX-License-Identifier: MIT */
/* /proc/PID/maps as a list of mapped files. Path names in it are the measured process's: hostile.
 */
#ifndef EZPROF_PROC_MAPS_H
#define EZPROF_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ezprof_proc_maps {
	char *text;
	char *at; /* next line */
};

struct ezprof_proc_map {
	uint64_t start, end, offset;
	uint64_t device, inode; /* as the kernel prints them; inode 0: no file */
	bool executable;
	const char *path; /* valid until the maps are freed; may end in " (deleted)" */
};

/*
 * Reads all of it from an open /proc/PID/maps, again and again if need be.
 * Errors: -ESRCH the process has no memory any more (it has ended, or executed something else);
 * -E2BIG; -ENOMEM; those of reading.
 */
int ezprof_proc_maps_read(int maps_fd, struct ezprof_proc_maps *ret_maps);

/* The next mapping; false: no more. */
bool ezprof_proc_maps_next(struct ezprof_proc_maps *maps, struct ezprof_proc_map *ret_map);

void ezprof_proc_maps_free(struct ezprof_proc_maps *maps);

#endif
