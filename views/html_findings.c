/* SPDX-License-Identifier: MIT */
/* What holds the graph up: the sentences of `ezprof why`, and the figures that they rest on. */
#include "columns.h"
#include "html_part.h"
#include "phrase.h"

/* The weightiest are what one wants to see; the others are folded away. */
#define UNFOLDED_MAX 10u

void ezprof_html_object_words(struct ezprof_page *page, size_t index)
{
	const struct ezprof_model *model = page->in->model;
	const struct ezprof_object *object = &model->objects[index];
	struct ez_buffer *words = &page->words;

	switch (object->scope) {
	case EZPROF_GRAPH:
		ez_buffer_append_text(words, "the graph");
		return;
	case EZPROF_SUB:
		ezprof_say_subscriber(words, model, object);
		return;
	case EZPROF_PUB:
		ez_buffer_append_text(words, "publisher ");
		ezprof_say_publisher(words, object);
		break;
	case EZPROF_TASK:
		ezprof_say_name(words, ezprof_label(object, EZPROF_LABEL_TASK));
		break;
	default:
		ez_buffer_append_text(words, ezprof_scope_word(object->scope));
	}
	if (object->pid)
		ezprof_put(words, " (pid %lld)", (long long)object->pid);
}

static void put_evidence(struct ezprof_page *page, const struct ezprof_evidence *evidence)
{
	const struct ezprof_metric *metric = ezprof_metric(evidence->metric);
	char cell[EZPROF_CELL_BYTES];

	ezprof_cell_text(
		cell, ezprof_value(&page->in->model->objects[evidence->object], evidence->metric));
	ezprof_html_raw(page, "<tr><th scope=\"row\"><span title=\"");
	ezprof_html_text(page->out, metric->what);
	ezprof_put(page->out, "\">%s.%s</span></th><td class=\"n\">%s</td><td>",
		   ezprof_scope_id(metric->scope), metric->id, cell);
	ezprof_html_object_words(page, evidence->object);
	ezprof_html_say(page);
	ezprof_html_raw(page, "</td></tr>\n");
}

static void put_evidences(struct ezprof_page *page, const struct ezprof_finding *finding)
{
	size_t i;

	if (!finding->n_evidence)
		return;
	ezprof_put(page->out,
		   "<details><summary>%zu figure%s it rests on</summary><table><thead><tr>"
		   "<th scope=\"col\">metric</th><th scope=\"col\" class=\"n\">value</th>"
		   "<th scope=\"col\">of</th></tr></thead><tbody>\n",
		   finding->n_evidence, finding->n_evidence == 1 ? "" : "s");
	for (i = 0; i < finding->n_evidence; i++)
		put_evidence(page, &finding->evidence[i]);
	ezprof_html_raw(page, "</tbody></table></details>");
}

static bool has_row(const struct ezprof_page *page, size_t index)
{
	enum ezprof_scope scope;

	if (index == EZPROF_NO_OBJECT)
		return false;
	scope = page->in->model->objects[index].scope;
	return scope == EZPROF_PUB || scope == EZPROF_SUB || scope == EZPROF_TASK;
}

static void put_finding(struct ezprof_page *page, const struct ezprof_finding *finding)
{
	const char *weight = ezprof_weight_word(ezprof_finding_weight(finding->kind));

	ezprof_put(page->out, "<li class=\"%s\"><p><span class=\"weight\">%s</span> ", weight,
		   weight);
	ezprof_html_text(page->out, finding->sentence ? finding->sentence : "");
	if (has_row(page, finding->subject)) {
		ezprof_put(page->out, " <a href=\"#o%zu\">its figures</a>", finding->subject);
	}
	ezprof_html_raw(page, "</p>");
	put_evidences(page, finding);
	ezprof_html_raw(page, "</li>\n");
}

void ezprof_html_findings(struct ezprof_page *page)
{
	const struct ezprof_findings *findings = page->in->findings;
	size_t i, shown = findings->n < EZPROF_PAGE_ROWS_MAX ? findings->n : EZPROF_PAGE_ROWS_MAX;
	bool folded = shown > UNFOLDED_MAX + 1;

	ezprof_html_raw(page, "<section id=\"why\"><h2>What holds it up</h2>\n<ol>\n");
	for (i = 0; i < shown; i++) {
		if (folded && i == UNFOLDED_MAX)
			ezprof_put(
				page->out,
				"</ol><details><summary>%zu more, of less weight</summary><ol>\n",
				shown - i);
		put_finding(page, &findings->list[i]);
	}
	ezprof_html_raw(page, folded ? "</ol></details>\n" : "</ol>\n");
	ezprof_html_cut(page, shown, findings->n, "findings");
	ezprof_html_raw(page, "</section>\n");
}
