/* SPDX-License-Identifier: MIT */
/* Figures over time: a row for each publisher and subscriber, a small plot for each figure. */
#include "columns.h"
#include "html_part.h"
#include "phrase.h"

#include <math.h>
#include <string.h>

#define WIDTH 180.0
#define HEIGHT 40.0
#define STEPS_MAX 200u /* of several points in one place the largest is drawn */
#define MARGIN 3.0

struct range {
	double least, most, last;
	size_t known;
};

static struct range range_of(const double *points, size_t n)
{
	struct range range = {0};
	size_t i;

	for (i = 0; i < n; i++) {
		if (isnan(points[i]))
			continue;
		range.least = range.known ? fmin(range.least, points[i]) : points[i];
		range.most = range.known ? fmax(range.most, points[i]) : points[i];
		range.last = points[i];
		range.known++;
	}
	return range;
}

/* The largest known of some points, NaN if none is. */
static double largest(const double *points, size_t from, size_t to)
{
	double most = NAN;

	for (; from < to; from++)
		most = isnan(most) ? points[from] : fmax(most, points[from]);
	return most;
}

/* A point that has no neighbour is a dot; what isn't known is a hole. */
static void put_path(struct ezprof_page *page, const double *points, double top)
{
	const struct ezprof_timeline *timeline = page->in->timeline;
	size_t n = timeline->n_points, steps = n < STEPS_MAX ? n : STEPS_MAX, i;
	double span = timeline->times_s[n - 1], x, y;
	bool pen = false;

	ezprof_html_raw(page, "<path class=\"line\" d=\"");
	for (i = 0; i < steps; i++) {
		size_t from = i * n / steps, to = (i + 1) * n / steps;
		double value = largest(points, from, to);

		if (isnan(value)) {
			pen = false;
			continue;
		}
		x = span > 0 ? timeline->times_s[to - 1] / span : 0.0;
		x = MARGIN + fmin(fmax(x, 0.0), 1.0) * (WIDTH - 2.0 * MARGIN);
		y = HEIGHT - MARGIN - value / top * (HEIGHT - 2.0 * MARGIN);
		ezprof_put(page->out, pen ? "L%.1f %.1f" : "M%.1f %.1fh0", x, y);
		pen = true;
	}
	ezprof_html_raw(page, "\"/>");
}

static void cell_of(char out[EZPROF_CELL_BYTES], double value)
{
	bool whole = value < 1e15 && value == floor(value);

	ezprof_cell_text(out, whole ? ezprof_whole((uint64_t)value) : ezprof_real(value));
}

static void put_plot(struct ezprof_page *page, const struct ezprof_track *track, size_t number)
{
	enum ezprof_metric_id id = ezprof_followed(track->scope, number);
	const struct ezprof_metric *metric = ezprof_metric(id);
	struct range range = range_of(track->points[number], page->in->timeline->n_points);
	bool share = metric->unit == EZPROF_UNIT_SHARE;
	double top = share && range.most <= 1.0 ? 1.0 : range.most > 0 ? range.most : 1.0;
	char least[EZPROF_CELL_BYTES], most[EZPROF_CELL_BYTES], last[EZPROF_CELL_BYTES];

	if (!range.known) {
		ezprof_html_raw(page, "<td class=\"plot\">not known</td>");
		return;
	}
	cell_of(least, range.least);
	cell_of(most, range.most);
	cell_of(last, range.last);
	ezprof_put(page->out,
		   "<td class=\"plot\"><svg role=\"img\" width=\"%.0f\" height=\"%.0f\"><title>",
		   WIDTH, HEIGHT);
	ezprof_put(&page->words, "%s of ", metric->id);
	ezprof_say_name(&page->words, track->name);
	ezprof_put(&page->words, ": from %s to %s, at last %s", least, most, last);
	ezprof_html_say(page);
	ezprof_put(page->out, "</title><path class=\"base\" d=\"M0 %.1fH%.0f\"/>", HEIGHT - MARGIN,
		   WIDTH);
	put_path(page, track->points[number], top);
	ezprof_put(page->out, "</svg><span class=\"range\">%s to %s</span></td>", least, most);
}

static void put_track(struct ezprof_page *page, const struct ezprof_track *track)
{
	size_t i;

	ezprof_html_raw(page, "<tr>");
	ezprof_html_names(page, track->name, track->scope == EZPROF_SUB ? track->of : NULL);
	ezprof_put(page->out, "<td class=\"n\">%lld</td>", (long long)track->pid);
	for (i = 0; ezprof_followed(track->scope, i) != EZPROF_METRIC_COUNT; i++)
		put_plot(page, track, i);
	ezprof_html_raw(page, "</tr>\n");
}

static void put_tracks(struct ezprof_page *page, enum ezprof_scope scope)
{
	const struct ezprof_timeline *timeline = page->in->timeline;
	size_t i, n = 0, shown = 0;

	ezprof_put(page->out,
		   EZPROF_HTML_WIDE
		   "<table "
		   "class=\"plots\"><thead><tr>"
		   "<th scope=\"col\">%s</th>%s<th scope=\"col\" class=\"n\">pid</th>",
		   ezprof_scope_word(scope),
		   scope == EZPROF_SUB ? "<th scope=\"col\">of</th>" : "");
	for (i = 0; ezprof_followed(scope, i) != EZPROF_METRIC_COUNT; i++)
		ezprof_html_metric_heading(page, ezprof_followed(scope, i));
	ezprof_html_raw(page, "</tr></thead><tbody>\n");
	for (i = 0; i < timeline->n_tracks; i++) {
		if (timeline->tracks[i].scope != scope)
			continue;
		if (n++ < EZPROF_PAGE_PLOTS_MAX) {
			put_track(page, &timeline->tracks[i]);
			shown++;
		}
	}
	ezprof_html_raw(page, "</tbody></table></div>\n");
	ezprof_html_cut(page, shown, n, "time lines");
}

void ezprof_html_lines(struct ezprof_page *page)
{
	const struct ezprof_timeline *timeline = page->in->timeline;

	ezprof_html_raw(page, "<section id=\"lines\"><h2>Over time</h2>\n");
	if (!timeline || timeline->n_points < 2) {
		ezprof_html_raw(page, "<p>One document alone has no course of time.</p>");
	} else {
		ezprof_put(page->out,
			   "<p>%zu documents over %.1f s, from left to right. Each plot goes from "
			   "0 at its foot to its own largest value, shares to 1; beside it are the "
			   "least and the largest.</p>\n",
			   timeline->n_points, timeline->times_s[timeline->n_points - 1]);
		put_tracks(page, EZPROF_PUB);
		put_tracks(page, EZPROF_SUB);
	}
	ezprof_html_raw(page, "</section>\n");
}
