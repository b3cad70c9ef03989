/* SPDX-License-Identifier: MIT */
#include "why_print.h"
#include "json_writer.h"
#include "text_width.h"

#include <stdio.h>
#include <string.h>

#define SCHEMA "ezprof.why/1"
#define COLUMNS_MIN 20u

/* Words of a sentence behind a head of so many columns, which further lines are indented by. */
static void put_wrapped(struct ez_buffer *out, const char *text, unsigned int head,
			unsigned int columns)
{
	unsigned int at = head;
	size_t bytes;

	while (*text) {
		unsigned int width;

		bytes = strcspn(text, " ");
		width = ezprof_text_columns(text, bytes);

		if (columns >= COLUMNS_MIN && at > head && at + 1 + width > columns) {
			ezprof_put(out, "\n%*s", (int)head, "");
			at = head;
		} else if (at > head) {
			ez_buffer_append_text(out, " ");
			at++;
		}
		ez_buffer_append(out, text, bytes);
		at += width;
		text += bytes;
		while (*text == ' ')
			text++;
	}
	ez_buffer_append_text(out, "\n");
}

void ezprof_why_text(struct ez_buffer *out, const struct ezprof_findings *findings,
		     unsigned int columns)
{
	unsigned int number = 0;
	char head[32];
	size_t i;

	for (i = 0; i < findings->n; i++) {
		const struct ezprof_finding *finding = &findings->list[i];

		switch (ezprof_finding_weight(finding->kind)) {
		case EZPROF_PROBLEM:
			snprintf(head, sizeof(head), "%2u. ", ++number);
			break;
		case EZPROF_ADVICE:
			snprintf(head, sizeof(head), "  > ");
			break;
		default:
			snprintf(head, sizeof(head), "  - ");
		}
		ez_buffer_append_text(out, head);
		put_wrapped(out, finding->sentence ? finding->sentence : "",
			    (unsigned int)strlen(head), columns);
	}
}

static void put_object(struct ez_json *json, const struct ezprof_model *model, size_t index)
{
	const struct ezprof_object *object;
	size_t i;

	if (index == EZPROF_NO_OBJECT) {
		ez_json_null(json);
		return;
	}
	object = &model->objects[index];
	ez_json_object_begin(json);
	ez_json_kv_str(json, "scope", ezprof_scope_word(object->scope));
	for (i = 0; i < EZPROF_LABEL_COUNT; i++) {
		if (object->labels[i])
			ez_json_kv_str(json, ezprof_label_key((enum ezprof_label)i),
				       object->labels[i]);
	}
	if (object->pid)
		ez_json_kv_i64(json, "pid", object->pid);
	ez_json_object_end(json);
}

static void put_number(struct ez_json *json, struct ezprof_number number)
{
	if (number.kind == EZPROF_WHOLE)
		ez_json_u64(json, number.whole);
	else if (number.kind == EZPROF_REAL)
		ez_json_f64(json, number.real);
	else
		ez_json_null(json);
}

static void put_evidence(struct ez_json *json, const struct ezprof_model *model,
			 const struct ezprof_evidence *evidence)
{
	const struct ezprof_object *object = &model->objects[evidence->object];
	const struct ezprof_metric *metric = ezprof_metric(evidence->metric);
	char name[128];

	snprintf(name, sizeof(name), "%s.%s", ezprof_scope_id(metric->scope), metric->id);
	ez_json_object_begin(json);
	ez_json_kv_str(json, "metric", name);
	ez_json_key(json, "value");
	put_number(json, ezprof_value(object, evidence->metric));
	ez_json_key(json, "of");
	put_object(json, model, evidence->object);
	ez_json_object_end(json);
}

static void put_bound(struct ez_json *json, const char *key, double hz)
{
	ez_json_key(json, key);
	if (hz >= 0)
		ez_json_f64(json, hz);
	else
		ez_json_null(json);
}

static void put_finding(struct ez_json *json, const struct ezprof_model *model,
			const struct ezprof_finding *finding, size_t rank)
{
	size_t i;

	ez_json_object_begin(json);
	ez_json_kv_u64(json, "rank", rank);
	ez_json_kv_str(json, "kind", ezprof_finding_id(finding->kind));
	ez_json_kv_str(json, "weight", ezprof_weight_word(ezprof_finding_weight(finding->kind)));
	ez_json_kv_str(json, "sentence", finding->sentence);
	ez_json_key(json, "subject");
	put_object(json, model, finding->subject);
	ez_json_key(json, "waiting");
	ez_json_array_begin(json);
	for (i = 0; i < finding->n_waiting; i++)
		put_object(json, model, finding->waiting[i]);
	ez_json_array_end(json);
	put_bound(json, "bound_hz", finding->bound_hz);
	put_bound(json, "bound_without_hz", finding->bound_without_hz);
	ez_json_key(json, "evidence");
	ez_json_array_begin(json);
	for (i = 0; i < finding->n_evidence; i++)
		put_evidence(json, model, &finding->evidence[i]);
	ez_json_array_end(json);
	ez_json_object_end(json);
}

void ezprof_why_json(struct ez_buffer *out, const struct ezprof_model *model,
		     const struct ezprof_findings *findings)
{
	struct ez_json json;
	size_t i;

	ez_json_init(&json, out);
	ez_json_object_begin(&json);
	ez_json_kv_str(&json, "schema", SCHEMA);
	ez_json_kv_str(&json, "tool_version", EZPROF_VERSION);
	ez_json_kv_str(&json, "host", model->host);
	ez_json_kv_u64(&json, "time_ns", model->time_ns);
	ez_json_kv_f64(&json, "time_unix_s", model->time_unix_s);
	ez_json_key(&json, "window_s");
	put_number(&json, ezprof_value(&model->objects[0], EZPROF_GRAPH_WINDOW_S));
	ez_json_key(&json, "findings");
	ez_json_array_begin(&json);
	for (i = 0; i < findings->n; i++)
		put_finding(&json, model, &findings->list[i], i + 1);
	ez_json_array_end(&json);
	ez_json_object_end(&json);
	ez_buffer_append_text(out, "\n");
}
