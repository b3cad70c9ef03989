/* SPDX-License-Identifier: MIT */
#include "top_page.h"
#include "gauge.h"
#include "phrase.h"
#include "top_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_COLUMNS 28
#define SPARK_COLUMNS 60u

static void put_line(struct ezprof_screen *screen, enum ezprof_style style, const char *text)
{
	ezprof_screen_put(screen, style, text);
	ezprof_screen_end_line(screen, false);
}

static const struct {
	const char *key, *what;
} keys[] = {
	{"1 2 3 4, Tab", "edges, publishers, subscribers, processes"},
	{"s S, left right", "sort by the next or previous column; r reverses"},
	{"/", "show only what has a text in its name, pid, host or state; Esc shows all"},
	{"up down, PgUp PgDn", "move; g G: first, last"},
	{"Enter", "all that is known of the selected row"},
	{"c", "all causes that were found, the weightiest first"},
	{"Space", "freeze: nothing is asked until it is pressed again"},
	{"w", "write this view to a file, with all rows and causes"},
	{"Ctrl-L", "paint anew"},
	{"q, Ctrl-C", "end"},
};

static void put_item(struct ezprof_screen *screen, const char *name, const char *what)
{
	ezprof_screen_print(screen, EZPROF_STYLE_PLAIN, "  %-18s ", name);
	ezprof_screen_wrap(screen, EZPROF_STYLE_PLAIN, what, 21, 0);
	ezprof_screen_end_line(screen, false);
}

void ezprof_top_page_help(struct ezprof_screen *screen)
{
	const char *word, *what;
	char head[64], mark;
	size_t i;

	put_line(screen, EZPROF_STYLE_TITLE, "Keys");
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		put_item(screen, keys[i].key, keys[i].what);
	put_line(screen, EZPROF_STYLE_TITLE, "States");
	put_item(screen, "! > - ~",
		 "a problem, advice, it only waits for somebody, don't rely on its figures");
	for (i = 0; ezprof_top_state_word(i, &word, &mark, &what); i++) {
		snprintf(head, sizeof(head), "%c %s", mark, word);
		put_item(screen, head, what);
	}
	put_line(screen, EZPROF_STYLE_TITLE,
		 "Columns (`ezprof explain` has the full definitions; - is not known)");
	for (i = 0; i < EZPROF_TOP_COLUMN_COUNT; i++) {
		const struct ezprof_top_column *column =
			ezprof_top_column((enum ezprof_top_column_id)i);

		put_item(screen, column->id, column->what);
	}
}

static void put_finding(const struct ezprof_finding *finding, unsigned int *number,
			struct ezprof_screen *screen)
{
	enum ezprof_style style = EZPROF_STYLE_NOTE;

	switch (ezprof_finding_weight(finding->kind)) {
	case EZPROF_PROBLEM:
		style = EZPROF_STYLE_PROBLEM;
		ezprof_screen_print(screen, style, "%2u. ", ++*number);
		break;
	case EZPROF_ADVICE:
		style = EZPROF_STYLE_ADVICE;
		ezprof_screen_put(screen, style, "  > ");
		break;
	default:
		ezprof_screen_put(screen, style, "  - ");
	}
	ezprof_screen_wrap(screen, style, finding->sentence ? finding->sentence : "", 4, 0);
	ezprof_screen_end_line(screen, false);
}

void ezprof_top_page_causes(const struct ezprof_findings *findings, bool notes,
			    struct ezprof_screen *screen)
{
	unsigned int number = 0;
	size_t i;

	for (i = 0; i < findings->n; i++) {
		if (notes || ezprof_finding_weight(findings->list[i].kind) != EZPROF_NOTE)
			put_finding(&findings->list[i], &number, screen);
	}
}

static bool concerns(const struct ezprof_finding *finding, size_t object)
{
	size_t i;

	if (object == EZPROF_NO_OBJECT)
		return false;
	for (i = 0; i < finding->n_waiting; i++) {
		if (finding->waiting[i] == object)
			return true;
	}
	return finding->subject == object;
}

static void put_its_causes(const struct ezprof_findings *findings, const struct ezprof_top_row *row,
			   struct ezprof_screen *screen)
{
	unsigned int number = 0;
	size_t i;

	for (i = 0; findings && i < findings->n; i++) {
		if (concerns(&findings->list[i], row->object) ||
		    concerns(&findings->list[i], row->publisher))
			put_finding(&findings->list[i], &number, screen);
	}
}

static void put_number(struct ezprof_screen *screen, struct ezprof_number number)
{
	if (number.kind == EZPROF_WHOLE)
		ezprof_screen_print(screen, EZPROF_STYLE_PLAIN, "%llu",
				    (unsigned long long)number.whole);
	else
		ezprof_screen_print(screen, EZPROF_STYLE_PLAIN, "%.6g", number.real);
}

static void put_label(struct ezprof_screen *screen, const char *key, const char *value)
{
	struct ez_buffer shown;

	if (!*value)
		return;
	ez_buffer_init(&shown, SIZE_MAX / 2);
	ezprof_say_name(&shown, value);
	ez_buffer_append(&shown, "", 1);
	ezprof_screen_print(screen, EZPROF_STYLE_FAINT, "  %-*s ", NAME_COLUMNS, key);
	if (!shown.err)
		ezprof_screen_wrap(screen, EZPROF_STYLE_PLAIN, (const char *)shown.data, 4, 0);
	ezprof_screen_end_line(screen, false);
	ez_buffer_free(&shown);
}

/* Labels and known figures of an object, each under the name that `explain` knows. */
static void put_object(const struct ezprof_model *model, size_t index, struct ezprof_screen *screen)
{
	const struct ezprof_object *object = &model->objects[index];
	size_t first = ezprof_metric_first(object->scope), i;
	size_t n = ezprof_metric_count(object->scope), unknown = 0;

	put_line(screen, EZPROF_STYLE_TITLE, ezprof_scope_word(object->scope));
	for (i = 0; i < EZPROF_LABEL_COUNT; i++)
		put_label(screen, ezprof_label_key((enum ezprof_label)i),
			  ezprof_label(object, (enum ezprof_label)i));
	if (object->pid) {
		ezprof_screen_print(screen, EZPROF_STYLE_PLAIN, "  %-*s %lld", NAME_COLUMNS, "pid",
				    (long long)object->pid);
		ezprof_screen_end_line(screen, false);
	}
	for (i = 0; i < n; i++) {
		const struct ezprof_metric *metric =
			ezprof_metric((enum ezprof_metric_id)(first + i));
		char name[64];

		if (!ezprof_known(object->values[i])) {
			unknown++;
			continue;
		}
		snprintf(name, sizeof(name), "%s.%s", ezprof_scope_id(object->scope), metric->id);
		ezprof_screen_print(screen, EZPROF_STYLE_PLAIN, "  %-*s ", NAME_COLUMNS, name);
		put_number(screen, object->values[i]);
		ezprof_screen_end_line(screen, false);
	}
	if (unknown) {
		ezprof_screen_print(screen, EZPROF_STYLE_FAINT, "  %zu figures are not known",
				    unknown);
		ezprof_screen_end_line(screen, false);
	}
}

static bool is_of_process(const struct ezprof_model *model, const struct ezprof_object *object,
			  const struct ezprof_top_row *row)
{
	const char *host = ezprof_label(object, EZPROF_LABEL_HOST);

	return object->pid == row->pid && (!*host || strcmp(host, row->host) == 0 || !model->host);
}

static void put_trend(const struct ezprof_history *history, const char *key, bool ascii,
		      struct ezprof_screen *screen)
{
	float samples[EZPROF_HISTORY_SAMPLES], least = INFINITY, most = 0;
	size_t n = history ? ezprof_history_get(history, key, samples) : 0, i;
	char from[EZPROF_FIGURE_BYTES], to[EZPROF_FIGURE_BYTES];
	struct ez_buffer out;

	for (i = 0; i < n; i++) {
		least = samples[i] < least ? samples[i] : least;
		most = samples[i] > most ? samples[i] : most;
	}
	if (isinf(least))
		return;
	ez_buffer_init(&out, SIZE_MAX / 2);
	ezprof_gauge_spark(&out, samples, n, (unsigned int)(n < SPARK_COLUMNS ? n : SPARK_COLUMNS),
			   ascii);
	ez_buffer_append(&out, "", 1);
	ezprof_gauge_figure(from, (double)least);
	ezprof_gauge_figure(to, (double)most);
	ezprof_screen_print(screen, EZPROF_STYLE_FAINT, "  messages/s, %s to %s: ", from, to);
	if (!out.err)
		ezprof_screen_put(screen, EZPROF_STYLE_GAUGE, (const char *)out.data);
	ezprof_screen_end_line(screen, false);
	ez_buffer_free(&out);
}

/* The link that leads to a subscriber's channel: how long its process keeps buffers. */
static size_t link_of(const struct ezprof_model *model, const struct ezprof_object *subscriber)
{
	const char *channel = ezprof_label(subscriber, EZPROF_LABEL_CHANNEL_ID);
	size_t i;

	for (i = model->first[EZPROF_LINK]; *channel && i < model->first[EZPROF_LINK + 1]; i++) {
		if (strcmp(ezprof_label(&model->objects[i], EZPROF_LABEL_CHANNEL_ID), channel) == 0)
			return i;
	}
	return EZPROF_NO_OBJECT;
}

void ezprof_top_page_details(const struct ezprof_model *model,
			     const struct ezprof_findings *findings,
			     const struct ezprof_history *history, bool ascii,
			     const struct ezprof_top_row *row, struct ezprof_screen *screen)
{
	const struct ezprof_object *object;
	size_t i;

	if (*row->state) {
		ezprof_screen_print(screen, EZPROF_STYLE_TITLE, "%c %s", row->mark, row->state);
		ezprof_screen_end_line(screen, false);
	}
	put_its_causes(findings, row, screen);
	put_trend(history, row->key, ascii, screen);
	if (row->object == EZPROF_NO_OBJECT) {
		ezprof_screen_print(screen, EZPROF_STYLE_TITLE, "process %lld",
				    (long long)row->pid);
		ezprof_screen_end_line(screen, false);
		put_label(screen, "process", row->names[0] ? row->names[0] : "");
		put_label(screen, "host", row->host);
		for (i = model->first[EZPROF_PUB]; i < model->first[EZPROF_AGENT]; i++) {
			object = &model->objects[i];
			if (object->scope != EZPROF_LINK && object->scope != EZPROF_CHAN &&
			    is_of_process(model, object, row))
				put_object(model, i, screen);
		}
		return;
	}
	object = &model->objects[row->object];
	put_object(model, row->object, screen);
	if (object->scope != EZPROF_SUB)
		return;
	i = link_of(model, object);
	if (i != EZPROF_NO_OBJECT)
		put_object(model, i, screen);
	if (object->from != EZPROF_NO_OBJECT)
		put_object(model, object->from, screen);
}
