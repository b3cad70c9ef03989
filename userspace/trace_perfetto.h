/* SPDX-License-Identifier: MIT */
/* A recording in the format of Perfetto (https://perfetto.dev): `.pftrace`. Pure but for the
 * stream. */
#ifndef EZPROF_TRACE_PERFETTO_H
#define EZPROF_TRACE_PERFETTO_H

#include <stdio.h>

#include "trace_model.h"

/* Errors: -ENOMEM; -EIO with the stream's error flag set. */
int ezprof_perfetto_write(const struct ezprof_trace_model *model,
			  const struct ezprof_trace_about *about, FILE *to);

#endif
