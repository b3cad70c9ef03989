/* SPDX-License-Identifier: MIT */
/* The rows of a view of `ezprof top`: names, figures and states made of a document. Pure. */
#ifndef EZPROF_TOP_ROWS_H
#define EZPROF_TOP_ROWS_H

#include "finding.h"
#include "history.h"
#include "top_column.h"

struct ezprof_top_row {
	size_t object;	  /* subscriber or publisher; EZPROF_NO_OBJECT: a process */
	size_t publisher; /* of an edge; EZPROF_NO_OBJECT where it isn't known, or none */
	int64_t pid;
	char *key;	   /* what it is the same by in the next document */
	char *names[2];	   /* of its first and second NAME column, as they are; NULL = none */
	const char *via;   /* "" = not known; of the model */
	const char *host;  /* likewise */
	const char *state; /* a word; "" = nothing to say; constant */
	char mark;	   /* '!' problem, '-' it only waits, '>' advice, '~' don't trust it, ' ' */
	double severity;   /* what its state sorts by */
	double values[EZPROF_TOP_COLUMN_COUNT]; /* NAN = unknown; shares 0 to 1 */
	double buffers;				/* that HELD is of; NAN = unknown */
};

struct ezprof_top_rows {
	struct ezprof_top_row *list;
	size_t n, room, all; /* all: before the filter */
};

struct ezprof_top_order {
	enum ezprof_top_column_id column;
	bool reversed;
};

/*
 * The rows that the filter leaves ("" = all: it is looked for in names, pids, hosts, transports and
 * states, in either case), in order; equal ones by their names. The model must outlive them;
 * ezprof_top_rows_free() them in any case. -ENOMEM.
 */
int ezprof_top_rows_make(const struct ezprof_model *model, const struct ezprof_findings *findings,
			 enum ezprof_top_view_id view, struct ezprof_top_order order,
			 const char *filter, struct ezprof_top_rows *ret_rows);
void ezprof_top_rows_free(struct ezprof_top_rows *rows); /* bears a zeroed one */

/* A step of the history: the rates of all that is in any view. -ENOMEM. */
int ezprof_top_remember(const struct ezprof_model *model, struct ezprof_history *history);

#endif
