/* SPDX-License-Identifier: MIT */
/* Tables of publishers, subscribers and tasks, with the columns of the terminal's table. */
#include "columns.h"
#include "html_part.h"

#include <string.h>

void ezprof_html_metric_heading(struct ezprof_page *page, enum ezprof_metric_id id)
{
	const struct ezprof_metric *metric = ezprof_metric(id);
	const char *at;

	ezprof_put(page->out, "<th scope=\"col\" class=\"n\"><a href=\"#m-%s-%s\" title=\"",
		   ezprof_scope_id(metric->scope), metric->id);
	ezprof_html_text(page->out, metric->what);
	ezprof_html_print(page->out, " (%s)", ezprof_unit_words(metric->unit));
	ezprof_html_raw(page, "\">");
	for (at = metric->id; *at; at++) {
		if (*at == '_')
			ezprof_html_raw(page, "<wbr>");
		ez_buffer_append(page->out, at, 1);
	}
	ezprof_html_raw(page, "</a></th>");
}

void ezprof_html_names(struct ezprof_page *page, const char *name, const char *of)
{
	ezprof_html_raw(page, "<th scope=\"row\">");
	ezprof_html_name(page->out, *name ? name : "(no name)", EZPROF_HTML_NAME_COLUMNS);
	ezprof_html_raw(page, "</th>");
	if (!of)
		return;
	ezprof_html_raw(page, "<td>");
	ezprof_html_name(page->out, of, EZPROF_HTML_NAME_COLUMNS);
	ezprof_html_raw(page, "</td>");
}

void ezprof_html_cut(struct ezprof_page *page, size_t shown, size_t all, const char *what)
{
	if (shown < all)
		ezprof_put(page->out,
			   "<p class=\"cut\">The first %zu of %zu %s are shown: the page would be "
			   "too large.</p>\n",
			   shown, all, what);
}

/* Is any of them on another host than the one that made the document? */
static bool has_hosts(const struct ezprof_page *page, enum ezprof_scope scope)
{
	const struct ezprof_model *model = page->in->model;

	for (size_t i = model->first[scope]; i < model->first[scope + 1]; i++) {
		const char *host = ezprof_label(&model->objects[i], EZPROF_LABEL_HOST);

		if (*host && (!model->host || strcmp(host, model->host) != 0))
			return true;
	}
	return false;
}

static void put_head(struct ezprof_page *page, const struct ezprof_columns *columns, bool hosts)
{
	size_t i;

	ezprof_html_raw(page, "<thead><tr>");
	for (i = 0; i < EZPROF_COLUMN_NAMES_MAX && columns->names[i]; i++)
		ezprof_put(page->out, "<th scope=\"col\">%s</th>", columns->names[i]);
	if (hosts)
		ezprof_html_raw(page, "<th scope=\"col\">host</th>");
	ezprof_html_raw(page, "<th scope=\"col\" class=\"n\">pid</th>");
	if (columns->with_transport)
		ezprof_html_raw(page, "<th scope=\"col\">via</th>");
	for (i = 0; i < columns->n_metrics; i++)
		ezprof_html_metric_heading(page, columns->metrics[i]);
	ezprof_html_raw(page, "</tr></thead>\n");
}

/* A share has a bar below it, as long as it is large. */
static void put_value(struct ezprof_page *page, const struct ezprof_object *object,
		      enum ezprof_metric_id metric)
{
	struct ezprof_number number = ezprof_value(object, metric);
	double share = ezprof_as_double(number, 0.0);
	char cell[EZPROF_CELL_BYTES];

	ezprof_cell_text(cell, number);
	if (ezprof_metric(metric)->unit == EZPROF_UNIT_SHARE && share > 0)
		ezprof_put(page->out, "<td class=\"n share\" style=\"--share:%.0f%%\">%s</td>",
			   100.0 * (share < 1.0 ? share : 1.0), cell);
	else
		ezprof_put(page->out, "<td class=\"n\">%s</td>", cell);
}

static void put_row(struct ezprof_page *page, const struct ezprof_columns *columns, size_t index,
		    bool hosts)
{
	const struct ezprof_model *model = page->in->model;
	const struct ezprof_object *object = &model->objects[index];
	struct ez_buffer names[EZPROF_COLUMN_NAMES_MAX];
	size_t i;

	for (i = 0; i < EZPROF_COLUMN_NAMES_MAX; i++) {
		ez_buffer_init(&names[i], SIZE_MAX / 2);
		if (columns->names[i])
			columns->name(&names[i], model, object, i);
		ez_buffer_append(&names[i], "", 1);
		if (names[i].err && !page->out->err)
			page->out->err = names[i].err;
	}
	ezprof_put(page->out, "<tr id=\"o%zu\">", index);
	if (!page->out->err)
		ezprof_html_names(page, (const char *)names[0].data,
				  columns->names[1] ? (const char *)names[1].data : NULL);
	if (hosts) {
		ezprof_html_raw(page, "<td>");
		ezprof_html_name(page->out, ezprof_label(object, EZPROF_LABEL_HOST),
				 EZPROF_HTML_NAME_COLUMNS);
		ezprof_html_raw(page, "</td>");
	}
	ezprof_put(page->out, "<td class=\"n\">%lld</td>", (long long)object->pid);
	if (columns->with_transport) {
		ezprof_html_raw(page, "<td>");
		ezprof_html_name(page->out, ezprof_label(object, EZPROF_LABEL_TRANSPORT), 8);
		ezprof_html_raw(page, "</td>");
	}
	for (i = 0; i < columns->n_metrics; i++)
		put_value(page, object, columns->metrics[i]);
	ezprof_html_raw(page, "</tr>\n");
	for (i = 0; i < EZPROF_COLUMN_NAMES_MAX; i++)
		ez_buffer_free(&names[i]);
}

static void put_table(struct ezprof_page *page, const struct ezprof_columns *columns)
{
	const char *word = ezprof_scope_word(columns->scope);
	size_t first = page->in->model->first[columns->scope];
	size_t i, n = ezprof_page_count(page, columns->scope);
	size_t shown = n < EZPROF_PAGE_ROWS_MAX ? n : EZPROF_PAGE_ROWS_MAX;
	bool hosts = has_hosts(page, columns->scope);

	ezprof_put(page->out, "<section id=\"%ss\"><h2>%c%ss</h2>\n", word, word[0] - 'a' + 'A',
		   word + 1);
	if (!n) {
		ezprof_html_raw(page, "<p>There is none.</p></section>\n");
		return;
	}
	ezprof_html_raw(page, EZPROF_HTML_WIDE "<table class=\"sortable\">\n");
	put_head(page, columns, hosts);
	ezprof_html_raw(page, "<tbody>\n");
	for (i = 0; i < shown; i++)
		put_row(page, columns, first + i, hosts);
	ezprof_html_raw(page, "</tbody></table></div>\n");
	ezprof_html_cut(page, shown, n, "rows");
	ezprof_html_raw(page, "</section>\n");
}

void ezprof_html_tables(struct ezprof_page *page)
{
	const struct ezprof_columns *columns;
	size_t i;

	for (i = 0; (columns = ezprof_columns(i)); i++) {
		/* Only Python has tasks. */
		if (columns->scope != EZPROF_TASK || ezprof_page_count(page, columns->scope))
			put_table(page, columns);
	}
}
