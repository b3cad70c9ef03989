/* SPDX-License-Identifier: MIT */
/*
 * The text that Prometheus and its kin read, in two dialects: OpenMetrics 1.0, and the older
 * text/plain 0.0.4 (no units, no info metrics, a counter's type stands under its full name, no
 * end mark). Pure; a buffer's sticky error tells of a failure.
 */
#ifndef EZPROF_EXPOSITION_H
#define EZPROF_EXPOSITION_H

#include <stdbool.h>

#include "buffer.h"
#include "metric.h"
#include "number.h"

enum ezprof_dialect { EZPROF_OPENMETRICS, EZPROF_TEXT_0_0_4 };

/* A value in double quotes, or a help text: line breaks, quotes and backslashes escaped. */
void ezprof_put_escaped(struct ez_buffer *out, const char *text);

/* `{name="value"` or `,name="value"` behind what labels has; nothing where the value is empty. */
void ezprof_put_label(struct ez_buffer *labels, const char *name, const char *value);

/* The head of a family; name: without _total and _info; unit: "" = none. */
enum ezprof_family_type { EZPROF_FAMILY_GAUGE, EZPROF_FAMILY_COUNTER, EZPROF_FAMILY_INFO };
void ezprof_put_family(struct ez_buffer *out, enum ezprof_dialect dialect, const char *name,
		       enum ezprof_family_type type, const char *unit, const char *help);

/* Begins a sample: the name with its ending. Labels, a blank, value and line break follow. */
void ezprof_put_sample_name(struct ez_buffer *out, const char *name, enum ezprof_family_type type);

/* Whole numbers stay exact where the factor is 1. */
void ezprof_put_scaled(struct ez_buffer *out, struct ezprof_number number, double factor);

/* The end mark, where the dialect has one. */
void ezprof_put_end(struct ez_buffer *out, enum ezprof_dialect dialect);

static inline enum ezprof_family_type ezprof_family_type(enum ezprof_metric_kind kind)
{
	return kind == EZPROF_COUNTER ? EZPROF_FAMILY_COUNTER : EZPROF_FAMILY_GAUGE;
}

#endif
