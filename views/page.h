/* SPDX-License-Identifier: MIT */
/*
 * A report as one HTML file that needs nothing else: no network, no script to be read. Pure; the
 * buffer's sticky error tells of a failure.
 */
#ifndef EZPROF_PAGE_H
#define EZPROF_PAGE_H

#include "drawing.h"
#include "finding.h"
#include "timeline.h"

/* So many nodes are drawn, rows shown and objects plotted; the page says what is left out. */
#define EZPROF_PAGE_NODES_MAX 800u
#define EZPROF_PAGE_ARROWS_MAX 3000u
#define EZPROF_PAGE_ROWS_MAX 2000u
#define EZPROF_PAGE_PLOTS_MAX 400u

struct ezprof_page_input {
	const struct ezprof_model *model; /* whose figures are shown */
	const struct ezprof_findings *findings;
	const struct ezprof_drawing *drawing;	/* NULL = too large to be drawn */
	const struct ezprof_timeline *timeline; /* one of less than two points shows nothing */
};

void ezprof_page_put(struct ez_buffer *out, const struct ezprof_page_input *input);

#endif
