/* SPDX-License-Identifier: MIT */
/* What a listener notices of a stream: leases that stay, dropped messages, gaps. */
#include "flow.h"
#include "load.h"
#include "phrase.h"
#include "task_cost.h"
#include "why_part.h"

#define STUCK_MS_MIN 2000.0
#define STUCK_RATIO 10.0
#define STUCK_SCORE 500.0
#define DROPS_SCORE 60.0
#define GAP_MS_MIN 50.0
#define GAP_RATIO 10.0
#define GAP_SCORE_MAX 50.0

/* A message that is held far longer than the others, while the stream goes on. */
static void stuck_lease(struct ezprof_why_context *c, size_t subscriber)
{
	const struct ezprof_object *s = &c->model->objects[subscriber];
	double oldest_ms = ezprof_figure(s, EZPROF_SUB_OLDEST_LEASE_MS, 0.0);
	double usual_ms = ezprof_figure(s, EZPROF_SUB_LEASE_MAX_MS, 0.0);
	double covered_ms = 1000.0 * ezprof_figure(s, EZPROF_SUB_COVERED_S, 0.0);
	struct ezprof_finding *finding;
	struct ez_buffer text;

	if (oldest_ms < STUCK_MS_MIN || oldest_ms < STUCK_RATIO * usual_ms ||
	    oldest_ms < covered_ms)
		return;
	finding = ezprof_finding_add(c->findings, EZPROF_FINDING_STUCK, subscriber, STUCK_SCORE);
	if (!finding)
		return;
	ez_buffer_init(&text, SIZE_MAX / 2);
	ezprof_say_subscriber(&text, c->model, s);
	ez_buffer_append_text(&text, " has held a message for ");
	ezprof_say_ms(&text, oldest_ms);
	if (usual_ms > 0) {
		ez_buffer_append_text(&text, ", while the others took ");
		ezprof_say_ms(&text, usual_ms);
		ez_buffer_append_text(&text, " at most");
	}
	ez_buffer_append_text(&text, ". Its buffer is lost to the publisher until then, which "
				     "will stand still when that buffer's turn comes.");
	ezprof_finding_rests_on(finding, subscriber, EZPROF_SUB_OLDEST_LEASE_MS);
	ezprof_finding_rests_on(finding, subscriber, EZPROF_SUB_LEASE_MAX_MS);
	ezprof_finding_say(c->findings, finding, &text);
}

static void drops(struct ezprof_why_context *c, size_t subscriber)
{
	const struct ezprof_object *s = &c->model->objects[subscriber];
	const struct ezprof_object *earlier = ezprof_earlier(c->before, s);
	double dropped = ezprof_growth(c->before, s, EZPROF_SUB_DROPS_TOTAL);
	double released = ezprof_growth(c->before, s, EZPROF_SUB_MESSAGES_TOTAL);
	struct ezprof_finding *finding;
	struct ez_buffer text;

	if (dropped < 1)
		return;
	finding = ezprof_finding_add(c->findings, EZPROF_FINDING_DROPS, subscriber,
				     DROPS_SCORE * (released > 0 ? dropped / released : 1.0));
	if (!finding)
		return;
	ez_buffer_init(&text, SIZE_MAX / 2);
	ezprof_say_subscriber(&text, c->model, s);
	ezprof_put(&text, " is leaky and dropped %.0f of %.0f messages unread", dropped, released);
	ez_buffer_append_text(&text, earlier ? " while ezprof looked" : " since it was opened");
	if (ezprof_busy_share(s) > 0) {
		ez_buffer_append_text(&text, ": it needs ");
		ezprof_say_ms(&text, ezprof_figure(s, EZPROF_SUB_PROCESS_AVG_MS, 0.0));
		ez_buffer_append_text(&text, " for one, so at most ");
		finding->bound_hz = ezprof_capacity_hz(s);
		ezprof_say_rate(&text, finding->bound_hz);
		ezprof_finding_rests_on(finding, subscriber, EZPROF_SUB_PROCESS_AVG_MS);
	}
	if (s->from != EZPROF_NO_OBJECT) {
		ez_buffer_append_text(&text, "; ");
		ezprof_say_publisher(&text, &c->model->objects[s->from]);
		ez_buffer_append_text(&text, " sends ");
		ezprof_say_rate(
			&text, ezprof_figure(&c->model->objects[s->from], EZPROF_PUB_RATE_HZ, 0.0));
		ezprof_finding_rests_on(finding, s->from, EZPROF_PUB_RATE_HZ);
	}
	ez_buffer_append_text(&text, ".");
	ezprof_finding_rests_on(finding, subscriber, EZPROF_SUB_DROPS_TOTAL);
	ezprof_finding_rests_on(finding, subscriber, EZPROF_SUB_MESSAGES_TOTAL);
	ezprof_finding_say(c->findings, finding, &text);
}

/* Of a publisher whose stream is steady otherwise. */
bool ezprof_has_gap(const struct ezprof_object *p)
{
	double longest = ezprof_figure(p, EZPROF_PUB_GAP_LONGEST_MS, 0.0);
	double usual = ezprof_figure(p, EZPROF_PUB_GAP_P50_MS, -1.0);

	return usual >= 0 && longest >= GAP_MS_MIN && longest >= GAP_RATIO * usual &&
	       longest >= GAP_RATIO / 2 * ezprof_figure(p, EZPROF_PUB_GAP_AVG_MS, 0.0) &&
	       !ezprof_is_bursty(p);
}

/* A gap that came from upstream is told there. */
static bool gap_is_inherited(const struct ezprof_why_context *c, size_t publisher)
{
	const struct ezprof_found *from = ezprof_flow_best(&c->gaps, c->model, publisher);

	return from && from->weight >= ezprof_figure(&c->model->objects[publisher],
						     EZPROF_PUB_GAP_LONGEST_MS, 0.0) /
					       2;
}

static void say_when(struct ez_buffer *text, const struct ezprof_model *model,
		     const struct ezprof_object *p)
{
	struct ezprof_number at = ezprof_value(p, EZPROF_PUB_GAP_LONGEST_AT_NS);

	if (ezprof_figure(p, EZPROF_PUB_GAP_NOW_MS, 0.0) >=
	    ezprof_figure(p, EZPROF_PUB_GAP_LONGEST_MS, 0.0)) {
		ez_buffer_append_text(text, " and goes on");
	} else if (at.kind == EZPROF_WHOLE && at.whole <= model->time_ns) {
		ez_buffer_append_text(text, ", ended ");
		ezprof_say_ms(text, (double)(model->time_ns - at.whole) / 1e6);
		ez_buffer_append_text(text, " ago");
	}
}

static void gap(struct ezprof_why_context *c, size_t publisher)
{
	const struct ezprof_object *p = &c->model->objects[publisher];
	double longest = ezprof_figure(p, EZPROF_PUB_GAP_LONGEST_MS, 0.0);
	double blocked = ezprof_figure(p, EZPROF_PUB_BLOCKED_MAX_MS, 0.0);
	struct ezprof_finding *finding;
	struct ez_buffer text;

	/* Of one that is held up the gaps are those of whom it waits for. */
	if (!ezprof_has_gap(p) || ezprof_why_is_waiting(c->findings, publisher) ||
	    gap_is_inherited(c, publisher))
		return;
	finding =
		ezprof_finding_add(c->findings, EZPROF_FINDING_GAP, publisher,
				   longest / 20.0 > GAP_SCORE_MAX ? GAP_SCORE_MAX : longest / 20.0);
	if (!finding)
		return;
	ez_buffer_init(&text, SIZE_MAX / 2);
	ezprof_say_publisher(&text, p);
	ez_buffer_append_text(&text, " stuttered: its longest gap is ");
	ezprof_say_ms(&text, longest);
	say_when(&text, c->model, p);
	ez_buffer_append_text(&text, "; usually it is ");
	ezprof_say_ms(&text, ezprof_figure(p, EZPROF_PUB_GAP_P50_MS, 0.0));
	if (blocked >= longest / 2) {
		ez_buffer_append_text(&text, ". It stood blocked for up to ");
		ezprof_say_ms(&text, blocked);
		ez_buffer_append_text(&text, " then");
		ezprof_finding_rests_on(finding, publisher, EZPROF_PUB_BLOCKED_MAX_MS);
	} else {
		ez_buffer_append_text(&text, ". It wasn't blocked: it did not publish");
	}
	ez_buffer_append_text(&text, ".");
	ezprof_finding_rests_on(finding, publisher, EZPROF_PUB_GAP_LONGEST_MS);
	ezprof_finding_rests_on(finding, publisher, EZPROF_PUB_GAP_P50_MS);
	ezprof_finding_say(c->findings, finding, &text);
}

void ezprof_why_streams(struct ezprof_why_context *c)
{
	EZPROF_EACH (c->model, EZPROF_SUB, i) {
		if (!(c->findings->marks[i] & EZPROF_MARK_SUBJECT))
			stuck_lease(c, i);
		drops(c, i);
	}
	EZPROF_EACH (c->model, EZPROF_PUB, i)
		gap(c, i);
}
