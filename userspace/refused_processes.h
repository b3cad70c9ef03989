/* SPDX-License-Identifier: MIT */
/*
 * Processes that may not be looked into, and why: a machine may have hundreds, for one or two
 * reasons. One thread.
 */
#ifndef EZPROF_REFUSED_PROCESSES_H
#define EZPROF_REFUSED_PROCESSES_H

#include <stddef.h>
#include <sys/types.h>

#include "privileges.h"

/* What is attempted of a process and what the kernel answers make fewer. */
#define EZPROF_REFUSED_REASONS_MAX 8u
/* So many have their name and reason; more are only counted. */
#define EZPROF_REFUSED_MAX 4096u

struct ezprof_refused {
	pid_t pid;
	char comm[96]; /* valid UTF-8 */
	size_t reason;
};

struct ezprof_refused_processes {
	struct ezprof_refusal reasons[EZPROF_REFUSED_REASONS_MAX];
	size_t reason_count;
	struct ezprof_refused *list;
	size_t count, room;
	size_t total; /* with those that are only counted */
};

/* Adds one; refusal: what the opener said of it. Without memory it is only counted. */
void ezprof_refused_note(struct ezprof_refused_processes *refused, pid_t pid, const char *comm,
			 const struct ezprof_refusal *refusal);

/* How many there are of a reason. */
size_t ezprof_refused_of(const struct ezprof_refused_processes *refused, size_t reason);

/* What it holds, not itself. */
void ezprof_refused_free(struct ezprof_refused_processes *refused);

#endif
