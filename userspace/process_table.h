/* SPDX-License-Identifier: MIT */
/*
 * The processes of this machine as /proc lists them, kept from one look to the next: who is new,
 * whose child, whose memory has changed. Needs no rights. One thread.
 */
#ifndef EZPROF_PROCESS_TABLE_H
#define EZPROF_PROCESS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ezprof_candidate {
	pid_t pid, parent;
	uint64_t start_time; /* clock ticks since boot: with the pid, who it is */
	uint64_t size_bytes; /* of its address space; 0: a kernel thread, or a zombie */
	bool named;	     /* it was asked for by its pid, */
	bool descendant;     /* or is a descendant of one that was */
	bool seen;	     /* in the newest look */
	/* For the user of the table: its looks at the process. */
	uint32_t looks;
	uint64_t next_look_ns;
	uint64_t looked_at_bytes; /* size_bytes then */
	bool complained_of;	  /* what it executes now can't be measured */
};

struct ezprof_process_table {
	struct ezprof_candidate *list; /* by ascending pid */
	size_t count, room;
};

/* Adds a process by name. Errors: -ESRCH there is none; -ENOMEM. */
int ezprof_process_table_name(struct ezprof_process_table *table, pid_t pid);

/*
 * Looks again: at all processes, or only at those that are in the table. Those that have gone are
 * dropped, after their children were known as such. -ENOMEM; those of opening /proc.
 */
int ezprof_process_table_look(struct ezprof_process_table *table, bool all);

void ezprof_process_table_free(struct ezprof_process_table *table);

/* Takes the text of /proc/PID/stat apart. False: not understood. Pure. */
bool ezprof_stat_parse(const char *text, struct ezprof_candidate *ret_candidate);

#endif
