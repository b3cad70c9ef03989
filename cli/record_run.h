/* SPDX-License-Identifier: MIT */
/* A recording, from finding the agents to writing the file. */
#ifndef EZPROF_RECORD_RUN_H
#define EZPROF_RECORD_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "usual_options.h"

#define EZPROF_RECORD_PROGRAM "ezprof record"

struct ezprof_record_options {
	const char *path; /* NULL: no file */
	bool json;	  /* the file is Chrome's, else Perfetto's */
	bool summary;
	double flight_s;   /* 0: everything */
	double blocked_ms; /* 0: nobody is waited for */
	double duration_s; /* 0: until a signal */
	size_t spans_max;
	struct ezprof_usual_options usual; /* --address */
};

/* Returns the exit status. */
int ezprof_record_run(const struct ezprof_record_options *options);

#endif
