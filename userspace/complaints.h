/* SPDX-License-Identifier: MIT */
/*
 * Complaints about processes, where many may have the same cause: each cause is told once, with
 * how many and which; while it goes on, again whenever their number has doubled. One thread.
 */
#ifndef EZPROF_COMPLAINTS_H
#define EZPROF_COMPLAINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "target.h"

#define EZPROF_COMPLAINTS_MAX 8u
#define EZPROF_COMPLAINT_PIDS 8u

struct ezprof_complaint {
	char sentence[EZPROF_SENTENCE_BYTES]; /* the cause: follows on "process 12: " */
	pid_t pids[EZPROF_COMPLAINT_PIDS];    /* the first of those not told of */
	size_t untold, told;
};

/* Zeroed at first; owns nothing. */
struct ezprof_complaints {
	struct ezprof_complaint list[EZPROF_COMPLAINTS_MAX];
	size_t count;
};

/* Notes one; false: too many causes wait to be told, and this one is to be told right away. */
bool ezprof_complaints_note(struct ezprof_complaints *complaints, pid_t pid, const char *sentence);

/* Tells what is due, a line for each cause: "processes 12, 13: cannot be attached to: ...". */
void ezprof_complaints_tell(struct ezprof_complaints *complaints,
			    void (*say)(void *context, const char *line), void *context);

#endif
