/* SPDX-License-Identifier: MIT */
/* OpenMetrics text: a family for each metric that has a value, base units, no time stamps. */
#include "exposition.h"
#include "view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The labels of each object as text, in braces; NULL = another object has the same. */
struct series {
	char **labels;
	size_t dropped, written, max;
};

/* Ids keep apart what has the same names; what a scope doesn't have is left out. */
static char *labels_of(const struct ezprof_model *model, const struct ezprof_object *object)
{
	struct ez_buffer out;
	char pid[24] = "";
	size_t len;

	ez_buffer_init(&out, SIZE_MAX / 2);
	if (object->pid)
		snprintf(pid, sizeof(pid), "%lld", (long long)object->pid);
	ezprof_put_label(&out, "topic", ezprof_label(object, EZPROF_LABEL_TOPIC));
	ezprof_put_label(&out, "publisher", ezprof_from_topic(model, object));
	ezprof_put_label(&out, "handle", ezprof_label(object, EZPROF_LABEL_HANDLE));
	ezprof_put_label(&out, "task", ezprof_label(object, EZPROF_LABEL_TASK));
	ezprof_put_label(&out, "pid", pid);
	ezprof_put_label(&out, "host", ezprof_label(object, EZPROF_LABEL_HOST));
	ezprof_put_label(&out, "transport", ezprof_label(object, EZPROF_LABEL_TRANSPORT));
	ezprof_put_label(&out, "id", ezprof_label(object, EZPROF_LABEL_ID));
	ezprof_put_label(&out, "channel", ezprof_label(object, EZPROF_LABEL_CHANNEL_ID));
	if (out.len)
		ez_buffer_append_text(&out, "}");
	ez_buffer_append(&out, "", 1);
	return ez_buffer_steal(&out, &len);
}

struct entry {
	enum ezprof_scope scope;
	size_t index;
	const char *labels;
};

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int by_labels;

	if (x->scope != y->scope)
		return x->scope < y->scope ? -1 : 1;
	by_labels = strcmp(x->labels, y->labels);
	return by_labels ? by_labels : x->index < y->index ? -1 : x->index > y->index;
}

/* Two series with the same labels make the whole text invalid: the first one stays. */
static void drop_twins(struct series *series, struct entry *entries, size_t n)
{
	size_t i;

	qsort(entries, n, sizeof(*entries), compare);
	for (i = n; i-- > 1;) {
		if (entries[i].scope != entries[i - 1].scope ||
		    strcmp(entries[i].labels, entries[i - 1].labels) != 0)
			continue;
		free(series->labels[entries[i].index]);
		series->labels[entries[i].index] = NULL;
		series->dropped++;
	}
}

static int make_labels(struct series *series, const struct ezprof_model *model)
{
	struct entry *entries = calloc(model->n, sizeof(*entries));
	int err = 0;
	size_t i;

	series->labels = calloc(model->n, sizeof(series->labels[0]));
	if (!entries || !series->labels)
		err = -ENOMEM;
	for (i = 0; i < model->n && !err; i++) {
		series->labels[i] = labels_of(model, &model->objects[i]);
		if (!series->labels[i])
			err = -ENOMEM;
		entries[i] = (struct entry){model->objects[i].scope, i, series->labels[i]};
	}
	if (!err)
		drop_twins(series, entries, model->n);
	free(entries);
	return err;
}

static void free_labels(struct series *series, size_t n)
{
	size_t i;

	for (i = 0; series->labels && i < n; i++)
		free(series->labels[i]);
	free(series->labels);
}

static void put_family(struct ez_buffer *out, const struct ezprof_model *model,
		       struct series *series, enum ezprof_metric_id id)
{
	const struct ezprof_metric *metric = ezprof_metric(id);
	enum ezprof_family_type type = ezprof_family_type(metric->kind);
	char name[EZPROF_OPENMETRICS_NAME_BYTES];
	bool headed = false;
	const char *unit;
	double factor;

	ezprof_metric_openmetrics(id, name, &unit, &factor);
	for (size_t i = model->first[metric->scope]; i < model->first[metric->scope + 1]; i++) {
		struct ezprof_number number = ezprof_value(&model->objects[i], id);

		if (!series->labels[i] || !ezprof_known(number))
			continue;
		if (series->max && series->written >= series->max) {
			series->dropped++;
			continue;
		}
		if (!headed)
			ezprof_put_family(out, EZPROF_OPENMETRICS, name, type, unit, metric->what);
		headed = true;
		series->written++;
		ezprof_put_sample_name(out, name, type);
		ez_buffer_append_text(out, series->labels[i]);
		ez_buffer_append_text(out, " ");
		ezprof_put_scaled(out, number, factor);
		ez_buffer_append_text(out, "\n");
	}
}

void ezprof_view_openmetrics(struct ez_buffer *out, const struct ezprof_model *model,
			     const struct ezprof_view_options *options)
{
	struct series series = {.max = options->series_max};
	int err = make_labels(&series, model);
	size_t i;

	if (err) {
		if (!out->err)
			out->err = err;
		free_labels(&series, model->n);
		return;
	}
	for (i = 0; i < EZPROF_METRIC_COUNT; i++)
		put_family(out, model, &series, (enum ezprof_metric_id)i);
	ezprof_put(out,
		   "# TYPE ezprof_dropped_series gauge\n"
		   "# HELP ezprof_dropped_series series left out: too many, or two of one name\n"
		   "ezprof_dropped_series %zu\n",
		   series.dropped);
	ezprof_put_end(out, EZPROF_OPENMETRICS);
	free_labels(&series, model->n);
}
