/* SPDX-License-Identifier: MIT */
#include "page.h"
#include "html_part.h"
#include "text_width.h"
#include "page_text.h"

/* Nothing may be loaded, whatever a name in the document may have slipped in. */
#define POLICY \
	"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src " \
	"'unsafe-inline'; " \
	"base-uri 'none'; form-action 'none'"

static void put_head(struct ezprof_page *page)
{
	ezprof_html_raw(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
			      "<meta charset=\"utf-8\">\n"
			      "<meta http-equiv=\"Content-Security-Policy\" content=\"" POLICY
			      "\">\n<meta name=\"viewport\" content=\"width=device-width, "
			      "initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light "
			      "dark\">\n<meta name=\"generator\" content=\"ezprof " EZPROF_VERSION
			      "\">\n<link rel=\"icon\" href=\"data:,\">\n<title>ezprof report");
	if (page->in->model->host) {
		ezprof_html_raw(page, ": ");
		ezprof_put_shortened(&page->words, page->in->model->host, EZPROF_HTML_NAME_COLUMNS);
		ezprof_html_say(page);
	}
	ezprof_html_raw(page, "</title>\n<style>\n");
	ezprof_html_raw(page, ezprof_page_css);
	ezprof_html_raw(page, "</style>\n</head>\n<body>\n");
}

static void put_navigation(struct ezprof_page *page)
{
	ezprof_html_raw(page, "<nav aria-label=\"sections\"><a href=\"#why\">Why</a> "
			      "<a href=\"#graph\">Graph</a> <a href=\"#publishers\">Publishers</a> "
			      "<a href=\"#subscribers\">Subscribers</a> ");
	if (ezprof_page_count(page, EZPROF_TASK))
		ezprof_html_raw(page, "<a href=\"#tasks\">Tasks</a> ");
	ezprof_html_raw(page, "<a href=\"#lines\">Over time</a> "
			      "<a href=\"#latencies\">Latencies</a> "
			      "<a href=\"#measured\">Measured</a> "
			      "<a href=\"#metrics\">Meanings</a></nav>\n");
}

void ezprof_page_put(struct ez_buffer *out, const struct ezprof_page_input *input)
{
	struct ezprof_page page = {.out = out, .in = input};

	ez_buffer_init(&page.words, SIZE_MAX / 2);
	put_head(&page);
	ezprof_html_summary(&page);
	put_navigation(&page);
	ezprof_html_raw(&page, "<main>\n");
	ezprof_html_findings(&page);
	ezprof_html_graph(&page);
	ezprof_html_tables(&page);
	ezprof_html_lines(&page);
	ezprof_html_latencies(&page);
	ezprof_html_measured(&page);
	ezprof_html_metrics(&page);
	ezprof_html_raw(&page, "</main>\n<script>\n");
	ezprof_html_raw(&page, ezprof_page_js);
	ezprof_html_raw(&page, "</script>\n</body>\n</html>\n");
	ez_buffer_free(&page.words);
}
