/* SPDX-License-Identifier: MIT */
#include "diff_view.h"
#include "json_writer.h"
#include "phrase.h"

#include <math.h>
#include <stdio.h>

#define SCHEMA "ezprof.diff/1"

/* What one looks at first: how fast, how long, how steady. */
static const enum ezprof_metric_id usual[] = {
	EZPROF_PUB_RATE_HZ,	   EZPROF_PUB_BYTES_PER_S,    EZPROF_PUB_BLOCKED_SHARE,
	EZPROF_PUB_GAP_P50_MS,	   EZPROF_PUB_GAP_LONGEST_MS, EZPROF_SUB_RATE_HZ,
	EZPROF_SUB_QUEUE_AVG_MS,   EZPROF_SUB_QUEUE_P99_MS,   EZPROF_SUB_PROCESS_AVG_MS,
	EZPROF_SUB_PROCESS_P50_MS, EZPROF_SUB_PROCESS_P99_MS, EZPROF_TASK_HOLD_MAX_MS,
};

static bool is_wanted(enum ezprof_metric_id metric, const struct ezprof_diff_options *options)
{
	size_t i;

	for (i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		if (usual[i] == metric)
			return true;
	}
	return options->all;
}

struct change {
	const struct ezprof_subject *subject; /* of the later run */
	enum ezprof_metric_id metric;
	struct ezprof_spread before, after;
};

/* Relative to the earlier median; infinite where that is 0. */
static double share_of(const struct change *change)
{
	double from = change->before.median, to = change->after.median;

	if (from > 0)
		return to / from - 1.0;
	return to > 0 ? INFINITY : 0.0;
}

static bool overlap(const struct change *change)
{
	return change->before.min <= change->after.max && change->after.min <= change->before.max;
}

typedef void (*change_fn)(void *user, const struct change *change);

static void each_change(const struct ezprof_samples *before, const struct ezprof_samples *after,
			const struct ezprof_diff_options *options, change_fn fn, void *user)
{
	size_t i, m;

	for (i = 0; i < after->n_subjects; i++) {
		const struct ezprof_subject *now = &after->subjects[i];
		const struct ezprof_subject *then = ezprof_samples_find(before, now->key);
		size_t first = ezprof_metric_first(now->scope);

		for (m = first; then && m < first + ezprof_metric_count(now->scope); m++) {
			struct change change = {.subject = now, .metric = (enum ezprof_metric_id)m};

			if (!is_wanted(change.metric, options))
				continue;
			change.before = ezprof_samples_spread(before, then, change.metric);
			change.after = ezprof_samples_spread(after, now, change.metric);
			if (change.before.n && change.after.n)
				fn(user, &change);
		}
	}
}

struct text_writer {
	struct ez_buffer *out;
	const struct ezprof_samples *after;
	double change_min;
	size_t shown;
};

static void say_spread(struct ez_buffer *out, const struct ezprof_spread *spread)
{
	ezprof_put(out, "%.4g", spread->median);
	if (spread->n > 1)
		ezprof_put(out, " [%.4g..%.4g]", spread->min, spread->max);
}

static void say_change(void *user, const struct change *change)
{
	struct text_writer *writer = user;
	const struct ezprof_metric *metric = ezprof_metric(change->metric);
	double share = share_of(change);

	if (fabs(share) < writer->change_min)
		return;
	writer->shown++;
	if (isinf(share))
		ez_buffer_append_text(writer->out, "     new  ");
	else
		ezprof_put(writer->out, "%+7.1f %% ", 100.0 * share);
	ezprof_put(writer->out, " %s.%s ", ezprof_scope_id(metric->scope), metric->id);
	say_spread(writer->out, &change->before);
	ez_buffer_append_text(writer->out, " -> ");
	say_spread(writer->out, &change->after);
	ez_buffer_append_text(writer->out, "  ");
	ezprof_say_subject(writer->out, writer->after, change->subject);
	if (change->before.n > 1 && change->after.n > 1 && overlap(change))
		ez_buffer_append_text(writer->out, "  (the spreads overlap)");
	ez_buffer_append_text(writer->out, "\n");
}

static void say_only(struct ez_buffer *out, const char *where, const struct ezprof_samples *here,
		     const struct ezprof_samples *there)
{
	size_t i;

	for (i = 0; i < here->n_subjects; i++) {
		const struct ezprof_subject *subject = &here->subjects[i];

		if ((subject->scope != EZPROF_PUB && subject->scope != EZPROF_SUB) ||
		    ezprof_samples_find(there, subject->key))
			continue;
		ezprof_put(out, "%s the %s ", where, ezprof_scope_word(subject->scope));
		ezprof_say_subject(out, here, subject);
		ez_buffer_append_text(out, "\n");
	}
}

void ezprof_diff_text(struct ez_buffer *out, const struct ezprof_samples *before,
		      const struct ezprof_samples *after, const struct ezprof_diff_options *options)
{
	struct text_writer writer = {.out = out, .after = after, .change_min = options->change_min};

	each_change(before, after, options, say_change, &writer);
	say_only(out, "only before:", before, after);
	say_only(out, "only after:", after, before);
	if (!writer.shown)
		ezprof_put(out, "no figure has changed by %.3g %% or more\n",
			   100.0 * options->change_min);
}

struct json_writer {
	struct ez_json json;
	const struct ezprof_samples *after;
};

static void put_spread(struct ez_json *json, const char *key, const struct ezprof_spread *spread)
{
	ez_json_key(json, key);
	ez_json_object_begin(json);
	ez_json_kv_f64(json, "median", spread->median);
	ez_json_kv_f64(json, "min", spread->min);
	ez_json_kv_f64(json, "max", spread->max);
	ez_json_kv_u64(json, "documents", spread->n);
	ez_json_object_end(json);
}

static void put_subject(struct ez_json *json, const struct ezprof_samples *samples,
			const struct ezprof_subject *subject)
{
	const struct ezprof_model *model;
	const struct ezprof_object *object = ezprof_samples_latest(samples, subject, &model);
	size_t i;

	ez_json_object_begin(json);
	ez_json_kv_str(json, "scope", ezprof_scope_word(subject->scope));
	for (i = 0; object && i < EZPROF_LABEL_COUNT; i++) {
		if (object->labels[i])
			ez_json_kv_str(json, ezprof_label_key((enum ezprof_label)i),
				       object->labels[i]);
	}
	if (object && object->pid)
		ez_json_kv_i64(json, "pid", object->pid);
	ez_json_object_end(json);
}

static void put_change(void *user, const struct change *change)
{
	struct json_writer *writer = user;
	const struct ezprof_metric *metric = ezprof_metric(change->metric);
	char name[128];

	snprintf(name, sizeof(name), "%s.%s", ezprof_scope_id(metric->scope), metric->id);
	ez_json_object_begin(&writer->json);
	ez_json_kv_str(&writer->json, "metric", name);
	ez_json_key(&writer->json, "of");
	put_subject(&writer->json, writer->after, change->subject);
	put_spread(&writer->json, "before", &change->before);
	put_spread(&writer->json, "after", &change->after);
	ez_json_kv_f64(&writer->json, "change_share", share_of(change));
	ez_json_kv_bool(&writer->json, "spreads_overlap", overlap(change));
	ez_json_object_end(&writer->json);
}

static void put_only(struct ez_json *json, const char *key, const struct ezprof_samples *here,
		     const struct ezprof_samples *there)
{
	size_t i;

	ez_json_key(json, key);
	ez_json_array_begin(json);
	for (i = 0; i < here->n_subjects; i++) {
		const struct ezprof_subject *subject = &here->subjects[i];

		if ((subject->scope == EZPROF_PUB || subject->scope == EZPROF_SUB) &&
		    !ezprof_samples_find(there, subject->key))
			put_subject(json, here, subject);
	}
	ez_json_array_end(json);
}

void ezprof_diff_json(struct ez_buffer *out, const struct ezprof_samples *before,
		      const struct ezprof_samples *after, const struct ezprof_diff_options *options)
{
	struct json_writer writer = {.after = after};

	ez_json_init(&writer.json, out);
	ez_json_object_begin(&writer.json);
	ez_json_kv_str(&writer.json, "schema", SCHEMA);
	ez_json_key(&writer.json, "changes");
	ez_json_array_begin(&writer.json);
	each_change(before, after, options, put_change, &writer);
	ez_json_array_end(&writer.json);
	put_only(&writer.json, "only_before", before, after);
	put_only(&writer.json, "only_after", after, before);
	ez_json_object_end(&writer.json);
	ez_buffer_append_text(out, "\n");
}
