/* SPDX-License-Identifier: MIT */
/*
 * A document in one of the formats of `ezprof profile`. All give the same figures: csv, jsonl and
 * OpenMetrics exactly, the table to three digits. Pure; a buffer's sticky error tells of a failure.
 */
#ifndef EZPROF_VIEW_H
#define EZPROF_VIEW_H

#include "model.h"

struct ezprof_view_options {
	/* table: what fits into lines: names are cut, or rows become lines; 0 = all does */
	unsigned int columns;
	bool continued;	   /* csv: without the header, which an earlier one had */
	size_t series_max; /* OpenMetrics: what exceeds it is counted; 0 = no limit */
};

void ezprof_view_table(struct ez_buffer *out, const struct ezprof_model *model,
		       const struct ezprof_view_options *options);

/* A row for each object, RFC 4180; the columns of all scopes, empty where unknown. */
void ezprof_view_csv(struct ez_buffer *out, const struct ezprof_model *model,
		     const struct ezprof_view_options *options);

/* OpenMetrics text, with its "# EOF". */
void ezprof_view_openmetrics(struct ez_buffer *out, const struct ezprof_model *model,
			     const struct ezprof_view_options *options);

/*
 * The document's objects a line each, their `type` first: meta, publisher, channel, subscriber,
 * agent, error, summary. -EPROTO: it is no document.
 */
int ezprof_view_jsonl(struct ez_buffer *out, const char *text, size_t n);

/* The topic of the publisher behind a link, channel or subscriber; "" if it isn't known. */
const char *ezprof_from_topic(const struct ezprof_model *model, const struct ezprof_object *object);

#endif
