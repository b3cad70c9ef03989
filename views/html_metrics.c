/* SPDX-License-Identifier: MIT */
/* What the metrics of the tables mean. */
#include "columns.h"
#include "html_part.h"

static void put_part(struct ezprof_page *page, const char *word, const char *text)
{
	if (!*text)
		return;
	ezprof_html_print(page->out, "; %s: ", word);
	ezprof_html_text(page->out, text);
}

static void put_metric(struct ezprof_page *page, enum ezprof_metric_id id)
{
	const struct ezprof_metric *metric = ezprof_metric(id);

	ezprof_put(page->out, "<dt id=\"m-%s-%s\"><code>%s.%s</code></dt><dd>",
		   ezprof_scope_id(metric->scope), metric->id, ezprof_scope_id(metric->scope),
		   metric->id);
	ezprof_html_text(page->out, metric->what);
	put_part(page, "from", metric->from);
	put_part(page, "to", metric->to);
	put_part(page, "without", metric->without);
	ezprof_html_print(page->out, "; unit: %s", ezprof_unit_words(metric->unit));
	ezprof_html_raw(page, ".</dd>\n");
}

/* Is it in a table, or followed over time? */
static bool is_shown(enum ezprof_metric_id id)
{
	const struct ezprof_columns *columns;
	enum ezprof_metric_id followed;
	size_t i, k;

	for (i = 0; (columns = ezprof_columns(i)); i++) {
		for (k = 0; k < columns->n_metrics; k++) {
			if (columns->metrics[k] == id)
				return true;
		}
	}
	for (i = 0; i < EZPROF_SCOPE_COUNT; i++) {
		for (k = 0;
		     (followed = ezprof_followed((enum ezprof_scope)i, k)) != EZPROF_METRIC_COUNT;
		     k++) {
			if (followed == id)
				return true;
		}
	}
	return false;
}

void ezprof_html_metrics(struct ezprof_page *page)
{
	size_t i;

	ezprof_html_raw(page, "<section id=\"metrics\"><h2>What the figures mean</h2>\n<dl>\n");
	for (i = 0; i < EZPROF_METRIC_COUNT; i++) {
		enum ezprof_scope scope = ezprof_metric((enum ezprof_metric_id)i)->scope;

		/* Only Python has tasks. */
		if (is_shown((enum ezprof_metric_id)i) &&
		    (scope != EZPROF_TASK || ezprof_page_count(page, scope)))
			put_metric(page, (enum ezprof_metric_id)i);
	}
	ezprof_html_raw(page, "</dl>\n</section>\n");
}
