/* SPDX-License-Identifier: MIT */
/* Who was measured, by whom, and what is missing. */
#include "columns.h"
#include "html_part.h"
#include "phrase.h"

#include <string.h>

static void put_text(struct ezprof_page *page, const char *before, const char *text,
		     const char *after)
{
	ezprof_html_raw(page, before);
	ezprof_html_name(page->out, text ? text : "-", EZPROF_HTML_NAME_COLUMNS);
	ezprof_html_raw(page, after);
}

static void put_agent(struct ezprof_page *page, size_t number)
{
	const struct ezprof_model *model = page->in->model;
	const struct ezprof_object *object = &model->objects[model->first[EZPROF_AGENT] + number];
	const struct ezprof_agent_note *note = &model->agents[number];
	static const enum ezprof_metric_id metrics[] = {
		EZPROF_AGENT_ENDPOINTS, EZPROF_AGENT_LOST_TOTAL, EZPROF_AGENT_HITS_HZ,
		EZPROF_AGENT_CPU_SHARE, EZPROF_AGENT_MAPS_BYTES};
	size_t i;

	put_text(page, "<tr><th scope=\"row\">", ezprof_label(object, EZPROF_LABEL_HOST), "</th>");
	ezprof_put(page->out, "<td class=\"n\">%lld</td>", (long long)object->pid);
	put_text(page, "<td>", note->version, "</td>");
	put_text(page, "<td>", note->probes, "</td>");
	put_text(page, "<td>", note->link, "</td>");
	for (i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		char cell[EZPROF_CELL_BYTES];

		ezprof_cell_text(cell, ezprof_value(object, metrics[i]));
		ezprof_put(page->out, "<td class=\"n\">%s</td>", cell);
	}
	put_text(page, "<td>", note->losses && *note->losses ? note->losses : "none",
		 "</td></tr>\n");
}

static void put_agents(struct ezprof_page *page)
{
	size_t i, n = ezprof_page_count(page, EZPROF_AGENT);
	size_t shown = n < EZPROF_PAGE_ROWS_MAX ? n : EZPROF_PAGE_ROWS_MAX;

	if (!n) {
		ezprof_html_raw(page, "<p>No agent measured it: these figures are what the "
				      "processes tell by themselves.</p>\n");
		return;
	}
	ezprof_html_raw(page,
			"<h3>Agents</h3>" EZPROF_HTML_WIDE "<table><thead><tr>"
			"<th scope=\"col\">host</th><th scope=\"col\" class=\"n\">pid</th>"
			"<th scope=\"col\">version</th><th scope=\"col\">probes</th>"
			"<th scope=\"col\">link</th><th scope=\"col\" class=\"n\">endpoints</th>"
			"<th scope=\"col\" class=\"n\">lost</th>"
			"<th scope=\"col\" class=\"n\">probe hits/s</th>"
			"<th scope=\"col\" class=\"n\">share of a CPU</th>"
			"<th scope=\"col\" class=\"n\">bytes of maps</th>"
			"<th scope=\"col\">losses</th></tr></thead><tbody>\n");
	for (i = 0; i < shown; i++)
		put_agent(page, i);
	ezprof_html_raw(page, "</tbody></table></div>\n");
	ezprof_html_cut(page, shown, n, "agents");
}

static void put_mention(struct ezprof_page *page, const struct ezprof_mention *mention,
			bool is_error)
{
	put_text(page, "<tr><th scope=\"row\">", mention->what, "</th>");
	if (mention->pid)
		ezprof_put(page->out, "<td class=\"n\">%lld</td>", (long long)mention->pid);
	else
		ezprof_html_raw(page, "<td class=\"n\">-</td>");
	put_text(page, "<td>", mention->reason, "</td>");
	if (is_error) {
		put_text(page, "<td>", mention->topic, "</td>");
		ezprof_html_raw(page, "<td>");
		ezprof_html_name(page->out, mention->detail ? mention->detail : "", 400);
		ezprof_html_raw(page, "</td>");
	}
	ezprof_html_raw(page, "</tr>\n");
}

static void put_mentions(struct ezprof_page *page, const struct ezprof_mention *mentions, size_t n,
			 bool is_error)
{
	size_t i, shown = n < EZPROF_PAGE_ROWS_MAX ? n : EZPROF_PAGE_ROWS_MAX;

	if (!n)
		return;
	ezprof_html_raw(page, is_error ? "<h3>Errors</h3>" : "<h3>Processes</h3>");
	ezprof_html_raw(page, is_error ? "<table><thead><tr><th scope=\"col\">who</th>"
					 "<th scope=\"col\" class=\"n\">pid</th>"
					 "<th scope=\"col\">reason</th><th scope=\"col\">topic</th>"
					 "<th scope=\"col\">detail</th></tr></thead><tbody>\n"
				       : "<table><thead><tr><th scope=\"col\">command</th>"
					 "<th scope=\"col\" class=\"n\">pid</th>"
					 "<th scope=\"col\">state</th></tr></thead><tbody>\n");
	for (i = 0; i < shown; i++)
		put_mention(page, &mentions[i], is_error);
	ezprof_html_raw(page, "</tbody></table>\n");
	ezprof_html_cut(page, shown, n, is_error ? "errors" : "processes");
}

/* The endpoints that were measured for less than was asked. */
static void put_warming(struct ezprof_page *page)
{
	const struct ezprof_model *model = page->in->model;
	size_t i, warming = 0;

	for (i = 0; i < model->n; i++)
		warming += model->objects[i].warming_up;
	if (warming)
		ezprof_put(page->out,
			   "<p>%zu endpoint%s been measured for less than the window, because the "
			   "attach or the endpoint is younger.</p>\n",
			   warming, warming == 1 ? " has" : "s have");
}

void ezprof_html_measured(struct ezprof_page *page)
{
	const struct ezprof_model *model = page->in->model;

	ezprof_html_raw(page, "<section id=\"measured\"><h2>Who was measured</h2>\n<p>");
	put_text(page, "Document of <code>", model->tool, "</code> ");
	put_text(page, "", model->tool_version, "");
	put_text(page, " on host ", model->host, ", page by ezprof " EZPROF_VERSION ".</p>\n");
	put_warming(page);
	put_agents(page);
	put_mentions(page, model->processes, model->n_processes, false);
	put_mentions(page, model->errors, model->n_errors, true);
	ezprof_html_raw(page, "</section>\n");
}
