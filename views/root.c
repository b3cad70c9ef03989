/* SPDX-License-Identifier: MIT */
/* What the subscriber at the end of a chain suffers from, and what would be without it. */
#include "flow.h"
#include "load.h"
#include "phrase.h"
#include "relation.h"
#include "root_part.h"
#include "task_cost.h"
#include "why_part.h"

#include <math.h>

#define STUCK_SCORE 1000.0
#define NAMED_MAX 6u /* of more, some are named and the rest counted */

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
	size_t shown = r->n_waiting > NAMED_MAX ? NAMED_MAX - 2 : r->n_waiting, i;
	size_t more = r->n_waiting - shown;

	for (i = 0; i < r->n_waiting; i++)
		ezprof_finding_holds_up(r->c->findings, r->finding, r->waiting[i]->publisher);
	for (i = 0; i < shown; i++) {
		say_separator(out, i, shown + (more > 0));
		ezprof_say_publisher(out, &model->objects[r->waiting[i]->publisher]);
		ezprof_finding_rests_on(r->finding, r->waiting[i]->publisher,
					EZPROF_PUB_BLOCKED_SHARE);
	}
	if (more)
		ezprof_put(out, " and %zu more", more);
	ez_buffer_append_text(out, r->n_waiting == 1 ? " waits for " : " wait for ");
	ezprof_say_subscriber(out, model, r->s);
	ez_buffer_append_text(out, ": blocked ");
	for (i = 0; i < shown; i++) {
		say_separator(out, i, shown);
		ezprof_say_share(out,
				 ezprof_blocked_share(&model->objects[r->waiting[i]->publisher]));
	}
	ez_buffer_append_text(out, " of the time (");
	for (i = 0; i < shown; i++) {
		say_separator(out, i, shown);
		ezprof_put(out, "%.0f",
			   1000.0 *
				   ezprof_blocked_share(&model->objects[r->waiting[i]->publisher]));
	}
	ez_buffer_append_text(out, " ms per second).");
}

/* Those between: what they need themselves, and how one knows that they are between. */
static void say_innocents(struct ezprof_root *r)
{
	const struct ezprof_model *model = r->c->model;
	size_t i, said = 0;

	for (i = r->n_waiting; i-- > 0 && said < NAMED_MAX;) {
		size_t between = r->waiting[i]->holder, next = r->waiting[i]->next;
		const struct ezprof_object *s = &model->objects[between];

		if (next == EZPROF_NO_OBJECT || between == r->at)
			continue;
		said++;
		ez_buffer_append_text(&r->text, " ");
		ezprof_say_subscriber_name(&r->text, model, s);
		ez_buffer_append_text(&r->text, " only waits too");
		if (ezprof_is_told_by_ezmsg(s) || !ezprof_is_work_measured(s)) {
			ez_buffer_append_text(&r->text, ".");
			continue;
		}
		ez_buffer_append_text(&r->text, ": it needs ");
		ezprof_say_ms(&r->text, ezprof_figure(s, EZPROF_SUB_PROCESS_AVG_MS, 0.0));
		ez_buffer_append_text(&r->text, " itself");
		if (ezprof_flow(model, between, next) == EZPROF_FLOW_PROCESS)
			ez_buffer_append_text(&r->text, " (taken to be what feeds the next, being "
							"in the same process)");
		ez_buffer_append_text(&r->text, ".");
		ezprof_finding_rests_on(r->finding, between, EZPROF_SUB_PROCESS_AVG_MS);
	}
}

/* Of two that limit the rate the slower one. */
static void take_limit(double hz, size_t object, double *least_hz, size_t *by)
{
	if (hz > 0 && (*least_hz < 0 || hz < *least_hz || (hz <= *least_hz && object < *by))) {
		*least_hz = hz;
		*by = object;
	}
}

/*
 * Another subscriber of the same chain that would limit the rate: one of those that wait, or behind
 * the root. False: any of those that nobody measures may be the next limit.
 */
static bool next_limit(const struct ezprof_root *r, double *hz, size_t *by)
{
	const struct ezprof_model *model = r->c->model;
	const struct ezprof_found *behind = ezprof_flow_best(&r->c->limits, model, r->at);
	size_t i;

	if (behind && isinf(behind->weight))
		return false;
	if (behind)
		take_limit(-behind->weight, behind->object, hz, by);
	for (i = 0; i < r->n_waiting; i++) {
		EZPROF_EACH_OF (model, EZPROF_LISTENERS_OF, r->waiting[i]->publisher, found) {
			const struct ezprof_object *s = &model->objects[found->object];

			if (found->object == r->at || ezprof_is_told_by_ezmsg(s))
				continue;
			if (!ezprof_is_work_measured(s))
				return false;
			take_limit(ezprof_capacity_hz(s), found->object, hz, by);
		}
	}
	return true;
}

/* What would bound the rate next: another subscriber of the same chain, or a source's own pace. */
static void say_without(struct ezprof_root *r)
{
	const struct ezprof_model *model = r->c->model;
	size_t by = EZPROF_NO_OBJECT, i;
	double hz = -1.0;

	if (!next_limit(r, &hz, &by))
		return;
	for (i = 0; i < r->n_waiting; i++) {
		double own_ms = ezprof_own_ms(&model->objects[r->waiting[i]->publisher]);

		if (own_ms > 0 &&
		    !ezprof_is_told_by_ezmsg(&model->objects[r->waiting[i]->publisher]) &&
		    (hz < 0 || 1000.0 / own_ms < hz) &&
		    ezprof_is_source(r->c, r->waiting[i]->publisher)) {
			hz = 1000.0 / own_ms;
			by = r->waiting[i]->publisher;
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

void ezprof_why_root(struct ezprof_why_context *c, size_t subscriber,
		     const struct ezprof_blame *blame, size_t n)
{
	struct ezprof_root r = {.c = c,
				.at = subscriber,
				.s = &c->model->objects[subscriber],
				.waiting = blame->waiting,
				.n_waiting = n};
	enum ezprof_finding_kind kind;
	double worst = 0.0;
	size_t i;

	r.holder = ezprof_loop_holder(c->model, &c->holds, r.s);
	r.link = ezprof_link_to(c->model, r.s);
	kind = ezprof_root_classify(&r);
	for (i = 0; i < n; i++) {
		double share = ezprof_blocked_share(&c->model->objects[r.waiting[i]->publisher]);

		worst = share > worst ? share : worst;
	}
	r.finding = ezprof_finding_add(c->findings, kind, subscriber,
				       100.0 * worst + (double)n +
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
