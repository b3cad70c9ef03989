/* SPDX-License-Identifier: MIT */
/* What has changed between two runs. Pure; the buffer's sticky error tells of a failure. */
#ifndef EZPROF_DIFF_VIEW_H
#define EZPROF_DIFF_VIEW_H

#include "samples.h"

struct ezprof_diff_options {
	double change_min; /* text: what has changed by a smaller share is left out */
	bool all;	   /* every metric instead of the usual few */
};

/* A line for each figure that has changed: medians, spread, and whether the spreads overlap. */
void ezprof_diff_text(struct ez_buffer *out, const struct ezprof_samples *before,
		      const struct ezprof_samples *after,
		      const struct ezprof_diff_options *options);

/* {"schema": "ezprof.diff/1", "changes": [...], "only_before": [...], "only_after": [...]} */
void ezprof_diff_json(struct ez_buffer *out, const struct ezprof_samples *before,
		      const struct ezprof_samples *after,
		      const struct ezprof_diff_options *options);

#endif
