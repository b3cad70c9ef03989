/* SPDX-License-Identifier: MIT */
/* The graph as SVG: boxes with figures and heat, lines with rates. */
#include "html_part.h"
#include "layout.h"
#include "text_width.h"
#include "visible_name.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_COLUMNS 30u
#define FIGURE_COLUMNS 44u
/* Widths per column of the fonts in page.css, with some room for other fonts. */
#define NAME_COLUMN 7.6
#define FIGURE_COLUMN 6.9
#define LABEL_COLUMN 6.6
#define BOX_HEIGHT 58.0
#define BOX_PADDING 12.0
#define BOX_WIDTH_MIN 130.0
#define LABEL_HEIGHT 34.0
#define LABEL_PADDING 8.0
#define MARGIN 12.0
#define SHRINK_MAX 0.8 /* it scrolls before text becomes too small */

struct graph {
	const struct ezprof_drawing *drawing;
	struct ezprof_size *boxes;
	struct ezprof_line *lines;
	struct ezprof_layout layout;
};

static double columns_of(const char *text, unsigned int most)
{
	unsigned int columns = ezprof_text_columns(text, strlen(text));

	return columns < most ? columns : most;
}

static const char *kind_of(const struct ezprof_object *object)
{
	return object ? ezprof_scope_word(object->scope) : "topic";
}

/* A label's two lines: what is before the comma goes above the line, the rest below it. */
static size_t above_bytes(const char *figures)
{
	const char *comma = strstr(figures, ", ");

	return comma ? (size_t)(comma - figures) : strlen(figures);
}

static struct ezprof_size label_size(const char *figures)
{
	size_t above, n;
	double columns, below;

	if (!figures)
		return (struct ezprof_size){0};
	n = strlen(figures);
	above = above_bytes(figures);
	columns = ezprof_text_columns(figures, above);
	below = above < n ? ezprof_text_columns(figures + above + 2, n - above - 2) : 0;
	columns = columns > below ? columns : below;
	return (struct ezprof_size){
		fmin(columns, FIGURE_COLUMNS) * LABEL_COLUMN + 2.0 * LABEL_PADDING, LABEL_HEIGHT};
}

static void measure(struct graph *graph)
{
	const struct ezprof_drawing *drawing = graph->drawing;
	size_t i;

	for (i = 0; i < drawing->n_nodes; i++) {
		const struct ezprof_node *node = &drawing->nodes[i];
		double width = columns_of(node->name, NAME_COLUMNS) * NAME_COLUMN;

		if (node->figures)
			width = fmax(width,
				     columns_of(node->figures, FIGURE_COLUMNS) * FIGURE_COLUMN);
		width = fmax(width + 2.0 * BOX_PADDING, BOX_WIDTH_MIN);
		graph->boxes[i] = (struct ezprof_size){width, BOX_HEIGHT};
	}
	for (i = 0; i < drawing->n_arrows; i++)
		graph->lines[i] =
			(struct ezprof_line){drawing->arrows[i].from, drawing->arrows[i].to,
					     label_size(drawing->arrows[i].figures)};
}

static int lay_out(struct graph *graph)
{
	const struct ezprof_drawing *drawing = graph->drawing;

	graph->boxes = calloc(drawing->n_nodes + 1, sizeof(*graph->boxes));
	graph->lines = calloc(drawing->n_arrows + 1, sizeof(*graph->lines));
	if (!graph->boxes || !graph->lines)
		return -ENOMEM;
	measure(graph);
	return ezprof_layout_make(graph->boxes, drawing->n_nodes, graph->lines, drawing->n_arrows,
				  &graph->layout);
}

/* A line is the thicker the more messages go along it; its label says how many. */
static double thickness(const struct ezprof_arrow *arrow)
{
	double rate = arrow->object ? ezprof_figure(arrow->object, EZPROF_SUB_RATE_HZ, 0.0) : 0.0;

	return 1.2 + 0.6 * log10(1.0 + rate);
}

static void put_path(struct ez_buffer *out, const struct ezprof_route *route)
{
	const struct ezprof_spot *s = route->spots;
	size_t i;

	ezprof_put(out, "M%.1f %.1f", s[0].x, s[0].y);
	for (i = 1; i < route->n_spots; i++) {
		double middle = (s[i - 1].x + s[i].x) / 2.0;

		if (fabs(s[i].y - s[i - 1].y) < 0.05)
			ezprof_put(out, "H%.1f", s[i].x);
		else
			ezprof_put(out, "C%.1f %.1f %.1f %.1f %.1f %.1f", middle, s[i - 1].y,
				   middle, s[i].y, s[i].x, s[i].y);
	}
}

static void put_label_line(struct ezprof_page *page, const struct ezprof_spot *at, double down,
			   const char *text, size_t n)
{
	char *copy = ezprof_text_columns(text, n) > FIGURE_COLUMNS ? strndup(text, n) : NULL;

	ezprof_put(page->out, "<text class=\"label\" x=\"%.1f\" y=\"%.1f\">", at->x, at->y + down);
	if (copy)
		ezprof_put_shortened(&page->words, copy, FIGURE_COLUMNS);
	else
		ez_buffer_append(&page->words, text, n);
	ezprof_html_say(page);
	ezprof_html_raw(page, "</text>");
	free(copy);
}

static void put_arrow_label(struct ezprof_page *page, const struct ezprof_arrow *arrow,
			    const struct ezprof_route *route)
{
	size_t above = above_bytes(arrow->figures), n = strlen(arrow->figures);

	put_label_line(page, &route->label, -5.0, arrow->figures, above);
	if (above < n)
		put_label_line(page, &route->label, 13.0, arrow->figures + above + 2,
			       n - above - 2);
}

/* What a line is, which page.css draws each in its way. */
static const char *class_of(const struct ezprof_drawing *drawing, const struct ezprof_arrow *arrow)
{
	const struct ezprof_object *from = drawing->nodes[arrow->from].object;
	const struct ezprof_object *to = drawing->nodes[arrow->to].object;

	if (arrow->figures)
		return "measured";
	if (arrow->inferred)
		return "inferred";
	return from && to && from->scope == EZPROF_SUB && to->scope == EZPROF_PUB ? "within"
										  : "unused";
}

static void put_arrow(struct ezprof_page *page, const struct graph *graph, size_t number)
{
	const struct ezprof_drawing *drawing = graph->drawing;
	const struct ezprof_arrow *arrow = &drawing->arrows[number];
	const struct ezprof_route *route = &graph->layout.routes[number];

	if (!route->n_spots)
		return;
	ezprof_put(page->out, "<g class=\"arrow %s\"><title>", class_of(drawing, arrow));
	ez_visible_name(&page->words, drawing->nodes[arrow->from].name);
	ez_buffer_append_text(&page->words, " → ");
	ez_visible_name(&page->words, drawing->nodes[arrow->to].name);
	ezprof_html_say(page);
	if (arrow->figures) {
		ezprof_html_raw(page, ": ");
		ezprof_html_text(page->out, arrow->figures);
	}
	ezprof_html_raw(page, "</title><path d=\"");
	put_path(page->out, route);
	ezprof_put(page->out, "\" style=\"stroke-width:%.1f\" marker-end=\"url(#head)\"/>",
		   thickness(arrow));
	if (arrow->figures)
		put_arrow_label(page, arrow, route);
	ezprof_html_raw(page, "</g>\n");
}

static int heat_step(double heat)
{
	return heat < 0	     ? -1
	       : heat < 0.05 ? 0
	       : heat < 0.3  ? 1
	       : heat < 0.6  ? 2
	       : heat < 0.85 ? 3
			     : 4;
}

static void put_box_text(struct ezprof_page *page, const struct ezprof_node *node)
{
	ezprof_put(page->out, "<text class=\"name\" x=\"%.0f\" y=\"19\">", BOX_PADDING);
	ezprof_put_shortened(&page->words, node->name, NAME_COLUMNS);
	ezprof_html_say(page);
	ezprof_put(page->out, "</text><text class=\"kind\" x=\"%.0f\" y=\"33\">%s", BOX_PADDING,
		   kind_of(node->object));
	if (node->object && node->object->pid)
		ezprof_put(page->out, ", pid %lld", (long long)node->object->pid);
	ezprof_html_raw(page, "</text>");
	if (!node->figures)
		return;
	ezprof_put(page->out, "<text class=\"figures\" x=\"%.0f\" y=\"47\">", BOX_PADDING);
	ezprof_html_text(page->out, node->figures);
	ezprof_html_raw(page, "</text>");
}

/* An inner SVG cuts off what a font makes wider than it was thought to be. */
static void put_box(struct ezprof_page *page, const struct ezprof_node *node,
		    const struct ezprof_box *box)
{
	const struct ezprof_object *object = node->object;
	double inner = box->width - 2.0;
	bool rounded = object && object->scope == EZPROF_PUB;

	if (object)
		ezprof_put(page->out, "<a href=\"#o%zu\">",
			   (size_t)(object - page->in->model->objects));
	ezprof_put(page->out,
		   "<svg class=\"box %s heat%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
		   "height=\"%.1f\"><title>",
		   kind_of(object), heat_step(node->heat), box->x, box->y, box->width, box->height);
	ez_visible_name(&page->words, node->name);
	ezprof_html_say(page);
	if (node->figures) {
		ezprof_html_raw(page, ": ");
		ezprof_html_text(page->out, node->figures);
	}
	ezprof_put(page->out,
		   "</title><rect class=\"body\" x=\"1\" y=\"1\" width=\"%.1f\" height=\"%.1f\" "
		   "rx=\"%d\"/>",
		   inner, box->height - 2.0, rounded ? 14 : 3);
	if (node->heat > 0)
		ezprof_put(page->out,
			   "<rect class=\"heat\" x=\"%.0f\" y=\"%.1f\" width=\"%.1f\" "
			   "height=\"3\"/>",
			   BOX_PADDING, box->height - 6.0,
			   fmin(node->heat, 1.0) * (box->width - 2.0 * BOX_PADDING));
	put_box_text(page, node);
	ezprof_html_raw(page, object ? "</svg></a>\n" : "</svg>\n");
}

static void put_legend(struct ezprof_page *page)
{
	static const char *const words[] = {"below 5 %", "from 5 %", "from 30 %", "from 60 %",
					    "from 85 %"};
	size_t i;

	ezprof_html_raw(page,
			"<p class=\"legend\">Round corners are publishers, the others subscribers. "
			"A bar and the colour tell how much of the time a subscriber is busy or a "
			"publisher blocked. Lines without figures go on within a task or unit; "
			"dotted ones are inferred, since both are in one process; dashed ones "
			"are connections that nobody uses.</p>\n"
			"<p class=\"legend\">");
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		ezprof_put(page->out, "<span class=\"key heat%zu\">%s</span> ", i, words[i]);
	ezprof_html_raw(page, "<label class=\"fit\"><input type=\"checkbox\"> fit the drawing to "
			      "the page's width</label></p>\n");
}

static void put_svg(struct ezprof_page *page, const struct graph *graph)
{
	const struct ezprof_layout *layout = &graph->layout;
	double width = layout->size.width + 2.0 * MARGIN;
	double height = layout->size.height + 2.0 * MARGIN;
	size_t i;

	ezprof_put(page->out,
		   "<div class=\"drawing\" tabindex=\"0\" role=\"group\" "
		   "aria-label=\"drawing\"><svg id=\"drawing\" role=\"group\" "
		   "aria-labelledby=\"drawing-title drawing-desc\" "
		   "style=\"--least:%.0fpx;--most:%.0fpx\" "
		   "viewBox=\"%.0f %.0f %.0f %.0f\">\n",
		   width * SHRINK_MAX, width, -MARGIN, -MARGIN, width, height);
	ezprof_put(page->out,
		   "<title id=\"drawing-title\">The graph</title><desc id=\"drawing-desc\">"
		   "%zu publishers and subscribers, %zu connections; the tables below have the "
		   "same figures.</desc>\n"
		   "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" "
		   "markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" "
		   "orient=\"auto\"><path d=\"M0 0L8 4L0 8Z\"/></marker></defs>\n",
		   graph->drawing->n_nodes, graph->drawing->n_arrows);
	for (i = 0; i < layout->n_lines; i++)
		put_arrow(page, graph, i);
	for (i = 0; i < layout->n_boxes; i++)
		put_box(page, &graph->drawing->nodes[i], &layout->boxes[i]);
	ezprof_html_raw(page, "</svg></div>\n");
	if (layout->undrawn)
		ezprof_put(page->out, "<p class=\"cut\">%zu connections are not drawn.</p>\n",
			   layout->undrawn);
}

void ezprof_html_graph(struct ezprof_page *page)
{
	struct graph graph = {.drawing = page->in->drawing};
	int err;

	ezprof_html_raw(page, "<section id=\"graph\"><h2>Graph</h2>\n");
	if (!graph.drawing || graph.drawing->n_nodes > EZPROF_PAGE_NODES_MAX ||
	    graph.drawing->n_arrows > EZPROF_PAGE_ARROWS_MAX) {
		ezprof_put(page->out,
			   "<p class=\"cut\">It is too large to be drawn: more than %u nodes or %u "
			   "connections. The tables have all of it; so has <code>ezprof graph "
			   "--live</code>.</p>\n",
			   EZPROF_PAGE_NODES_MAX, EZPROF_PAGE_ARROWS_MAX);
	} else if (!graph.drawing->n_nodes) {
		ezprof_html_raw(page, "<p>It has no publisher and no subscriber.</p>\n");
	} else {
		err = lay_out(&graph);
		if (err && !page->out->err)
			page->out->err = err;
		if (!err) {
			put_legend(page);
			put_svg(page, &graph);
		}
		ezprof_layout_free(&graph.layout);
		free(graph.boxes);
		free(graph.lines);
	}
	ezprof_html_raw(page, "</section>\n");
}
