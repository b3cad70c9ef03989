/* SPDX-License-Identifier: MIT */
/* The head of the page: when and where it was, and what it comes to. */
#include "columns.h"
#include "html_part.h"
#include "phrase.h"

#include <string.h>
#include <time.h>

#define UNIX_S_MAX 253402300799.0 /* the last second of the year 9999 */

static double sum(const struct ezprof_page *page, enum ezprof_metric_id metric, size_t *ret_known)
{
	const struct ezprof_model *model = page->in->model;
	enum ezprof_scope scope = ezprof_metric(metric)->scope;
	double total = 0.0;

	*ret_known = 0;
	for (size_t i = model->first[scope]; i < model->first[scope + 1]; i++) {
		struct ezprof_number number = ezprof_value(&model->objects[i], metric);

		*ret_known += ezprof_known(number);
		total += ezprof_as_double(number, 0.0);
	}
	return total;
}

/* What the page's words hold, "-" where that is nothing. */
static void put_card(struct ezprof_page *page, const char *word, bool bad)
{
	ezprof_put(page->out, "<div%s><dt>%s</dt><dd>", bad ? " class=\"bad\"" : "", word);
	if (!page->words.len)
		ezprof_html_raw(page, "-");
	ezprof_html_say(page);
	ezprof_html_raw(page, "</dd></div>");
}

static void put_count(struct ezprof_page *page, const char *word, enum ezprof_scope scope)
{
	ezprof_put(&page->words, "%zu", ezprof_page_count(page, scope));
	put_card(page, word, false);
}

static void put_flow(struct ezprof_page *page)
{
	size_t known;
	double total = sum(page, EZPROF_PUB_RATE_HZ, &known);

	if (known)
		ezprof_say_rate(&page->words, total);
	put_card(page, "published", false);
	total = sum(page, EZPROF_PUB_BYTES_PER_S, &known);
	if (known && total > 0) {
		ezprof_say_bytes(&page->words, total);
		ez_buffer_append_text(&page->words, "/s");
		put_card(page, "bytes", false);
	}
}

static void put_graph_value(struct ezprof_page *page, const char *word,
			    enum ezprof_metric_id metric, const char *unit, bool bad)
{
	struct ezprof_number number = ezprof_value(&page->in->model->objects[0], metric);
	char cell[EZPROF_CELL_BYTES];

	ezprof_cell_text(cell, number);
	ezprof_put(&page->words, "%s%s", cell, ezprof_known(number) ? unit : "");
	put_card(page, word, bad && ezprof_as_double(number, 0.0) > 0);
}

/* How much of the window was really measured: of the endpoint that has least. */
static void put_covered(struct ezprof_page *page)
{
	const struct ezprof_model *model = page->in->model;
	double least = -1.0;

	for (size_t i = model->first[EZPROF_PUB]; i < model->first[EZPROF_PUB + 1]; i++) {
		double covered = ezprof_figure(&model->objects[i], EZPROF_PUB_COVERED_S, -1.0);

		if (covered >= 0 && (least < 0 || covered < least))
			least = covered;
	}
	if (least < 0)
		return;
	ezprof_put(&page->words, "%.2f s", least);
	put_card(page, "covered at least", false);
}

static void put_when(struct ezprof_page *page)
{
	double unix_s = page->in->model->time_unix_s;
	time_t time = (time_t)(unix_s > 0 && unix_s < UNIX_S_MAX ? unix_s : 0);
	char text[64] = "";
	struct tm tm;

	if (gmtime_r(&time, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	ezprof_put(page->out, "<time datetime=\"%s\">", text);
	if (gmtime_r(&time, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm);
	ezprof_put(page->out, "%s</time>", text);
}

void ezprof_html_summary(struct ezprof_page *page)
{
	const struct ezprof_model *model = page->in->model;

	ezprof_html_raw(page, "<header><h1>ezprof report</h1><p>");
	if (model->host && *model->host) {
		ezprof_html_name(page->out, model->host, EZPROF_HTML_NAME_COLUMNS);
		ezprof_html_raw(page, ", ");
	}
	put_when(page);
	ezprof_html_raw(page, "</p>\n<dl class=\"cards\">");
	put_count(page, "publishers", EZPROF_PUB);
	put_count(page, "subscribers", EZPROF_SUB);
	put_flow(page);
	put_graph_value(page, "window", EZPROF_GRAPH_WINDOW_S, " s", false);
	put_covered(page);
	put_graph_value(page, "lost", EZPROF_GRAPH_LOST_TOTAL, "", true);
	put_graph_value(page, "errors", EZPROF_GRAPH_ERRORS, "", true);
	ezprof_html_raw(page, "</dl></header>\n");
}
