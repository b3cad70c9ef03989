/* SPDX-License-Identifier: MIT */
/* The parts of top_rows.c. Private to them. */
#ifndef EZPROF_TOP_ROWS_PART_H
#define EZPROF_TOP_ROWS_PART_H

#include "top_rows.h"
#include "top_state.h"

/* A new row of unknown figures; NULL without memory. Valid until the next one. */
struct ezprof_top_row *ezprof_top_row_add(struct ezprof_top_rows *rows);

/* What an object is the same by in the next document. NULL without memory. */
char *ezprof_top_key(const struct ezprof_object *object);
char *ezprof_top_process_key(const struct ezprof_model *model, int64_t pid, const char *host);

/* One row for each process that is in the document (top_processes.c). -ENOMEM. */
int ezprof_top_process_rows(const struct ezprof_model *model,
			    const struct ezprof_top_states *states, struct ezprof_top_rows *rows);

/* Keeps those that have the text somewhere, and sorts them (top_order.c). */
void ezprof_top_rows_filter(struct ezprof_top_rows *rows, const char *filter);
void ezprof_top_rows_sort(struct ezprof_top_rows *rows, enum ezprof_top_view_id view,
			  struct ezprof_top_order order);

#endif
