/* SPDX-License-Identifier: MIT */
/* What the subscriber at the end of a chain suffers from, and what would be without it. */
#include "flow.h"
#include "load.h"
#include "phrase.h"
#include "root_part.h"
#include "task_cost.h"
#include "why_part.h"

#include <string.h>

#define STUCK_SCORE 1000.0

/* "A, B and C" */
static void say_separator(struct ez_buffer *out, size_t i, size_t n)
{
	if (i)
		ez_buffer_append_text(out, i + 1 == n ? " and " : ", ");
}

/* "A and B wait for sink (pid 4): blocked 97 % and 99 % of the time (970 and 990 ms per second)."
 */
static void say_waiting(struct ezprof_root *r)
{
	const struct ezprof_model *model = r->c->model;
	struct ez_buffer *out = &r->text;
	size_t i, n = r->n_publishers;

	for (i = 0; i < n; i++) {
		say_separator(out, i, n);
		ezprof_say_publisher(out, &model->objects[r->publishers[i]]);
		ezprof_finding_rests_on(r->finding, r->publishers[i], EZPROF_PUB_BLOCKED_SHARE);
		r->finding->waiting[r->finding->n_waiting++] = r->publishers[i];
	}
	ez_buffer_append_text(out, n == 1 ? " waits for " : " wait for ");
	ezprof_say_subscriber(out, model, r->s);
	ez_buffer_append_text(out, ": blocked ");
	for (i = 0; i < n; i++) {
		say_separator(out, i, n);
		ezprof_say_share(out, ezprof_blocked_share(&model->objects[r->publishers[i]]));
	}
	ez_buffer_append_text(out, " of the time (");
	for (i = 0; i < n; i++) {
		say_separator(out, i, n);
		ezprof_put(out, "%.0f",
			   1000.0 * ezprof_blocked_share(&model->objects[r->publishers[i]]));
	}
	ez_buffer_append_text(out, " ms per second).");
}

/* Those between: what they need themselves, and how one knows that they are between. */
static void say_innocents(struct ezprof_root *r)
{
	const struct ezprof_model *model = r->c->model;
	size_t i, k;

	EZPROF_EACH (model, EZPROF_SUB, x) {
		const struct ezprof_object *s = &model->objects[x];
		enum ezprof_flow_by by = EZPROF_FLOW_NOT;

		for (i = 0; i < r->n_publishers && x != r->at; i++) {
			for (k = 0; k < r->n_publishers && !by; k++) {
				if (s->from == r->publishers[i] && i != k)
					by = ezprof_flow(model, x, r->publishers[k]);
			}
		}
		if (!by)
			continue;
		ez_buffer_append_text(&r->text, " ");
		ezprof_say_subscriber_name(&r->text, model, s);
		ez_buffer_append_text(&r->text, " only waits too");
		if (ezprof_is_told_by_ezmsg(s)) {
			ez_buffer_append_text(&r->text, ".");
			continue;
		}
		ez_buffer_append_text(&r->text, ": it needs ");
		ezprof_say_ms(&r->text, ezprof_figure(s, EZPROF_SUB_PROCESS_AVG_MS, 0.0));
		ez_buffer_append_text(&r->text, " itself");
		if (by == EZPROF_FLOW_PROCESS)
			ez_buffer_append_text(&r->text, " (taken to be what feeds the next, being "
							"in the same process)");
		ez_buffer_append_text(&r->text, ".");
		ezprof_finding_rests_on(r->finding, x, EZPROF_SUB_PROCESS_AVG_MS);
	}
}

/* Does the publisher begin the chain: does nobody that is measured feed it? */
static bool is_source(const struct ezprof_model *model, size_t publisher)
{
	EZPROF_EACH (model, EZPROF_SUB, i) {
		if (ezprof_flow(model, i, publisher))
			return false;
	}
	return true;
}

static bool is_waiting(const struct ezprof_root *r, size_t publisher)
{
	size_t i;

	for (i = 0; i < r->n_publishers; i++) {
		if (r->publishers[i] == publisher)
			return true;
	}
	return false;
}

/* What would bound the rate next: another subscriber of the same chain, or a source's own pace. */
static void say_without(struct ezprof_root *r)
{
	const struct ezprof_model *model = r->c->model;
	size_t by = EZPROF_NO_OBJECT, i;
	double hz = -1.0;

	EZPROF_EACH (model, EZPROF_SUB, x) {
		double capacity = ezprof_capacity_hz(&model->objects[x]);
		size_t from = model->objects[x].from;

		if (x == r->at || capacity <= 0 || ezprof_is_told_by_ezmsg(&model->objects[x]) ||
		    from == EZPROF_NO_OBJECT ||
		    !(is_waiting(r, from) || ezprof_flow(model, r->at, from)))
			continue;
		if (hz < 0 || capacity < hz) {
			hz = capacity;
			by = x;
		}
	}
	for (i = 0; i < r->n_publishers; i++) {
		double own_ms = ezprof_own_ms(&model->objects[r->publishers[i]]);

		if (own_ms > 0 && !ezprof_is_told_by_ezmsg(&model->objects[r->publishers[i]]) &&
		    (hz < 0 || 1000.0 / own_ms < hz) && is_source(model, r->publishers[i])) {
			hz = 1000.0 / own_ms;
			by = r->publishers[i];
		}
	}
	if (by == EZPROF_NO_OBJECT)
		return;
	r->finding->bound_without_hz = hz;
	ez_buffer_append_text(&r->text, " Without it at most ");
	ezprof_say_rate(&r->text, hz);
	ez_buffer_append_text(&r->text, ", the limit of ");
	if (model->objects[by].scope == EZPROF_SUB) {
		ezprof_say_subscriber_name(&r->text, model, &model->objects[by]);
		ezprof_finding_rests_on(r->finding, by, EZPROF_SUB_PROCESS_AVG_MS);
	} else {
		ezprof_say_publisher(&r->text, &model->objects[by]);
		ez_buffer_append_text(&r->text, " itself");
		ezprof_finding_rests_on(r->finding, by, EZPROF_PUB_MESSAGES_WINDOW);
	}
	ez_buffer_append_text(&r->text, ".");
}

static size_t link_of(const struct ezprof_model *model, const struct ezprof_object *s)
{
	EZPROF_EACH (model, EZPROF_LINK, i) {
		const struct ezprof_object *link = &model->objects[i];

		if (link->parent == s->from &&
		    strcmp(ezprof_label(link, EZPROF_LABEL_CHANNEL_ID),
			   ezprof_label(s, EZPROF_LABEL_CHANNEL_ID)) == 0)
			return i;
	}
	return EZPROF_NO_OBJECT;
}

void ezprof_why_root(struct ezprof_why_context *c, size_t subscriber, const size_t *publishers,
		     size_t n_publishers)
{
	struct ezprof_root r = {.c = c,
				.at = subscriber,
				.s = &c->model->objects[subscriber],
				.publishers = publishers,
				.n_publishers = n_publishers};
	enum ezprof_finding_kind kind;
	double worst = 0.0;
	size_t i;

	r.holder = ezprof_loop_holder(c->model, c->before, r.s);
	r.link = link_of(c->model, r.s);
	kind = ezprof_root_classify(&r);
	for (i = 0; i < n_publishers; i++) {
		double share = ezprof_blocked_share(&c->model->objects[publishers[i]]);

		worst = share > worst ? share : worst;
	}
	r.finding = ezprof_finding_add(c->findings, kind, subscriber,
				       100.0 * worst + (double)n_publishers +
					       (kind == EZPROF_FINDING_STUCK ? STUCK_SCORE : 0.0));
	if (!r.finding)
		return;
	ez_buffer_init(&r.text, SIZE_MAX / 2);
	say_waiting(&r);
	ezprof_root_say_cause(&r, kind);
	say_innocents(&r);
	if (kind != EZPROF_FINDING_FEW_BUFFERS)
		say_without(&r);
	ezprof_finding_say(c->findings, r.finding, &r.text);
}
