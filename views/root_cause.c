/* SPDX-License-Identifier: MIT */
/* What the root of a chain suffers from, and the figures that say so. */
#include "load.h"
#include "phrase.h"
#include "root_part.h"

#include <string.h>

#define BUSY_SHARE_MIN 0.6
#define STARVED_SHARE 0.35
#define STUCK_MS_MIN 1000.0
#define WAIT_MS_MIN 5.0
#define WAIT_RATIO 3.0
#define CONNECTION_RATIO 2.0

static double figure(const struct ezprof_root *r, enum ezprof_metric_id metric)
{
	return ezprof_figure(r->s, metric, 0.0);
}

static bool is_stuck(const struct ezprof_root *r)
{
	double covered_ms = 1000.0 * figure(r, EZPROF_SUB_COVERED_S);
	double oldest_ms = figure(r, EZPROF_SUB_OLDEST_LEASE_MS);

	/* Of one that nobody measures only the publisher's standing still tells that it gives none.
	 */
	if (!ezprof_known(ezprof_value(r->s, EZPROF_SUB_MESSAGES_WINDOW)) &&
	    ezprof_figure(&r->c->model->objects[r->s->from], EZPROF_PUB_BLOCKED_NOW_MS, 0.0) <
		    STUCK_MS_MIN)
		return false;
	return figure(r, EZPROF_SUB_MESSAGES_WINDOW) < 1 && oldest_ms >= covered_ms &&
	       oldest_ms >= STUCK_MS_MIN;
}

/* Does somebody hold the loop longer at a time than this subscriber needs for a message? */
static bool is_held(const struct ezprof_root *r)
{
	double hold_ms;

	if (r->holder == EZPROF_NO_OBJECT)
		return false;
	hold_ms = ezprof_figure(&r->c->model->objects[r->holder], EZPROF_TASK_HOLD_MAX_MS, 0.0);
	return hold_ms >= WAIT_MS_MIN && hold_ms >= figure(r, EZPROF_SUB_PROCESS_AVG_MS);
}

/* Over TCP the buffers come back, yet writing takes long, or they are long on the way. */
static bool is_connection(const struct ezprof_root *r)
{
	const struct ezprof_object *link, *p;
	double on_link_ms;

	if (r->link == EZPROF_NO_OBJECT)
		return false;
	link = &r->c->model->objects[r->link];
	p = &r->c->model->objects[link->parent];
	if (strcmp(ezprof_label(link, EZPROF_LABEL_TRANSPORT), "tcp") != 0)
		return false;
	on_link_ms = ezprof_figure(link, EZPROF_LINK_LEASE_AVG_MS, 0.0);
	return on_link_ms > CONNECTION_RATIO * figure(r, EZPROF_SUB_LEASE_AVG_MS) ||
	       ezprof_figure(p, EZPROF_PUB_IN_FLIGHT, 0.0) <
		       ezprof_figure(p, EZPROF_PUB_NUM_BUFFERS, 0.0) / 2;
}

enum ezprof_finding_kind ezprof_root_classify(const struct ezprof_root *r)
{
	const struct ezprof_object *p = &r->c->model->objects[r->s->from];

	if (is_stuck(r))
		return EZPROF_FINDING_STUCK;
	/* Whatever follows compares with what it does itself. */
	if (!ezprof_is_work_measured(r->s))
		return EZPROF_FINDING_LATE;
	if (ezprof_busy_share(r->s) >= BUSY_SHARE_MIN)
		return ezprof_runnable_share(r->s) >= STARVED_SHARE ? EZPROF_FINDING_STARVED
								    : EZPROF_FINDING_SLOW;
	if (is_held(r))
		return EZPROF_FINDING_LOOP_HELD;
	if (is_connection(r))
		return EZPROF_FINDING_CONNECTION;
	if (ezprof_known(ezprof_value(p, EZPROF_PUB_NUM_BUFFERS)) &&
	    (ezprof_is_bursty(p) || ezprof_busy_share(r->s) > 0.0))
		return EZPROF_FINDING_FEW_BUFFERS;
	return EZPROF_FINDING_LATE;
}

static void rests_on(struct ezprof_root *r, enum ezprof_metric_id metric)
{
	ezprof_finding_rests_on(r->finding, r->at, metric);
}

static void say_stuck(struct ezprof_root *r)
{
	struct ez_buffer *out = &r->text;
	struct ezprof_number in_hands = ezprof_value(r->s, EZPROF_SUB_PROCESS_NOW_MS);

	ezprof_put(out, " It holds %.0f message%s and has given none back for ",
		   figure(r, EZPROF_SUB_IN_FLIGHT), figure(r, EZPROF_SUB_IN_FLIGHT) > 1 ? "s" : "");
	ezprof_say_ms(out, figure(r, EZPROF_SUB_OLDEST_LEASE_MS));
	rests_on(r, EZPROF_SUB_IN_FLIGHT);
	rests_on(r, EZPROF_SUB_OLDEST_LEASE_MS);
	if (ezprof_known(in_hands)) {
		ez_buffer_append_text(out, "; its code has been on one for ");
		ezprof_say_ms(out, ezprof_as_double(in_hands, 0.0));
		rests_on(r, EZPROF_SUB_PROCESS_NOW_MS);
	}
	ez_buffer_append_text(out, ".");
}

static void say_slow(struct ezprof_root *r)
{
	struct ez_buffer *out = &r->text;

	ez_buffer_append_text(out, " It is slow itself: ");
	ezprof_say_ms(out, figure(r, EZPROF_SUB_PROCESS_AVG_MS));
	ez_buffer_append_text(out, " per message");
	if (ezprof_known(ezprof_value(r->s, EZPROF_SUB_PROCESS_P99_MS))) {
		ez_buffer_append_text(out, " (p99 ");
		ezprof_say_ms(out, figure(r, EZPROF_SUB_PROCESS_P99_MS));
		ez_buffer_append_text(out, ")");
		rests_on(r, EZPROF_SUB_PROCESS_P99_MS);
	}
	rests_on(r, EZPROF_SUB_PROCESS_AVG_MS);
	r->finding->bound_hz = ezprof_capacity_hz(r->s);
	if (r->finding->bound_hz > 0) {
		ez_buffer_append_text(out, ", so at most ");
		ezprof_say_rate(out, r->finding->bound_hz);
	}
	ez_buffer_append_text(out, "; it is busy ");
	ezprof_say_share(out, ezprof_busy_share(r->s));
	ez_buffer_append_text(out, " of the time.");
	ezprof_say_time_spent(out, r->finding, r->c->model, r->at);
}

static void say_starved(struct ezprof_root *r)
{
	double on_cpu_ms = figure(r, EZPROF_SUB_PROCESS_ON_CPU_MS);
	double all_ms = figure(r, EZPROF_SUB_PROCESS_SCHED_MS);

	ez_buffer_append_text(&r->text, " It is starved of CPU: ");
	ezprof_say_ms(&r->text, figure(r, EZPROF_SUB_PROCESS_AVG_MS));
	ez_buffer_append_text(&r->text, " per message, of which it runs only ");
	ezprof_say_ms(&r->text, figure(r, EZPROF_SUB_PROCESS_AVG_MS) *
					(all_ms > 0 ? on_cpu_ms / all_ms : 0.0));
	r->finding->bound_hz = ezprof_capacity_hz(r->s);
	ez_buffer_append_text(&r->text, ", so at most ");
	ezprof_say_rate(&r->text, r->finding->bound_hz);
	ez_buffer_append_text(&r->text, ".");
	rests_on(r, EZPROF_SUB_PROCESS_AVG_MS);
	ezprof_say_time_spent(&r->text, r->finding, r->c->model, r->at);
}

static void say_need(struct ezprof_root *r)
{
	struct ez_buffer *out = &r->text;

	if (figure(r, EZPROF_SUB_PROCESS_SAMPLES) > 0) {
		ez_buffer_append_text(out, " It needs only ");
		ezprof_say_ms(out, figure(r, EZPROF_SUB_PROCESS_AVG_MS));
		ez_buffer_append_text(out, " per message and is busy ");
	} else {
		ez_buffer_append_text(out, " It finished no message and is busy ");
	}
	ezprof_say_share(out, ezprof_busy_share(r->s));
	ez_buffer_append_text(out, " of the time");
	rests_on(r, EZPROF_SUB_PROCESS_AVG_MS);
	rests_on(r, EZPROF_SUB_QUEUE_AVG_MS);
}

static void say_held(struct ezprof_root *r)
{
	const struct ezprof_object *task = &r->c->model->objects[r->holder];
	struct ez_buffer *out = &r->text;

	say_need(r);
	ez_buffer_append_text(out, ", but its messages wait ");
	ezprof_say_ms(out, figure(r, EZPROF_SUB_QUEUE_AVG_MS));
	ez_buffer_append_text(out, ": ");
	ezprof_say_name(out, ezprof_label(task, EZPROF_LABEL_TASK));
	ez_buffer_append_text(out, " keeps its event loop, up to ");
	ezprof_say_ms(out, ezprof_figure(task, EZPROF_TASK_HOLD_MAX_MS, 0.0));
	ez_buffer_append_text(out, " at a time.");
	ezprof_finding_rests_on(r->finding, r->holder, EZPROF_TASK_HOLD_MAX_MS);
}

static void say_connection(struct ezprof_root *r)
{
	const struct ezprof_object *link = &r->c->model->objects[r->link];
	const struct ezprof_object *p = &r->c->model->objects[link->parent];
	double messages = ezprof_figure(p, EZPROF_PUB_MESSAGES_WINDOW, 0.0);
	struct ez_buffer *out = &r->text;

	say_need(r);
	ez_buffer_append_text(out, "; the limit is the TCP connection: ");
	if (messages > 0) {
		ez_buffer_append_text(out, "messages of ");
		ezprof_say_bytes(out, ezprof_figure(p, EZPROF_PUB_BYTES_WINDOW, 0.0) / messages);
		ez_buffer_append_text(out, ", ");
	}
	ezprof_say_bytes(out, ezprof_figure(p, EZPROF_PUB_BYTES_PER_S, 0.0));
	ez_buffer_append_text(out, "/s, each ");
	ezprof_say_ms(out, ezprof_figure(link, EZPROF_LINK_LEASE_AVG_MS, 0.0));
	ez_buffer_append_text(out, " until the buffer is free again.");
	ezprof_finding_rests_on(r->finding, r->link, EZPROF_LINK_LEASE_AVG_MS);
	ezprof_finding_rests_on(r->finding, link->parent, EZPROF_PUB_BYTES_PER_S);
}

static void say_few_buffers(struct ezprof_root *r)
{
	const struct ezprof_object *p = &r->c->model->objects[r->s->from];
	struct ez_buffer *out = &r->text;

	say_need(r);
	if (ezprof_is_bursty(p)) {
		ez_buffer_append_text(out,
				      ": messages come in bursts (half of the gaps are under ");
		ezprof_say_ms(out, ezprof_figure(p, EZPROF_PUB_GAP_P50_MS, 0.0));
		ez_buffer_append_text(out, ", on average ");
		ezprof_say_ms(out, ezprof_figure(p, EZPROF_PUB_GAP_AVG_MS, 0.0));
		ez_buffer_append_text(out, ")");
		ezprof_finding_rests_on(r->finding, r->s->from, EZPROF_PUB_GAP_P50_MS);
		ezprof_finding_rests_on(r->finding, r->s->from, EZPROF_PUB_GAP_AVG_MS);
	}
	ezprof_put(out, "; the %.0f buffer%s of ", ezprof_figure(p, EZPROF_PUB_NUM_BUFFERS, 0.0),
		   ezprof_figure(p, EZPROF_PUB_NUM_BUFFERS, 0.0) > 1 ? "s" : "");
	ezprof_say_publisher(out, p);
	ez_buffer_append_text(out,
			      " are too few for that: a larger num_buffers would let it go on.");
	ezprof_finding_rests_on(r->finding, r->s->from, EZPROF_PUB_NUM_BUFFERS);
}

static void say_late(struct ezprof_root *r)
{
	if (!ezprof_is_work_measured(r->s)) {
		ez_buffer_append_text(&r->text, " What it does with them is not measured");
		if (r->s->pid) {
			ezprof_say_attach(&r->text, r->c->model, r->s);
			ezprof_put(&r->text, " %lld", (long long)r->s->pid);
		}
		ez_buffer_append_text(&r->text, ".");
		return;
	}
	say_need(r);
	ez_buffer_append_text(&r->text, "; what keeps it from its messages is not measured.");
}

void ezprof_root_say_cause(struct ezprof_root *r, enum ezprof_finding_kind kind)
{
	switch (kind) {
	case EZPROF_FINDING_STUCK:
		say_stuck(r);
		break;
	case EZPROF_FINDING_SLOW:
		say_slow(r);
		break;
	case EZPROF_FINDING_STARVED:
		say_starved(r);
		break;
	case EZPROF_FINDING_LOOP_HELD:
		say_held(r);
		break;
	case EZPROF_FINDING_CONNECTION:
		say_connection(r);
		break;
	case EZPROF_FINDING_FEW_BUFFERS:
		say_few_buffers(r);
		break;
	default:
		say_late(r);
	}
}
