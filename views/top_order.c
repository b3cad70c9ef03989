/* SPDX-License-Identifier: MIT */
/* Which rows of a view are shown, and in which order. */
#include "top_rows_part.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_text(const char *in, const char *text)
{
	return in && strcasestr(in, text);
}

static bool passes(const struct ezprof_top_row *row, const char *filter)
{
	char pid[24];

	snprintf(pid, sizeof(pid), "%lld", (long long)row->pid);
	return !*filter || has_text(row->names[0], filter) || has_text(row->names[1], filter) ||
	       has_text(row->via, filter) || has_text(row->host, filter) ||
	       has_text(row->state, filter) || has_text(pid, filter);
}

void ezprof_top_rows_filter(struct ezprof_top_rows *rows, const char *filter)
{
	size_t i, n = 0;

	rows->all = rows->n;
	for (i = 0; i < rows->n; i++) {
		struct ezprof_top_row *row = &rows->list[i];

		if (passes(row, filter)) {
			rows->list[n++] = *row;
			continue;
		}
		free(row->key);
		free(row->names[0]);
		free(row->names[1]);
	}
	rows->n = n;
}

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_names(const struct ezprof_top_row *a, const struct ezprof_top_row *b)
{
	int by = compare_texts(a->names[0], b->names[0]);

	by = by ? by : compare_texts(a->names[1], b->names[1]);
	by = by ? by : (a->pid > b->pid) - (a->pid < b->pid);
	return by ? by : compare_texts(a->key, b->key);
}

/* Unknown figures come last, whatever the order. */
static int compare_values(double a, double b, bool ascending)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return ascending ? (a > b) - (a < b) : (a < b) - (a > b);
}

struct sorting {
	struct ezprof_top_order order;
	enum ezprof_top_view_id view;
};

static int compare_by(const struct ezprof_top_row *a, const struct ezprof_top_row *b,
		      const struct sorting *sorting)
{
	enum ezprof_top_column_id column = sorting->order.column;
	bool ascending = ezprof_top_ascends(column) != sorting->order.reversed;
	int by;

	switch (column) {
	case EZPROF_TOP_STATE:
		return compare_values(a->severity, b->severity, ascending);
	case EZPROF_TOP_PUBLISHER:
	case EZPROF_TOP_COMMAND:
		by = compare_texts(a->names[0], b->names[0]);
		break;
	case EZPROF_TOP_SUBSCRIBER:
		by = sorting->view == EZPROF_TOP_VIEW_EDGES
			     ? compare_texts(a->names[1], b->names[1])
			     : compare_texts(a->names[0], b->names[0]);
		break;
	case EZPROF_TOP_HOST:
		by = compare_texts(a->host, b->host);
		break;
	case EZPROF_TOP_VIA:
		by = compare_texts(a->via, b->via);
		break;
	case EZPROF_TOP_TREND:
		column = EZPROF_TOP_RATE;
		/* fallthrough */
	default:
		return compare_values(a->values[column], b->values[column], ascending);
	}
	return ascending ? by : -by;
}

static int compare(const void *a, const void *b, void *sorting)
{
	int by = compare_by(a, b, sorting);

	return by ? by : compare_names(a, b);
}

void ezprof_top_rows_sort(struct ezprof_top_rows *rows, enum ezprof_top_view_id view,
			  struct ezprof_top_order order)
{
	struct sorting sorting = {order, view};

	if (rows->n)
		qsort_r(rows->list, rows->n, sizeof(rows->list[0]), compare, &sorting);
}
