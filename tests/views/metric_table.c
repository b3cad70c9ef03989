/* SPDX-License-Identifier: MIT */
/* metric_table: prints docs/metrics.md, made of views/metric_list.h. */
#include <stdio.h>

#include "metric.h"

static void put_interval(const struct ezprof_metric *metric)
{
	if (*metric->from)
		printf("; from: %s; to: %s", metric->from, metric->to);
	else if (*metric->to)
		printf("; to: %s", metric->to);
	if (*metric->without)
		printf("; without: %s", metric->without);
}

static void put_scope(enum ezprof_scope scope)
{
	size_t first = ezprof_metric_first(scope), n = ezprof_metric_count(scope), i;

	printf("\n## %s: %s\n\n| metric | unit | clock | in the document | in OpenMetrics | "
	       "meaning |\n"
	       "|---|---|---|---|---|---|\n",
	       ezprof_scope_id(scope), ezprof_scope_what(scope));
	for (i = first; i < first + n; i++) {
		const struct ezprof_metric *metric = ezprof_metric((enum ezprof_metric_id)i);
		char name[EZPROF_OPENMETRICS_NAME_BYTES];
		const char *unit;
		double factor;

		ezprof_metric_openmetrics((enum ezprof_metric_id)i, name, &unit, &factor);
		printf("| `%s.%s` | %s | %s | `%s` | `%s%s` | %s", ezprof_scope_id(scope),
		       metric->id, ezprof_unit_words(metric->unit), ezprof_unit_clock(metric->unit),
		       metric->path, name, metric->kind == EZPROF_COUNTER ? "_total" : "",
		       metric->what);
		put_interval(metric);
		printf(" |\n");
	}
}

int main(void)
{
	puts("# Metrics\n\n"
	     "Every figure that the views show, made of `views/metric_list.h` by\n"
	     "`build/tests/bin/metric_table > docs/metrics.md`, which a test checks. `ezprof "
	     "explain` prints\n"
	     "the same. An interval belongs to the window in which it ends. What is not "
	     "known\n"
	     "is absent or empty, never 0.");
	for (enum ezprof_scope s = EZPROF_GRAPH; s < EZPROF_SCOPE_COUNT; s++)
		put_scope(s);
	return 0;
}
