/* SPDX-License-Identifier: MIT */
/*
 * Which names and figures of publishers, subscribers and tasks a table shows, in a terminal and
 * elsewhere. Constant; any thread.
 */
#ifndef EZPROF_COLUMNS_H
#define EZPROF_COLUMNS_H

#include "model.h"

#define EZPROF_CELL_BYTES 32
#define EZPROF_COLUMN_METRICS_MAX 12
#define EZPROF_COLUMN_NAMES_MAX 2

struct ezprof_columns {
	enum ezprof_scope scope;
	const char *names[EZPROF_COLUMN_NAMES_MAX]; /* their headings; the second may be NULL */
	/* Appends the name of that column as the document has it. */
	void (*name)(struct ez_buffer *out, const struct ezprof_model *model,
		     const struct ezprof_object *object, size_t which);
	const enum ezprof_metric_id *metrics;
	size_t n_metrics;
	bool with_transport;
};

/* One for each scope that is shown, by numbers from 0 on; NULL behind the last. */
const struct ezprof_columns *ezprof_columns(size_t number);

/* Three digits of a real number, a whole one as it is, "-" for what isn't known. */
void ezprof_cell_text(char out[EZPROF_CELL_BYTES], struct ezprof_number number);

#endif
