/* SPDX-License-Identifier: MIT */
/*
 * Families in the order of importance, within one by names: what is cut off at the limit depends on
 * who is there, not on figures that come and go.
 */
#include "export_view.h"
#include "export_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of somebody's errors. */
#define ERRORS_MAX 256u

enum family {
#define FAMILY_VALUE(name, ...) FAMILY_##name,
	EZPROF_EXPORT_FAMILIES(FAMILY_VALUE)
#undef FAMILY_VALUE
};

static const struct {
	const char *name;
	enum ezprof_family_type type;
	const char *unit, *help;
} families[] = {
#define FAMILY_ROW(name, text, type, unit, help) \
	[FAMILY_##name] = {text, EZPROF_FAMILY_##type, unit, help},
	EZPROF_EXPORT_FAMILIES(FAMILY_ROW)
#undef FAMILY_ROW
};

static const enum ezprof_metric_id first_ones[] = {
#define FIRST_VALUE(name) EZPROF_##name,
	EZPROF_EXPORT_FIRST(FIRST_VALUE)
#undef FIRST_VALUE
};

struct page {
	struct ez_buffer *out;
	enum ezprof_dialect dialect;
	const struct ezprof_export_facts *facts;
	size_t places, dropped; /* series there could be so far; known ones without a place */
};

static void put_head(struct page *page, enum family family)
{
	ezprof_put_family(page->out, page->dialect, families[family].name, families[family].type,
			  families[family].unit, families[family].help);
}

static void put_sample(struct page *page, enum family family, const char *labels,
		       struct ezprof_number value)
{
	ezprof_put_sample_name(page->out, families[family].name, families[family].type);
	ez_buffer_append_text(page->out, labels);
	ez_buffer_append_text(page->out, " ");
	ezprof_number_put(page->out, value);
	ez_buffer_append_text(page->out, "\n");
}

static void put_only(struct page *page, enum family family, const char *labels,
		     struct ezprof_number value)
{
	put_head(page, family);
	put_sample(page, family, labels, value);
}

/* A place for one more series, or none. Places are kept for figures that aren't known now. */
static bool take_place(struct page *page)
{
	if (page->places >= page->facts->series_max)
		return false;
	page->places++;
	return true;
}

static bool is_exported(enum ezprof_metric_id id)
{
	enum ezprof_scope scope = ezprof_metric(id)->scope;

	switch (id) {
#define NEVER_CASE(name) case EZPROF_##name:
		EZPROF_EXPORT_NEVER(NEVER_CASE)
#undef NEVER_CASE
		return false;
	default:
		return scope != EZPROF_LINK && scope != EZPROF_CHAN;
	}
}

static void put_metric(struct page *page, enum ezprof_metric_id id)
{
	const struct ezprof_metric *metric = ezprof_metric(id);
	const struct ezprof_scrape_memory *memory = page->facts->memory;
	enum ezprof_family_type type = ezprof_family_type(metric->kind);
	size_t at = (size_t)(id - ezprof_metric_first(metric->scope));
	char name[EZPROF_OPENMETRICS_NAME_BYTES];
	bool headed = false;
	const char *unit;
	double factor;

	ezprof_metric_openmetrics(id, name, &unit, &factor);
	for (size_t i = memory->first[metric->scope]; i < memory->first[metric->scope + 1]; i++) {
		const struct ezprof_remembered *one = &memory->list[i];
		bool known = ezprof_known(one->values[at]);

		if (one->is_double || !take_place(page)) {
			page->dropped += known;
			continue;
		}
		if (!known)
			continue;
		if (!headed)
			ezprof_put_family(page->out, page->dialect, name, type, unit, metric->what);
		headed = true;
		ezprof_put_sample_name(page->out, name, type);
		ez_buffer_append_text(page->out, one->labels);
		ez_buffer_append_text(page->out, " ");
		ezprof_put_scaled(page->out, one->values[at], factor);
		ez_buffer_append_text(page->out, "\n");
	}
}

static void put_pid(struct ez_buffer *labels, int64_t pid)
{
	char text[24] = "";

	if (pid)
		snprintf(text, sizeof(text), "%lld", (long long)pid);
	ezprof_put_label(labels, "pid", text);
}

/* Closes and ends the text. */
static void end_labels(struct ez_buffer *labels)
{
	if (labels->len)
		ez_buffer_append_text(labels, "}");
	ez_buffer_append(labels, "", 1);
}

static void put_info(struct page *page, enum ezprof_scope scope, enum family family)
{
	const struct ezprof_scrape_memory *memory = page->facts->memory;
	bool headed = false;

	for (size_t i = memory->first[scope]; i < memory->first[scope + 1]; i++) {
		const struct ezprof_remembered *one = &memory->list[i];
		const struct ezprof_object *object = &page->facts->model->objects[one->object];
		size_t n = strlen(one->labels);
		struct ez_buffer labels;

		if (one->is_double || !take_place(page)) {
			page->dropped++;
			continue;
		}
		if (!headed)
			put_head(page, family);
		headed = true;
		ez_buffer_init(&labels, SIZE_MAX / 2);
		ez_buffer_append(&labels, one->labels, n ? n - 1 : 0);
		put_pid(&labels, object->pid);
		ezprof_put_label(&labels, "id", ezprof_label(object, EZPROF_LABEL_ID));
		if (scope != EZPROF_TASK)
			ezprof_put_label(&labels, "task", ezprof_label(object, EZPROF_LABEL_TASK));
		ezprof_put_label(&labels, "transport",
				 ezprof_label(object, EZPROF_LABEL_TRANSPORT));
		ezprof_put_label(&labels, "source", ezprof_label(object, EZPROF_LABEL_SOURCE));
		end_labels(&labels);
		if (labels.err)
			page->out->err = labels.err;
		else
			put_sample(page, family, (char *)labels.data, ezprof_whole(1));
		ez_buffer_free(&labels);
	}
}

static char *error_labels(const struct ezprof_model *model, const struct ezprof_mention *error)
{
	struct ez_buffer labels;
	size_t len;

	ez_buffer_init(&labels, SIZE_MAX / 2);
	ezprof_put_label(&labels, "who", error->what ? error->what : "");
	put_pid(&labels, error->pid);
	ezprof_put_label(&labels, "host", ezprof_mention_host(model, error));
	ezprof_put_label(&labels, "topic", error->topic ? error->topic : "");
	ezprof_put_label(&labels, "reason", error->reason ? error->reason : "");
	end_labels(&labels);
	return ez_buffer_steal(&labels, &len);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void put_error_counts(struct page *page, char *const *texts, size_t n)
{
	size_t i, same, series = 0;

	for (i = 0; i < n; i += same) {
		for (same = 1; i + same < n && strcmp(texts[i], texts[i + same]) == 0; same++)
			;
		if (series == ERRORS_MAX || !take_place(page)) {
			page->dropped++;
			continue;
		}
		if (!series++)
			put_head(page, FAMILY_PROCESS_ERRORS);
		put_sample(page, FAMILY_PROCESS_ERRORS, texts[i], ezprof_whole(same));
	}
}

static void put_errors(struct page *page)
{
	const struct ezprof_model *model = page->facts->model;
	char **texts = calloc(model->n_errors + 1, sizeof(*texts));
	size_t i, n = 0;

	for (i = 0; texts && i < model->n_errors; i++) {
		texts[n] = error_labels(model, &model->errors[i]);
		if (!texts[n++])
			page->out->err = -ENOMEM;
	}
	if (!texts)
		page->out->err = -ENOMEM;
	else if (!page->out->err) {
		qsort(texts, n, sizeof(*texts), compare_texts);
		put_error_counts(page, texts, n);
	}
	for (i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
}

static bool is_first(enum ezprof_metric_id id)
{
	size_t i;

	for (i = 0; i < sizeof(first_ones) / sizeof(first_ones[0]); i++) {
		if (first_ones[i] == id)
			return true;
	}
	return false;
}

static void put_graph(struct page *page)
{
	size_t i;

	put_errors(page);
	for (i = 0; i < sizeof(first_ones) / sizeof(first_ones[0]); i++)
		put_metric(page, first_ones[i]);
	put_info(page, EZPROF_PUB, FAMILY_PUBLISHER);
	put_info(page, EZPROF_SUB, FAMILY_SUBSCRIBER);
	put_info(page, EZPROF_TASK, FAMILY_TASK);
	put_info(page, EZPROF_AGENT, FAMILY_AGENT);
	for (i = 0; i < EZPROF_METRIC_COUNT; i++) {
		enum ezprof_metric_id id = (enum ezprof_metric_id)i;

		if (is_exported(id) && !is_first(id))
			put_metric(page, id);
	}
}

static void put_failure(struct page *page)
{
	char labels[64];

	snprintf(labels, sizeof(labels), "{reason=\"%s\"}", page->facts->failure);
	put_only(page, FAMILY_FAILURE, labels, ezprof_whole(1));
}

void ezprof_view_export(struct ez_buffer *out, const struct ezprof_export_facts *facts,
			enum ezprof_dialect dialect)
{
	struct page page = {.out = out, .dialect = dialect, .facts = facts};

	put_only(&page, FAMILY_BUILD, "{version=\"" EZPROF_VERSION "\"}", ezprof_whole(1));
	put_only(&page, FAMILY_UP, "", ezprof_whole(facts->model != NULL));
	put_only(&page, FAMILY_DURATION, "", ezprof_real(facts->duration_s));
	put_only(&page, FAMILY_SCRAPES, "", ezprof_whole(facts->scrapes));
	put_only(&page, FAMILY_SCRAPES_FAILED, "", ezprof_whole(facts->scrapes_failed));
	put_only(&page, FAMILY_CONNECTIONS_DROPPED, "", ezprof_whole(facts->connections_dropped));
	if (facts->model) {
		put_only(&page, FAMILY_AGE, "", ezprof_real(facts->age_s));
		put_graph(&page);
		put_only(&page, FAMILY_DROPPED, "", ezprof_whole(page.dropped));
	} else {
		put_failure(&page);
	}
	ezprof_put_end(out, dialect);
}
