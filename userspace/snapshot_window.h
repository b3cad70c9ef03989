/* SPDX-License-Identifier: MIT */
/*
 * The window path's part of a snapshot. All pages are read first, then the maps, then everything is
 * folded (window_reader.h says why): so rows are added while processes are read, and filled at the
 * end. One thread.
 */
#ifndef EZPROF_SNAPSHOT_WINDOW_H
#define EZPROF_SNAPSHOT_WINDOW_H

#include <stddef.h>

#include "measurement.h"
#include "profile.h"
#include "snapshot_row.h"

struct ezprof_window_rows;

/* NULL without memory. */
struct ezprof_window_rows *ezprof_window_rows_new(const struct ezprof_measurement *measurement);
void ezprof_window_rows_free(struct ezprof_window_rows *rows); /* NULL is fine */

/* Forgets what was added before. */
void ezprof_window_rows_clear(struct ezprof_window_rows *rows);

/*
 * Reads the page of row number `place` of the profile, an endpoint that has just been read. Errors:
 * -ENOMEM.
 */
int ezprof_window_rows_add(struct ezprof_window_rows *rows, const struct ezprof_row_maker *maker,
			   const struct ezprof_row *row, size_t place);

/* Fills in windows and losses of all rows that were added. Errors: those of the maps. */
int ezprof_window_rows_fold(struct ezprof_window_rows *rows, struct ezprof_row *profile_rows);

/* The same at once for an endpoint whose process has ended: only the maps know of it. */
void ezprof_window_row_finish(const struct ezprof_row_maker *maker, struct ezprof_row *row);

#endif
