/* SPDX-License-Identifier: MIT */
/* One row of a snapshot: an endpoint's counters, what the maps hold of it, what follows from both.
 */
#ifndef EZPROF_SNAPSHOT_ROW_H
#define EZPROF_SNAPSHOT_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "measurement.h"
#include "profile.h"

/* Whose rows are made, and how. */
struct ezprof_row_maker {
	const struct ezprof_measurement *measurement;
	const struct ezprof_target *target;
	const struct ezprof_target_object *object;
	uint32_t registry;
	uint64_t window_ns;
};

/* A row that holds the endpoint and nothing measured. */
void ezprof_row_start(const struct ezprof_row_maker *maker, const struct ezprof_endpoint *endpoint,
		      struct ezprof_row *row);

/* Process, maps, process. Errors: -ESTALE the endpoint was closed meanwhile; those of a reading. */
int ezprof_row_measure(const struct ezprof_row_maker *maker, struct ezprof_row *row);

/* The row of an endpoint whose process has ended: its counters as last read, and the maps. */
void ezprof_row_finish(const struct ezprof_row_maker *maker, const struct ezprof_endpoint *endpoint,
		       struct ezprof_row *row);

#endif
