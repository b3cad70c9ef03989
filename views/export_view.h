/* SPDX-License-Identifier: MIT */
/*
 * A graph for Prometheus: series that stay the same from one scrape to the next, and what the
 * exporter has to say of itself (export_list.h). Pure; a buffer's sticky error tells of a failure.
 */
#ifndef EZPROF_EXPORT_VIEW_H
#define EZPROF_EXPORT_VIEW_H

#include "exposition.h"
#include "scrape_memory.h"

struct ezprof_export_facts {
	const struct ezprof_model *model;	   /* NULL: there is none, for the reason below */
	const struct ezprof_scrape_memory *memory; /* of that model */
	const char *failure;			   /* a word: "timeout" */
	double duration_s;			   /* how long getting it took */
	double age_s;				   /* since it has come */
	uint64_t scrapes, scrapes_failed, connections_dropped;
	size_t series_max; /* of the graph; what exceeds it is counted */
};

void ezprof_view_export(struct ez_buffer *out, const struct ezprof_export_facts *facts,
			enum ezprof_dialect dialect);

#endif
