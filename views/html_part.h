/* SPDX-License-Identifier: MIT */
/* The parts of a page, private to it. Each appends one section. */
#ifndef EZPROF_HTML_PART_H
#define EZPROF_HTML_PART_H

#include "html.h"
#include "page.h"

#define EZPROF_HTML_NAME_COLUMNS 56u

/* Begins what scrolls sideways where it is too wide, by keys too. */
#define EZPROF_HTML_WIDE "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"table\">"

struct ezprof_page {
	struct ez_buffer *out;
	struct ez_buffer words; /* empty between uses */
	const struct ezprof_page_input *in;
};

/* Text that is HTML as it stands. */
static inline void ezprof_html_raw(struct ezprof_page *page, const char *html)
{
	ez_buffer_append_text(page->out, html);
}

/* The words that were gathered for it, escaped. */
static inline void ezprof_html_say(struct ezprof_page *page)
{
	ezprof_html_words(page->out, &page->words);
}

static inline size_t ezprof_page_count(const struct ezprof_page *page, enum ezprof_scope scope)
{
	return page->in->model->first[scope + 1] - page->in->model->first[scope];
}

void ezprof_html_summary(struct ezprof_page *page);   /* html_summary.c */
void ezprof_html_findings(struct ezprof_page *page);  /* html_findings.c */
void ezprof_html_graph(struct ezprof_page *page);     /* html_graph.c */
void ezprof_html_tables(struct ezprof_page *page);    /* html_table.c */
void ezprof_html_lines(struct ezprof_page *page);     /* html_lines.c */
void ezprof_html_latencies(struct ezprof_page *page); /* html_latency.c */
void ezprof_html_measured(struct ezprof_page *page);  /* html_measured.c */
void ezprof_html_metrics(struct ezprof_page *page);   /* html_metrics.c */

/* A column's heading: the metric's name, what it means as a tool tip, and a link to that. */
void ezprof_html_metric_heading(struct ezprof_page *page, enum ezprof_metric_id metric);

/* Appends "publisher A (pid 1)", "subscriber ...", "the graph" to the page's words. */
void ezprof_html_object_words(struct ezprof_page *page, size_t object);

/* The name and what it is of, in two cells of a row. */
void ezprof_html_names(struct ezprof_page *page, const char *name, const char *of);

/* "The first 400 of 812 are shown." where that is so. */
void ezprof_html_cut(struct ezprof_page *page, size_t shown, size_t all, const char *what);

#endif
