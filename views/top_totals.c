/* SPDX-License-Identifier: MIT */
#include "top_totals.h"
#include "gauge.h"
#include "phrase.h"
#include "text_width.h"

#include <math.h>
#include <string.h>

#define GAP "  "

static double sum(const struct ezprof_model *model, enum ezprof_metric_id metric)
{
	enum ezprof_scope scope = ezprof_metric(metric)->scope;
	double total = (double)NAN;
	size_t i;

	for (i = model->first[scope]; i < model->first[scope + 1]; i++) {
		double value = ezprof_figure(&model->objects[i], metric, (double)NAN);

		if (!isnan(value))
			total = isnan(total) ? value : total + value;
	}
	return total;
}

/* Appends a part to the line, if it fits as a whole. */
static void put_part(struct ezprof_screen *screen, enum ezprof_style style, struct ez_buffer *part)
{
	unsigned int columns;

	ez_buffer_append(part, "", 1);
	if (!part->err) {
		const char *text = (const char *)part->data;

		columns = ezprof_text_columns(text, strlen(text)) + (screen->at ? 2 : 0);
		/* The first one is shown in any case, cut if need be. */
		if (!screen->at || !screen->columns || screen->at + columns <= screen->columns) {
			if (screen->at)
				ezprof_screen_put(screen, EZPROF_STYLE_PLAIN, GAP);
			ezprof_screen_put(screen, style, text);
		}
	} else {
		screen->failed = true;
	}
	ez_buffer_reset(part);
}

static void put_traffic(const struct ezprof_model *model, struct ezprof_screen *screen,
			struct ez_buffer *part)
{
	double rate = sum(model, EZPROF_PUB_RATE_HZ), bytes = sum(model, EZPROF_PUB_BYTES_PER_S);
	char figure[EZPROF_FIGURE_BYTES];

	ezprof_gauge_figure(figure, rate);
	ezprof_put(part, "%s msg/s", isnan(rate) ? "?" : figure);
	put_part(screen, EZPROF_STYLE_TITLE, part);
	if (isnan(bytes))
		ez_buffer_append_text(part, "? bytes/s");
	else {
		ezprof_say_bytes(part, bytes);
		ez_buffer_append_text(part, "/s");
	}
	put_part(screen, EZPROF_STYLE_PLAIN, part);
}

static void put_trust(const struct ezprof_model *model, struct ezprof_screen *screen,
		      struct ez_buffer *part)
{
	double lost = ezprof_figure(&model->objects[0], EZPROF_GRAPH_LOST_TOTAL, (double)NAN);

	if (isnan(lost))
		ez_buffer_append_text(part, "lost ?");
	else
		ezprof_put(part, "%slost %.0f", lost > 0 ? "! " : "", lost);
	put_part(screen, lost > 0 ? EZPROF_STYLE_PROBLEM : EZPROF_STYLE_PLAIN, part);
	if (!model->n_errors)
		return;
	ezprof_put(part, "! %zu silent", model->n_errors);
	put_part(screen, EZPROF_STYLE_PROBLEM, part);
}

/* The agents' CPU and the probes', as far as the document has them. */
static void put_cost(const struct ezprof_model *model, struct ezprof_screen *screen,
		     struct ez_buffer *part)
{
	double agents = sum(model, EZPROF_AGENT_CPU_SHARE);
	double probes = sum(model, EZPROF_AGENT_PROBES_CPU_SHARE);
	double hits = sum(model, EZPROF_AGENT_HITS_HZ), ns = (double)NAN;
	char figure[EZPROF_FIGURE_BYTES];

	if (model->first[EZPROF_AGENT] == model->first[EZPROF_AGENT + 1]) {
		ez_buffer_append_text(part, "no agent measures");
		put_part(screen, EZPROF_STYLE_ADVICE, part);
		return;
	}
	if (!isnan(agents)) {
		ez_buffer_append_text(part, "cost ");
		ezprof_say_share(part, agents + (isnan(probes) ? 0.0 : probes));
		ez_buffer_append_text(part, " of a CPU");
		put_part(screen, EZPROF_STYLE_PLAIN, part);
	}
	if (!isnan(probes) && hits > 0)
		ns = probes * 1e9 / hits;
	if (!isnan(ns)) {
		ezprof_gauge_figure(figure, ns);
		ezprof_put(part, "%s ns/event", figure);
		put_part(screen, EZPROF_STYLE_PLAIN, part);
	}
	if (!isnan(hits)) {
		ezprof_gauge_figure(figure, hits);
		ezprof_put(part, "%s events/s", figure);
		put_part(screen, EZPROF_STYLE_FAINT, part);
	}
}

void ezprof_top_totals(const struct ezprof_model *model, size_t processes,
		       struct ezprof_screen *screen)
{
	size_t pubs = model->first[EZPROF_PUB + 1] - model->first[EZPROF_PUB];
	size_t subs = model->first[EZPROF_SUB + 1] - model->first[EZPROF_SUB];
	/* In full where there is room for the rest. */
	bool wide = !screen->columns || screen->columns >= 120;
	struct ez_buffer part;

	ez_buffer_init(&part, SIZE_MAX / 2);
	put_traffic(model, screen, &part);
	put_trust(model, screen, &part);
	ezprof_put(&part,
		   wide ? "%zu process%s, %zu publisher%s, %zu subscriber%s"
			: "%zu proc%.0s %zu pub%.0s %zu sub%.0s",
		   processes, processes == 1 ? "" : "es", pubs, pubs == 1 ? "" : "s", subs,
		   subs == 1 ? "" : "s");
	put_part(screen, EZPROF_STYLE_PLAIN, &part);
	put_cost(model, screen, &part);
	ez_buffer_free(&part);
	ezprof_screen_end_line(screen, false);
}
