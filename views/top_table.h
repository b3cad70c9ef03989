/* SPDX-License-Identifier: MIT */
/* Rows of `ezprof top` as lines of a table that is as wide as there is room. Pure. */
#ifndef EZPROF_TOP_TABLE_H
#define EZPROF_TOP_TABLE_H

#include "screen_text.h"
#include "top_rows.h"

#define EZPROF_TOP_COLUMNS_MAX 16u

struct ezprof_top_table {
	const struct ezprof_top_rows *rows;
	const struct ezprof_history *history;
	enum ezprof_top_view_id view;
	struct ezprof_top_order order;
	bool ascii;	 /* bars and sparklines of nothing else */
	bool has_cursor; /* a selected row is marked */
	size_t n;
	enum ezprof_top_column_id columns[EZPROF_TOP_COLUMNS_MAX];
	unsigned int widths[EZPROF_TOP_COLUMNS_MAX];
};

/* Chooses the columns and their widths for lines of so many columns, 0 = as wide as names want. */
void ezprof_top_table_lay_out(struct ezprof_top_table *table, unsigned int columns);

/* line: 0 or 1; a sign stands beside the column that the rows are ordered by. */
void ezprof_top_table_heading(const struct ezprof_top_table *table, unsigned int line,
			      struct ezprof_screen *screen);
void ezprof_top_table_row(const struct ezprof_top_table *table, size_t row, bool selected,
			  struct ezprof_screen *screen);

#endif
