/* SPDX-License-Identifier: MIT */
/* Messages that wait although no publisher is blocked: a held event loop, bursts, a full load. */
#include "flow.h"
#include "load.h"
#include "phrase.h"
#include "task_cost.h"
#include "why_part.h"

#define WAIT_MS_MIN 5.0
#define WAIT_RATIO 3.0
#define FULL_SHARE 0.95
#define LATE_SCORE 1.0 /* a second of waiting is worth as much as a publisher fully blocked */
#define LATE_SCORE_MAX 90.0

/* Do its messages wait much longer than they take? */
static bool messages_wait(const struct ezprof_object *s)
{
	double queue_ms = ezprof_figure(s, EZPROF_SUB_QUEUE_AVG_MS, 0.0);

	return queue_ms >= WAIT_MS_MIN &&
	       queue_ms >= WAIT_RATIO * ezprof_figure(s, EZPROF_SUB_PROCESS_AVG_MS, 0.0);
}

static double score_of(const struct ezprof_object *s)
{
	double score = LATE_SCORE * ezprof_figure(s, EZPROF_SUB_QUEUE_AVG_MS, 0.0) / 10.0;

	return score > LATE_SCORE_MAX ? LATE_SCORE_MAX : score;
}

/* Is it part of a finding about a chain already? */
static bool is_explained(const struct ezprof_why_context *c, size_t subscriber)
{
	size_t from = c->model->objects[subscriber].from;

	return c->findings->marks[subscriber] ||
	       (from != EZPROF_NO_OBJECT && ezprof_why_is_waiting(c->findings, from));
}

/* Is it all that it can do? What ezmsg tells counts waits as work. */
static bool is_full(const struct ezprof_why_context *c, size_t subscriber)
{
	const struct ezprof_object *s = &c->model->objects[subscriber];

	if (ezprof_busy_share(s) < FULL_SHARE)
		return false;
	/* Its processing may be no more than a wait for whom it feeds. */
	return s->from != EZPROF_NO_OBJECT ||
	       !(ezprof_is_told_by_ezmsg(s) || ezprof_flow_best(&c->blocked, c->model, subscriber));
}

static void say_wait(struct ez_buffer *text, struct ezprof_finding *finding,
		     const struct ezprof_model *model, size_t subscriber)
{
	const struct ezprof_object *s = &model->objects[subscriber];

	ez_buffer_append_text(text, "the messages of ");
	ezprof_say_subscriber(text, model, s);
	ez_buffer_append_text(text, " wait ");
	ezprof_say_ms(text, ezprof_figure(s, EZPROF_SUB_QUEUE_AVG_MS, 0.0));
	ezprof_finding_rests_on(finding, subscriber, EZPROF_SUB_QUEUE_AVG_MS);
	if (ezprof_figure(s, EZPROF_SUB_PROCESS_SAMPLES, 0.0) < 1) {
		ez_buffer_append_text(text, " on average, and it finished none");
		return;
	}
	ez_buffer_append_text(text, " on average, although it needs only ");
	ezprof_say_ms(text, ezprof_figure(s, EZPROF_SUB_PROCESS_AVG_MS, 0.0));
	ezprof_finding_rests_on(finding, subscriber, EZPROF_SUB_PROCESS_AVG_MS);
}

/* One finding per task that holds a loop, with all subscribers that it makes wait. */
static void held_by(struct ezprof_why_context *c, const struct ezprof_lookup *held, size_t holder)
{
	const struct ezprof_object *task = &c->model->objects[holder];
	const struct ezprof_found *first = ezprof_lookup_first(held, holder);
	struct ezprof_finding *finding =
		ezprof_finding_add(c->findings, EZPROF_FINDING_LOOP_HELD, holder,
				   score_of(&c->model->objects[first->object]));
	struct ez_buffer text;

	if (!finding)
		return;
	ez_buffer_init(&text, SIZE_MAX / 2);
	ezprof_say_name(&text, ezprof_label(task, EZPROF_LABEL_TASK));
	ezprof_put(&text, " (pid %lld) holds its event loop, up to ", (long long)task->pid);
	ezprof_say_ms(&text, ezprof_figure(task, EZPROF_TASK_HOLD_MAX_MS, 0.0));
	ez_buffer_append_text(&text, " at a time, and delays everybody on it: ");
	ezprof_finding_rests_on(finding, holder, EZPROF_TASK_HOLD_MAX_MS);
	EZPROF_EACH_FOUND (held, holder, found) {
		if (found != first)
			ez_buffer_append_text(&text, " Likewise ");
		say_wait(&text, finding, c->model, found->object);
		ez_buffer_append_text(&text, ".");
		ezprof_finding_holds_up(c->findings, finding, found->object);
	}
	ezprof_finding_say(c->findings, finding, &text);
}

static void in_bursts(struct ezprof_why_context *c, size_t subscriber)
{
	const struct ezprof_object *s = &c->model->objects[subscriber];
	const struct ezprof_object *p = &c->model->objects[s->from];
	struct ezprof_finding *finding =
		ezprof_finding_add(c->findings, EZPROF_FINDING_BURSTS, s->from, score_of(s));
	struct ez_buffer text;

	if (!finding)
		return;
	ez_buffer_init(&text, SIZE_MAX / 2);
	ezprof_say_publisher(&text, p);
	ez_buffer_append_text(&text, " sends in bursts (half of the gaps are under ");
	ezprof_say_ms(&text, ezprof_figure(p, EZPROF_PUB_GAP_P50_MS, 0.0));
	ez_buffer_append_text(&text, ", the longest is ");
	ezprof_say_ms(&text, ezprof_figure(p, EZPROF_PUB_GAP_LONGEST_MS, 0.0));
	ez_buffer_append_text(&text, "): ");
	say_wait(&text, finding, c->model, subscriber);
	ez_buffer_append_text(&text, " and is busy ");
	ezprof_say_share(&text, ezprof_busy_share(s));
	ez_buffer_append_text(&text, " of the time. Nobody is blocked.");
	ezprof_finding_rests_on(finding, s->from, EZPROF_PUB_GAP_P50_MS);
	ezprof_finding_rests_on(finding, s->from, EZPROF_PUB_GAP_LONGEST_MS);
	ezprof_finding_holds_up(c->findings, finding, subscriber);
	ezprof_finding_say(c->findings, finding, &text);
}

static bool is_publisher_measured(const struct ezprof_model *model, const struct ezprof_object *s)
{
	return s->from != EZPROF_NO_OBJECT &&
	       ezprof_known(ezprof_value(&model->objects[s->from], EZPROF_PUB_BLOCKED_SHARE));
}

static void say_full(struct ezprof_why_context *c, struct ezprof_finding *finding,
		     struct ez_buffer *text, size_t subscriber)
{
	const struct ezprof_object *s = &c->model->objects[subscriber];

	ezprof_say_subscriber(text, c->model, s);
	ez_buffer_append_text(text, " is at its limit: ");
	finding->bound_hz = ezprof_capacity_hz(s);
	if (finding->bound_hz > 0) {
		ezprof_say_ms(text, ezprof_figure(s, EZPROF_SUB_PROCESS_AVG_MS, 0.0));
		ez_buffer_append_text(text, " per message, so at most ");
		ezprof_say_rate(text, finding->bound_hz);
		ez_buffer_append_text(text, "; ");
		ezprof_finding_rests_on(finding, subscriber, EZPROF_SUB_PROCESS_AVG_MS);
	}
	ez_buffer_append_text(text, "busy ");
	ezprof_say_share(text, ezprof_busy_share(s));
	ez_buffer_append_text(text,
			      !is_publisher_measured(c->model, s)
				      ? " of the time. Whether its publisher waits for it is not "
					"measured: attach to that process too."
				      : " of the time. Nobody waits for it yet.");
	ezprof_say_time_spent(text, finding, c->model, subscriber);
}

/* At its limit, or late for no reason that is known. */
static void full_or_late(struct ezprof_why_context *c, size_t subscriber)
{
	const struct ezprof_object *s = &c->model->objects[subscriber];
	bool full = is_full(c, subscriber);
	struct ezprof_finding *finding =
		ezprof_finding_add(c->findings, full ? EZPROF_FINDING_SLOW : EZPROF_FINDING_LATE,
				   subscriber, score_of(s));
	struct ez_buffer text;

	if (!finding)
		return;
	ez_buffer_init(&text, SIZE_MAX / 2);
	if (full) {
		say_full(c, finding, &text, subscriber);
	} else {
		say_wait(&text, finding, c->model, subscriber);
		ez_buffer_append_text(&text, "; what keeps it from them is not measured.");
		if (text.data && text.len)
			text.data[0] = 'T';
	}
	ezprof_finding_say(c->findings, finding, &text);
}

/* The task that makes its messages wait, if one does. */
static size_t holder_of(const struct ezprof_why_context *c, size_t subscriber)
{
	const struct ezprof_object *s = &c->model->objects[subscriber];
	size_t holder = EZPROF_NO_OBJECT;

	if (!is_explained(c, subscriber) && messages_wait(s))
		holder = ezprof_loop_holder(c->model, &c->holds, s);
	if (holder != EZPROF_NO_OBJECT &&
	    ezprof_figure(&c->model->objects[holder], EZPROF_TASK_HOLD_MAX_MS, 0.0) < WAIT_MS_MIN)
		holder = EZPROF_NO_OBJECT;
	return holder;
}

static void late(struct ezprof_why_context *c, size_t subscriber)
{
	const struct ezprof_object *s = &c->model->objects[subscriber];

	if (messages_wait(s) && s->from != EZPROF_NO_OBJECT &&
	    ezprof_is_bursty(&c->model->objects[s->from]))
		in_bursts(c, subscriber);
	else if (messages_wait(s) || is_full(c, subscriber))
		full_or_late(c, subscriber);
}

void ezprof_why_late(struct ezprof_why_context *c)
{
	struct ezprof_lookup held = {0}; /* subscribers, by who holds their loop */
	int err = 0;

	EZPROF_EACH (c->model, EZPROF_SUB, i) {
		size_t holder = holder_of(c, i);

		if (!err && holder != EZPROF_NO_OBJECT)
			err = ezprof_lookup_add(&held, holder, 0.0, i);
	}
	ezprof_lookup_sort(&held);
	EZPROF_EACH (c->model, EZPROF_SUB, i) {
		size_t holder = holder_of(c, i);
		const struct ezprof_found *first =
			holder != EZPROF_NO_OBJECT ? ezprof_lookup_first(&held, holder) : NULL;

		if (first && first->object == i)
			held_by(c, &held, holder);
		else if (!first && !is_explained(c, i))
			late(c, i);
	}
	c->findings->failed |= err != 0;
	ezprof_lookup_free(&held);
}
