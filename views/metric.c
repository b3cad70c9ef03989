/* SPDX-License-Identifier: MIT */
#include "metric.h"
#include "nearest.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static const struct ezprof_metric metrics[] = {
#define METRIC_ROW(scope, name, id, path, unit, kind, what, from, to, without) \
	[EZPROF_##scope##_##name] = {EZPROF_##scope, id,   path, EZPROF_UNIT_##unit, \
				     EZPROF_##kind,  what, from, to, \
				     without},
	EZPROF_METRICS(METRIC_ROW)
#undef METRIC_ROW
};

static const struct {
	const char *id, *word, *what;
} scopes[] = {
#define SCOPE_ROW(name, id, word, what) {id, word, what},
	EZPROF_SCOPES(SCOPE_ROW)
#undef SCOPE_ROW
};

static const struct {
	const char *suffix;
	double factor;
	const char *base, *words, *clock;
} units[] = {
#define UNIT_ROW(name, suffix, factor, base, words, clock) {suffix, factor, base, words, clock},
	EZPROF_UNITS(UNIT_ROW)
#undef UNIT_ROW
};

static const enum ezprof_metric_id ends[] = {
#define SCOPE_END(name, ...) EZPROF_##name##_END,
	EZPROF_SCOPES(SCOPE_END)
#undef SCOPE_END
};

const struct ezprof_metric *ezprof_metric(enum ezprof_metric_id id)
{
	return &metrics[id];
}

enum ezprof_metric_id ezprof_metric_first(enum ezprof_scope scope)
{
	return scope ? ends[scope - 1] : (enum ezprof_metric_id)0;
}

size_t ezprof_metric_count(enum ezprof_scope scope)
{
	return (size_t)(ends[scope] - ezprof_metric_first(scope));
}

static void full_name(const struct ezprof_metric *metric, char *out, size_t out_bytes)
{
	snprintf(out, out_bytes, "%s.%s", scopes[metric->scope].id, metric->id);
}

int ezprof_metric_find(const char *text, size_t len, enum ezprof_metric_id *ret_id)
{
	char name[EZPROF_OPENMETRICS_NAME_BYTES];
	size_t i;

	for (i = 0; i < EZPROF_METRIC_COUNT; i++) {
		full_name(&metrics[i], name, sizeof(name));
		if (strlen(name) == len && memcmp(name, text, len) == 0) {
			*ret_id = (enum ezprof_metric_id)i;
			return 0;
		}
	}
	return -ENOENT;
}

const char *ezprof_metric_nearest(const char *text, char *out, size_t out_bytes)
{
	char name[EZPROF_OPENMETRICS_NAME_BYTES];
	unsigned int best = EZ_FAR;

	for (size_t i = 0; i < EZPROF_METRIC_COUNT; i++) {
		unsigned int far, far_id = ez_nearness(text, metrics[i].id);

		full_name(&metrics[i], name, sizeof(name));
		far = ez_nearness(text, name);
		far = far < far_id ? far : far_id;
		if (far < best) {
			best = far;
			snprintf(out, out_bytes, "%s", name);
		}
	}
	return best < EZ_FAR ? out : NULL;
}

const char *ezprof_scope_id(enum ezprof_scope scope)
{
	return scopes[scope].id;
}

const char *ezprof_scope_word(enum ezprof_scope scope)
{
	return scopes[scope].word;
}

const char *ezprof_scope_what(enum ezprof_scope scope)
{
	return scopes[scope].what;
}

const char *ezprof_unit_words(enum ezprof_unit unit)
{
	return units[unit].words;
}

const char *ezprof_unit_clock(enum ezprof_unit unit)
{
	return units[unit].clock;
}

/* Takes the ending ("_ms") off where the name has it, or is it ("bytes_per_s"). */
static size_t without_ending(const char *name, size_t len, const char *ending)
{
	size_t n = strlen(ending);

	if (n && len == n - 1 && memcmp(name, ending + 1, len) == 0)
		return 0;
	return n && len > n && memcmp(name + len - n, ending, n) == 0 ? len - n : len;
}

void ezprof_metric_openmetrics(enum ezprof_metric_id id, char out[EZPROF_OPENMETRICS_NAME_BYTES],
			       const char **ret_unit, double *ret_factor)
{
	const struct ezprof_metric *metric = &metrics[id];
	const char *base = units[metric->unit].base;
	size_t len = without_ending(metric->id, strlen(metric->id), units[metric->unit].suffix);

	if (metric->kind == EZPROF_COUNTER)
		len = without_ending(metric->id, len, "_total");
	/* What the unit alone names ("bytes_total") isn't named twice. */
	if (len == strlen(base) && memcmp(metric->id, base, len) == 0)
		base = "";
	snprintf(out, EZPROF_OPENMETRICS_NAME_BYTES, "ezprof_%s_%.*s%s%s",
		 scopes[metric->scope].word, (int)len, metric->id, *base && len ? "_" : "", base);
	*ret_unit = units[metric->unit].base;
	*ret_factor = units[metric->unit].factor;
}

bool ezprof_metric_meant(const char *text, enum ezprof_metric_id id)
{
	const struct ezprof_metric *metric = &metrics[id];
	char name[EZPROF_OPENMETRICS_NAME_BYTES];
	size_t len = without_ending(text, strlen(text), "_total");
	const char *unit;
	double factor;

	if (strcmp(text, metric->id) == 0 || strcmp(text, metric->path) == 0)
		return true;
	full_name(metric, name, sizeof(name));
	if (fnmatch(text, name, 0) == 0)
		return true;
	ezprof_metric_openmetrics(id, name, &unit, &factor);
	return strlen(name) == len && memcmp(name, text, len) == 0;
}
