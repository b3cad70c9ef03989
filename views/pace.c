/* SPDX-License-Identifier: MIT */
/* A graph without a problem: does anything move, and what sets the rate? */
#include "flow.h"
#include "load.h"
#include "phrase.h"
#include "relation.h"
#include "why_part.h"

static bool has_problem(const struct ezprof_findings *findings)
{
	size_t i;

	for (i = 0; i < findings->n; i++) {
		if (ezprof_finding_weight(findings->list[i].kind) == EZPROF_PROBLEM)
			return true;
	}
	return false;
}

/* The busiest subscriber of a publisher, or EZPROF_NO_OBJECT. */
static size_t busiest(const struct ezprof_model *model, size_t publisher)
{
	size_t best = EZPROF_NO_OBJECT;
	double most = -1.0;

	EZPROF_EACH_OF (model, EZPROF_LISTENERS_OF, publisher, found) {
		double share = ezprof_busy_share(&model->objects[found->object]);

		if (share > most) {
			most = share;
			best = found->object;
		}
	}
	return best;
}

/* A source that nobody holds up goes at its own pace. */
static void own_pace(struct ezprof_why_context *c, size_t publisher)
{
	const struct ezprof_object *p = &c->model->objects[publisher];
	double rate = ezprof_figure(p, EZPROF_PUB_RATE_HZ, 0.0);
	size_t sub = busiest(c->model, publisher);
	struct ezprof_finding *finding;
	struct ez_buffer text;

	if (rate <= 0 || ezprof_blocked_share(p) >= EZPROF_BLOCKED_SHARE_MIN ||
	    ezprof_why_is_waiting(c->findings, publisher) || !ezprof_is_source(c, publisher))
		return;
	finding = ezprof_finding_add(c->findings, EZPROF_FINDING_OWN_PACE, publisher, 10.0);
	if (!finding)
		return;
	finding->bound_hz = rate;
	ez_buffer_init(&text, SIZE_MAX / 2);
	ezprof_say_publisher(&text, p);
	ez_buffer_append_text(&text, " sets its own pace: ");
	ezprof_say_rate(&text, rate);
	if (ezprof_known(ezprof_value(p, EZPROF_PUB_GAP_P50_MS))) {
		ez_buffer_append_text(&text, ", usually one each ");
		ezprof_say_ms(&text, ezprof_figure(p, EZPROF_PUB_GAP_P50_MS, 0.0));
		ezprof_finding_rests_on(finding, publisher, EZPROF_PUB_GAP_P50_MS);
	}
	ez_buffer_append_text(&text, ", blocked ");
	ezprof_say_share(&text, ezprof_blocked_share(p));
	ez_buffer_append_text(&text, " of the time");
	ezprof_finding_rests_on(finding, publisher, EZPROF_PUB_RATE_HZ);
	ezprof_finding_rests_on(finding, publisher, EZPROF_PUB_BLOCKED_SHARE);
	if (sub != EZPROF_NO_OBJECT && ezprof_capacity_hz(&c->model->objects[sub]) > 0) {
		ez_buffer_append_text(&text, "; its busiest subscriber, ");
		ezprof_say_subscriber(&text, c->model, &c->model->objects[sub]);
		ez_buffer_append_text(&text, ", could take ");
		finding->bound_without_hz = ezprof_capacity_hz(&c->model->objects[sub]);
		ezprof_say_rate(&text, finding->bound_without_hz);
		ezprof_finding_rests_on(finding, sub, EZPROF_SUB_PROCESS_AVG_MS);
	}
	ez_buffer_append_text(&text, ".");
	ezprof_finding_say(c->findings, finding, &text);
}

static void say_busiest(struct ez_buffer *text, double busy, size_t measured, size_t all)
{
	if (!all)
		return;
	if (!measured) {
		ez_buffer_append_text(text, "; what subscribers do is not measured");
		return;
	}
	ez_buffer_append_text(text, ", and the busiest subscriber");
	if (measured < all)
		ezprof_put(text, " of the %zu of %zu that are measured", measured, all);
	ez_buffer_append_text(text, " was busy ");
	ezprof_say_share(text, busy);
	ez_buffer_append_text(text, " of it");
}

static void say_fine(struct ezprof_why_context *c, size_t moving)
{
	struct ezprof_finding *finding =
		ezprof_finding_add(c->findings, EZPROF_FINDING_FINE, 0, 100.0);
	double worst = 0.0, busy = 0.0;
	size_t measured = 0, all = c->model->first[EZPROF_SUB + 1] - c->model->first[EZPROF_SUB];
	struct ez_buffer text;

	if (!finding)
		return;
	EZPROF_EACH (c->model, EZPROF_PUB, i) {
		double share = ezprof_blocked_share(&c->model->objects[i]);

		worst = share > worst ? share : worst;
		if (finding->n_evidence < EZPROF_EVIDENCE_MAX / 2)
			ezprof_finding_rests_on(finding, i, EZPROF_PUB_BLOCKED_SHARE);
	}
	EZPROF_EACH (c->model, EZPROF_SUB, i) {
		double share = ezprof_busy_share(&c->model->objects[i]);

		busy = share > busy ? share : busy;
		measured += ezprof_is_work_measured(&c->model->objects[i]);
		ezprof_finding_rests_on(finding, i, EZPROF_SUB_PROCESS_AVG_MS);
	}
	ez_buffer_init(&text, SIZE_MAX / 2);
	ezprof_put(&text,
		   "Nothing is wrong: %zu publisher%s moved messages, none was blocked more "
		   "than ",
		   moving, moving == 1 ? "" : "s");
	ezprof_say_share(&text, worst);
	ez_buffer_append_text(&text, " of the time");
	say_busiest(&text, busy, measured, all);
	ez_buffer_append_text(&text, ".");
	ezprof_finding_say(c->findings, finding, &text);
}

static void say_idle(struct ezprof_why_context *c)
{
	const struct ezprof_model *model = c->model;
	size_t n = model->first[EZPROF_PUB + 1] - model->first[EZPROF_PUB];
	struct ezprof_finding *finding =
		ezprof_finding_add(c->findings, EZPROF_FINDING_IDLE, 0, 100.0);
	struct ez_buffer text;
	double sent = 0.0;
	size_t known = 0;

	if (!finding)
		return;
	EZPROF_EACH (model, EZPROF_PUB, i) {
		known += ezprof_known(ezprof_value(&model->objects[i], EZPROF_PUB_RATE_HZ));
		sent += ezprof_figure(&model->objects[i], EZPROF_PUB_MESSAGES_TOTAL, 0.0);
		ezprof_finding_rests_on(finding, i, EZPROF_PUB_RATE_HZ);
	}
	ez_buffer_init(&text, SIZE_MAX / 2);
	if (!n) {
		ez_buffer_append_text(&text, "There is no publisher, so nothing to explain.");
	} else if (!known) {
		ezprof_put(&text,
			   "Nobody measures, so whether anything moves is not known; the %zu "
			   "publisher%s sent %.0f until now.",
			   n, n == 1 ? "" : "s", sent);
	} else {
		ezprof_put(&text, "Idle: no message was published in the last ");
		ezprof_say_ms(&text, 1000.0 * ezprof_figure(&model->objects[0],
							    EZPROF_GRAPH_WINDOW_S, 0.0));
		if (known < n)
			ezprof_put(&text, " by the %zu of %zu publishers that are measured", known,
				   n);
		else
			ez_buffer_append_text(&text, ", and nobody is blocked");
		ezprof_put(&text, "; the %zu publisher%s sent %.0f before.", n, n == 1 ? "" : "s",
			   sent);
	}
	ezprof_finding_say(c->findings, finding, &text);
}

void ezprof_why_pace(struct ezprof_why_context *c)
{
	bool problem = has_problem(c->findings);
	size_t moving = 0;

	EZPROF_EACH (c->model, EZPROF_PUB, i) {
		moving += ezprof_figure(&c->model->objects[i], EZPROF_PUB_RATE_HZ, 0.0) > 0;
		own_pace(c, i);
	}
	if (!moving && !problem)
		say_idle(c);
	else if (!problem)
		say_fine(c, moving);
}
