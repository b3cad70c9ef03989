/* SPDX-License-Identifier: MIT */
/* Rows of benchmarks written in C, as run.py reads them; and medians. */
#ifndef EZ_BENCH_ROW_H
#define EZ_BENCH_ROW_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline void bench_row(const char *name, double value, const char *unit, const char *bar,
			     bool holds)
{
	printf("{\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"bar\": \"%s\", "
	       "\"holds\": %s}\n",
	       name, value, unit, bar, holds ? "true" : "false");
}

static inline void bench_row_at_most(const char *name, double value, const char *unit, double bar)
{
	char text[32];

	snprintf(text, sizeof(text), "<= %g", bar);
	bench_row(name, value, unit, text, value <= bar);
}

static inline int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the values. */
static inline double bench_median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), bench_compare);
	return values[count / 2];
}

#endif
