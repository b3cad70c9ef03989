/* SPDX-License-Identifier: MIT */
/* A recording as JSON in Chrome's trace event format. Pure but for the stream. */
#ifndef EZPROF_TRACE_CHROME_H
#define EZPROF_TRACE_CHROME_H

#include <stdio.h>

#include "trace_model.h"

/* Errors: -EIO with the stream's error flag set. */
int ezprof_chrome_write(const struct ezprof_trace_model *model,
			const struct ezprof_trace_about *about, FILE *to);

#endif
