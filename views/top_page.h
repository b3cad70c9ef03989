/* SPDX-License-Identifier: MIT */
/* What `ezprof top` shows instead of the table: help, all causes, all of one row. Pure. */
#ifndef EZPROF_TOP_PAGE_H
#define EZPROF_TOP_PAGE_H

#include "screen_text.h"
#include "top_rows.h"

/* All lines; who shows them picks some. */
void ezprof_top_page_help(struct ezprof_screen *screen);
/* notes: also what is no problem and no advice. */
void ezprof_top_page_causes(const struct ezprof_findings *findings, bool notes,
			    struct ezprof_screen *screen);
void ezprof_top_page_details(const struct ezprof_model *model,
			     const struct ezprof_findings *findings,
			     const struct ezprof_history *history, bool ascii,
			     const struct ezprof_top_row *row, struct ezprof_screen *screen);

#endif
