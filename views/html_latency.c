/* SPDX-License-Identifier: MIT */
/*
 * Distributions of the latencies, on one logarithmic axis for all: bars where the document has
 * bins, else what the percentiles tell.
 */
#include "columns.h"
#include "distribution.h"
#include "html_part.h"
#include "phrase.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define WIDTH 340.0
#define PLOT_HEIGHT 44.0
#define HEIGHT 60.0
#define MARGIN 22.0
#define AXIS_MIN_MS 1e-4 /* all below is in the first place */

/* A latency: its bins, its figures. */
struct latency {
	enum ezprof_scope scope;
	const char *word;
	unsigned int bins;
	enum ezprof_metric_id min, p50, p90, p99, max, samples;
};

#define LATENCY(scope, word, name) \
	{ \
		EZPROF_##scope, word, EZPROF_##scope##_BINS_##name, \
			EZPROF_##scope##_##name##_MIN_MS, EZPROF_##scope##_##name##_P50_MS, \
			EZPROF_##scope##_##name##_P90_MS, EZPROF_##scope##_##name##_P99_MS, \
			EZPROF_##scope##_##name##_MAX_MS, EZPROF_##scope##_##name##_SAMPLES \
	}
static const struct latency latencies[] = {
	LATENCY(PUB, "lease", LEASE),
	LATENCY(SUB, "queue", QUEUE),
	LATENCY(SUB, "process", PROCESS),
};
#define LATENCIES (sizeof(latencies) / sizeof(latencies[0]))

/* Decades of ms: 10^low to 10^high. */
struct axis {
	int low, high;
};

static void widen(struct axis *axis, double ms, bool first)
{
	double decade = log10(fmax(ms, AXIS_MIN_MS));
	int low = (int)floor(decade), high = (int)ceil(decade);

	if (first || low < axis->low)
		axis->low = low;
	if (first || high > axis->high)
		axis->high = high;
}

static struct axis axis_of(const struct ezprof_model *model)
{
	struct axis axis = {-2, 2};
	bool first = true;
	size_t i, k;

	for (i = 0; i < LATENCIES; i++) {
		const struct latency *l = &latencies[i];

		for (k = model->first[l->scope]; k < model->first[l->scope + 1]; k++) {
			double min = ezprof_figure(&model->objects[k], l->min, -1.0);
			double max = ezprof_figure(&model->objects[k], l->max, -1.0);

			if (min < 0 || max < 0 ||
			    ezprof_figure(&model->objects[k], l->samples, 0.0) <= 0)
				continue;
			widen(&axis, min, first);
			widen(&axis, max, false);
			first = false;
		}
	}
	if (axis.high <= axis.low)
		axis.high = axis.low + 1;
	if (axis.high > 9)
		axis.high = 9;
	return axis;
}

static double place(const struct axis *axis, double ms)
{
	double share = (log10(fmax(ms, AXIS_MIN_MS)) - axis->low) / (axis->high - axis->low);

	return MARGIN + fmin(fmax(share, 0.0), 1.0) * (WIDTH - 2.0 * MARGIN);
}

static void put_axis(struct ezprof_page *page, const struct axis *axis)
{
	int decade, step = (axis->high - axis->low + 5) / 6;

	for (decade = axis->low; decade <= axis->high; decade++) {
		double ms = pow(10.0, decade), x = place(axis, ms);

		ezprof_put(page->out, "<path class=\"tick\" d=\"M%.1f 2V%.0f\"/>", x, PLOT_HEIGHT);
		if ((decade - axis->low) % step)
			continue;
		ezprof_put(page->out, "<text class=\"tick\" x=\"%.1f\" y=\"%.0f\">", x,
			   HEIGHT - 4.0);
		ezprof_put(page->out, "%g %s</text>",
			   decade < 0	? ms * 1e3
			   : decade < 3 ? ms
					: ms / 1e3,
			   decade < 0	? "µs"
			   : decade < 3 ? "ms"
					: "s");
	}
}

static void put_bars(struct ezprof_page *page, const struct axis *axis,
		     const struct ezprof_bin *bins, size_t n)
{
	uint64_t most = 1;
	size_t i;

	for (i = 0; i < n; i++)
		most = bins[i].samples > most ? bins[i].samples : most;
	ezprof_html_raw(page, "<path class=\"bars\" d=\"");
	for (i = 0; i < n; i++) {
		double left = place(axis, (double)bins[i].from_ns / 1e6);
		double right = place(axis, (double)bins[i].to_ns / 1e6);
		double height = (double)bins[i].samples / (double)most * (PLOT_HEIGHT - 6.0);

		/* A single one among many must be seen too. */
		height = fmax(height, bins[i].samples ? 1.0 : 0.0);
		ezprof_put(page->out, "M%.1f %.0fv%.1fH%.1fV%.0fz", left, PLOT_HEIGHT, -height,
			   fmax(right, left + 1.0), PLOT_HEIGHT);
	}
	ezprof_html_raw(page, "\"/>");
}

/* Thin from the shortest to the longest, thick from the median to the 99th percentile. */
static void put_quantiles(struct ezprof_page *page, const struct axis *axis,
			  const struct ezprof_object *object, const struct latency *l)
{
	double middle = PLOT_HEIGHT / 2.0, p50 = ezprof_figure(object, l->p50, 0.0);

	ezprof_put(page->out, "<path class=\"reach\" d=\"M%.1f %.1fH%.1f\"/>",
		   place(axis, ezprof_figure(object, l->min, p50)), middle,
		   place(axis, ezprof_figure(object, l->max, p50)));
	ezprof_put(page->out,
		   "<path class=\"bars\" d=\"M%.1f %.1fh2V%.1fh-2zM%.1f %.1fH%.1fV%.1fH%.1fz\"/>",
		   place(axis, p50) - 1.0, middle - 12.0, middle + 12.0, place(axis, p50),
		   middle - 5.0, place(axis, ezprof_figure(object, l->p99, p50)), middle + 5.0,
		   place(axis, p50));
}

static void say_figure(struct ezprof_page *page, const char *word, struct ezprof_number ms)
{
	if (!ezprof_known(ms))
		return;
	ezprof_put(&page->words, "%s%s ", page->words.len ? ", " : "", word);
	ezprof_say_ms(&page->words, ezprof_as_double(ms, 0.0));
}

static void say_figures(struct ezprof_page *page, const struct ezprof_object *object,
			const struct latency *l)
{
	say_figure(page, "median", ezprof_value(object, l->p50));
	say_figure(page, "p99", ezprof_value(object, l->p99));
	say_figure(page, "max", ezprof_value(object, l->max));
	ezprof_put(&page->words, ", %.0f samples", ezprof_figure(object, l->samples, 0.0));
}

static void put_svg(struct ezprof_page *page, const struct axis *axis,
		    const struct ezprof_object *object, const struct latency *l)
{
	struct ezprof_bin *bins = NULL;
	size_t n = 0;

	ezprof_put(page->out, "<svg role=\"img\" width=\"%.0f\" height=\"%.0f\"><title>", WIDTH,
		   HEIGHT);
	ezprof_put(page->out, "%s: ", l->word);
	say_figures(page, object, l);
	ezprof_html_say(page);
	ezprof_html_raw(page, "</title>");
	put_axis(page, axis);
	if (object->bins[l->bins] && !ezprof_distribution_read(object->bins[l->bins], &bins, &n) &&
	    n)
		put_bars(page, axis, bins, n);
	else
		put_quantiles(page, axis, object, l);
	free(bins);
	ezprof_html_raw(page, "</svg>");
}

static void put_latency(struct ezprof_page *page, const struct axis *axis,
			const struct ezprof_object *object, const struct latency *l)
{
	ezprof_html_raw(page, "<td class=\"plot\">");
	if (ezprof_figure(object, l->samples, 0.0) <= 0) {
		ezprof_html_raw(page, ezprof_known(ezprof_value(object, l->samples))
					      ? "none ended in the window"
					      : "not measured");
	} else {
		if (ezprof_known(ezprof_value(object, l->p50)))
			put_svg(page, axis, object, l);
		ezprof_html_raw(page, "<span class=\"range\">");
		say_figures(page, object, l);
		ezprof_html_say(page);
		ezprof_html_raw(page, "</span>");
	}
	ezprof_html_raw(page, "</td>");
}

static void put_row(struct ezprof_page *page, const struct axis *axis,
		    const struct ezprof_object *object)
{
	size_t i;

	ezprof_html_raw(page, "<tr><th scope=\"row\">");
	ezprof_html_object_words(page, (size_t)(object - page->in->model->objects));
	ezprof_html_say(page);
	ezprof_html_raw(page, "</th>");
	for (i = 0; i < LATENCIES; i++) {
		if (latencies[i].scope == object->scope)
			put_latency(page, axis, object, &latencies[i]);
	}
	ezprof_html_raw(page, "</tr>\n");
}

static void put_rows(struct ezprof_page *page, const struct axis *axis, enum ezprof_scope scope)
{
	const struct ezprof_model *model = page->in->model;
	size_t i, n = ezprof_page_count(page, scope);
	size_t shown = n < EZPROF_PAGE_PLOTS_MAX ? n : EZPROF_PAGE_PLOTS_MAX;

	if (!n)
		return;
	ezprof_put(page->out,
		   EZPROF_HTML_WIDE "<table "
				    "class=\"plots\"><thead><tr>"
				    "<th scope=\"col\">%s</th>",
		   ezprof_scope_word(scope));
	for (i = 0; i < LATENCIES; i++) {
		if (latencies[i].scope != scope)
			continue;
		ezprof_put(page->out, "<th scope=\"col\" title=\"");
		ezprof_html_text(page->out, ezprof_metric(latencies[i].p50)->what);
		ezprof_put(page->out, "\">%s</th>", latencies[i].word);
	}
	ezprof_html_raw(page, "</tr></thead><tbody>\n");
	for (i = 0; i < shown; i++)
		put_row(page, axis, &model->objects[model->first[scope] + i]);
	ezprof_html_raw(page, "</tbody></table></div>\n");
	ezprof_html_cut(page, shown, n, "latencies");
}

void ezprof_html_latencies(struct ezprof_page *page)
{
	struct axis axis = axis_of(page->in->model);

	ezprof_html_raw(page,
			"<section id=\"latencies\"><h2>Latencies</h2>\n<p>How many messages took "
			"how long in the window, on one logarithmic axis for all. Lease: a "
			"receiving process keeps a publisher's buffer. Queue: a message waits for "
			"its subscriber. Process: the user's code works on it. Where only "
			"percentiles are known the line goes from the shortest to the longest and "
			"the box from the median to p99.</p>\n");
	put_rows(page, &axis, EZPROF_PUB);
	put_rows(page, &axis, EZPROF_SUB);
	ezprof_html_raw(page, "</section>\n");
}
