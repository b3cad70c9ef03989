/* SPDX-License-Identifier: MIT */
/* The list of metrics as a table to look things up in. Constant; any thread. */
#ifndef EZPROF_METRIC_H
#define EZPROF_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "metric_list.h"

enum ezprof_scope {
#define EZPROF_SCOPE_VALUE(name, id, word, what) EZPROF_##name,
	EZPROF_SCOPES(EZPROF_SCOPE_VALUE)
#undef EZPROF_SCOPE_VALUE
		EZPROF_SCOPE_COUNT
};

enum ezprof_unit {
#define EZPROF_UNIT_VALUE(name, ...) EZPROF_UNIT_##name,
	EZPROF_UNITS(EZPROF_UNIT_VALUE)
#undef EZPROF_UNIT_VALUE
};

enum ezprof_metric_kind { EZPROF_GAUGE, EZPROF_COUNTER };

/* clang-format off */
/* One after the other by scopes; EZPROF_PUB_END is the one behind PUB's last. */
enum ezprof_metric_id {
#define EZPROF_METRIC_VALUE(scope, name, ...) EZPROF_##scope##_##name,
#define EZPROF_METRICS_OF(name, ...) \
	EZPROF_##name##_METRICS(EZPROF_METRIC_VALUE) \
	EZPROF_##name##_END, EZPROF_##name##_LAST = EZPROF_##name##_END - 1,
	EZPROF_SCOPES(EZPROF_METRICS_OF)
#undef EZPROF_METRICS_OF
#undef EZPROF_METRIC_VALUE
	EZPROF_METRIC_COUNT
};
/* clang-format on */

struct ezprof_metric {
	enum ezprof_scope scope;
	const char *id;	  /* "process_p99_ms" */
	const char *path; /* "processing.p99_ms" */
	enum ezprof_unit unit;
	enum ezprof_metric_kind kind;
	const char *what, *from, *to, *without; /* "" = nothing to say */
};

const struct ezprof_metric *ezprof_metric(enum ezprof_metric_id id);

/* The first metric of a scope, and how many it has. */
enum ezprof_metric_id ezprof_metric_first(enum ezprof_scope scope);
size_t ezprof_metric_count(enum ezprof_scope scope);

/* "sub.process_p99_ms", `len` bytes of text: 0, or -ENOENT. */
int ezprof_metric_find(const char *text, size_t len, enum ezprof_metric_id *ret_id);

/*
 * Whether the text means that metric: its name ("sub.queue_avg_ms", also as a pattern, "sub.*"),
 * the part behind the point, its path in the document, or its name in OpenMetrics.
 */
bool ezprof_metric_meant(const char *text, enum ezprof_metric_id id);

/* The known name ("sub.queue_avg_ms") that somebody who typed this meant; NULL: none is near. */
const char *ezprof_metric_nearest(const char *text, char *out, size_t out_bytes);

const char *ezprof_scope_id(enum ezprof_scope scope);	/* "sub" */
const char *ezprof_scope_word(enum ezprof_scope scope); /* "subscriber" */
const char *ezprof_scope_what(enum ezprof_scope scope);
const char *ezprof_unit_words(enum ezprof_unit unit); /* "milliseconds" */
const char *ezprof_unit_clock(enum ezprof_unit unit); /* what it is measured by; "" = no time */

#define EZPROF_OPENMETRICS_NAME_BYTES 96

/*
 * The metric's name in OpenMetrics, without a counter's _total
 * ("ezprof_subscriber_process_p99_seconds"), its base unit ("seconds" or "") and the factor to it.
 */
void ezprof_metric_openmetrics(enum ezprof_metric_id id, char out[EZPROF_OPENMETRICS_NAME_BYTES],
			       const char **ret_unit, double *ret_factor);

#endif
