/* SPDX-License-Identifier: MIT */
/* Comma separated values, RFC 4180: one row for each object, one column for each id. */
#include "view.h"

#include <string.h>

#define LINE_END "\r\n"

const char *ezprof_from_topic(const struct ezprof_model *model, const struct ezprof_object *object)
{
	if (object->from_several)
		return "";
	if (object->from != EZPROF_NO_OBJECT)
		return ezprof_label(&model->objects[object->from], EZPROF_LABEL_TOPIC);
	/* A channel object names its publisher's topic, whether or not that one is there. */
	if (object->parent != EZPROF_NO_OBJECT)
		return ezprof_label(&model->objects[object->parent], EZPROF_LABEL_TOPIC);
	return object->scope == EZPROF_CHAN ? ezprof_label(object, EZPROF_LABEL_TOPIC) : "";
}

static void put_text(struct ez_buffer *out, const char *text)
{
	if (!text[strcspn(text, "\",\r\n")]) {
		ez_buffer_append_text(out, text);
		return;
	}
	ez_buffer_append_text(out, "\"");
	for (; *text; text++) {
		if (*text == '"')
			ez_buffer_append_text(out, "\"");
		ez_buffer_append(out, text, 1);
	}
	ez_buffer_append_text(out, "\"");
}

/* The same id in two scopes is one column: is it the first metric with that id? */
static bool is_first(size_t metric)
{
	const char *id = ezprof_metric((enum ezprof_metric_id)metric)->id;
	size_t i;

	for (i = 0; i < metric; i++) {
		if (strcmp(ezprof_metric((enum ezprof_metric_id)i)->id, id) == 0)
			return false;
	}
	return true;
}

static void put_header(struct ez_buffer *out)
{
	size_t i;

	ez_buffer_append_text(out, "time_unix_s,scope,pid,publisher");
	for (i = 0; i < EZPROF_LABEL_COUNT; i++)
		ezprof_put(out, ",%s", ezprof_label_key((enum ezprof_label)i));
	for (i = 0; i < EZPROF_METRIC_COUNT; i++) {
		if (is_first(i))
			ezprof_put(out, ",%s", ezprof_metric((enum ezprof_metric_id)i)->id);
	}
	ez_buffer_append_text(out, LINE_END);
}

static void put_value(struct ez_buffer *out, const struct ezprof_object *object, const char *id)
{
	size_t first = ezprof_metric_first(object->scope), n = ezprof_metric_count(object->scope);
	size_t i;

	for (i = first; i < first + n; i++) {
		if (strcmp(ezprof_metric((enum ezprof_metric_id)i)->id, id) == 0)
			ezprof_number_put(out, ezprof_value(object, (enum ezprof_metric_id)i));
	}
}

static void put_row(struct ez_buffer *out, const struct ezprof_model *model,
		    const struct ezprof_object *object, const bool *firsts)
{
	size_t i;

	ezprof_number_put(out, ezprof_real(model->time_unix_s));
	ezprof_put(out, ",%s,", ezprof_scope_word(object->scope));
	if (object->pid)
		ezprof_put(out, "%lld", (long long)object->pid);
	ez_buffer_append_text(out, ",");
	put_text(out, ezprof_from_topic(model, object));
	for (i = 0; i < EZPROF_LABEL_COUNT; i++) {
		ez_buffer_append_text(out, ",");
		put_text(out, ezprof_label(object, (enum ezprof_label)i));
	}
	for (i = 0; i < EZPROF_METRIC_COUNT; i++) {
		if (!firsts[i])
			continue;
		ez_buffer_append_text(out, ",");
		put_value(out, object, ezprof_metric((enum ezprof_metric_id)i)->id);
	}
	ez_buffer_append_text(out, LINE_END);
}

void ezprof_view_csv(struct ez_buffer *out, const struct ezprof_model *model,
		     const struct ezprof_view_options *options)
{
	bool firsts[EZPROF_METRIC_COUNT];
	size_t i;

	for (i = 0; i < EZPROF_METRIC_COUNT; i++)
		firsts[i] = is_first(i);
	if (!options->continued)
		put_header(out);
	for (i = 0; i < model->n; i++)
		put_row(out, model, &model->objects[i], firsts);
}
