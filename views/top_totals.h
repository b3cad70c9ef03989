/* SPDX-License-Identifier: MIT */
/* The whole graph in one line: who is there, what flows, what was lost, what measuring costs. Pure.
 */
#ifndef EZPROF_TOP_TOTALS_H
#define EZPROF_TOP_TOTALS_H

#include "model.h"
#include "screen_text.h"

/* A line; what doesn't fit is left out from the end, whole. */
void ezprof_top_totals(const struct ezprof_model *model, size_t processes,
		       struct ezprof_screen *screen);

#endif
