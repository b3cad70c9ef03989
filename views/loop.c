/* SPDX-License-Identifier: MIT */
/* Tasks that hold their event loop most of the time, and what that does to others on it. */
#include "flow.h"
#include "phrase.h"
#include "relation.h"
#include "task_cost.h"
#include "why_part.h"

#define HOLD_SHARE_MIN 0.5
#define HOLD_MS_MIN 5.0
#define LATE_MS_MIN 5.0
#define HOLD_SCORE 90.0

/* Share of the time between the two documents in which a task held its loop; 0 without both. */
static double hold_share(const struct ezprof_why_context *c, const struct ezprof_object *task)
{
	double ms = c->before && c->model->time_ns > c->before->time_ns
			    ? (double)(c->model->time_ns - c->before->time_ns) / 1e6
			    : 0.0;
	double held_ms = ezprof_growth(c->before, task, EZPROF_TASK_HOLD_TOTAL_MS);

	return ms > 0 && ezprof_earlier(c->before, task) ? held_ms / ms : 0.0;
}

/* How long its messages were on the way to it, by its publisher's lease: what the queue lacks. */
static double arrival_ms(const struct ezprof_model *model, size_t subscriber, size_t *ret_link)
{
	const struct ezprof_object *s = &model->objects[subscriber];

	*ret_link = ezprof_link_to(model, s);
	if (*ret_link == EZPROF_NO_OBJECT)
		return 0.0;
	return ezprof_figure(&model->objects[*ret_link], EZPROF_LINK_LEASE_AVG_MS, 0.0) -
	       ezprof_figure(s, EZPROF_SUB_LEASE_AVG_MS, 0.0);
}

/* Is the object on the task's loop, not of the task, at work, and not explained already? */
static bool is_neighbour(const struct ezprof_why_context *c, const struct ezprof_object *task,
			 size_t index)
{
	const struct ezprof_object *o = &c->model->objects[index];
	enum ezprof_metric_id rate =
		o->scope == EZPROF_PUB ? EZPROF_PUB_RATE_HZ : EZPROF_SUB_RATE_HZ;

	return ezprof_figure(o, rate, 0.0) > 0 && !ezprof_why_is_waiting(c->findings, index) &&
	       !ezprof_task_is_of(ezprof_label(task, EZPROF_LABEL_TASK),
				  ezprof_label(o, EZPROF_LABEL_TASK));
}

/* What a held loop does to one that is on it; false: nothing that shows. */
static bool say_neighbour(struct ez_buffer *text, struct ezprof_finding *finding,
			  const struct ezprof_model *model, size_t index)
{
	const struct ezprof_object *o = &model->objects[index];
	size_t link = EZPROF_NO_OBJECT;
	double late_ms;

	if (o->scope == EZPROF_PUB) {
		ez_buffer_append_text(text, " ");
		ezprof_say_publisher(text, o);
		ez_buffer_append_text(text,
				      " on the same loop sends only when it lets go: one each ");
		ezprof_say_ms(text, ezprof_figure(o, EZPROF_PUB_GAP_AVG_MS, 0.0));
		ez_buffer_append_text(text, " on average.");
		ezprof_finding_rests_on(finding, index, EZPROF_PUB_GAP_AVG_MS);
		return true;
	}
	late_ms = arrival_ms(model, index, &link);
	if (late_ms < LATE_MS_MIN)
		return false;
	ez_buffer_append_text(text, " Messages reach ");
	ezprof_say_subscriber_name(text, model, o);
	ez_buffer_append_text(text, " late, by ");
	ezprof_say_ms(text, late_ms);
	ez_buffer_append_text(text, " on average, although it needs only ");
	ezprof_say_ms(text, ezprof_figure(o, EZPROF_SUB_PROCESS_AVG_MS, 0.0));
	ez_buffer_append_text(text, ".");
	ezprof_finding_rests_on(finding, link, EZPROF_LINK_LEASE_AVG_MS);
	ezprof_finding_rests_on(finding, index, EZPROF_SUB_LEASE_AVG_MS);
	return true;
}

static void say_holder(struct ez_buffer *text, struct ezprof_finding *finding,
		       const struct ezprof_object *task, size_t holder, double share)
{
	ezprof_say_name(text, ezprof_label(task, EZPROF_LABEL_TASK));
	ezprof_put(text, " (pid %lld) holds its event loop ", (long long)task->pid);
	ezprof_say_share(text, share);
	ez_buffer_append_text(text, " of the time, up to ");
	ezprof_say_ms(text, ezprof_figure(task, EZPROF_TASK_HOLD_MAX_MS, 0.0));
	ez_buffer_append_text(text, " at a time.");
	ezprof_finding_rests_on(finding, holder, EZPROF_TASK_HOLD_TOTAL_MS);
	ezprof_finding_rests_on(finding, holder, EZPROF_TASK_HOLD_MAX_MS);
}

/* Who is on a loop that somebody else holds most of the time sends, and gets, when it is let. */
static void held_neighbours(struct ezprof_why_context *c, size_t holder)
{
	const struct ezprof_object *task = &c->model->objects[holder];
	double share = hold_share(c, task);
	struct ezprof_finding *finding;
	struct ez_buffer text;

	if (share < HOLD_SHARE_MIN ||
	    ezprof_figure(task, EZPROF_TASK_HOLD_MAX_MS, 0.0) < HOLD_MS_MIN ||
	    c->findings->marks[holder])
		return;
	finding = ezprof_finding_add(c->findings, EZPROF_FINDING_LOOP_HELD, holder,
				     HOLD_SCORE * share);
	if (!finding)
		return;
	ez_buffer_init(&text, SIZE_MAX / 2);
	say_holder(&text, finding, task, holder, share);
	EZPROF_EACH_OF (c->model, EZPROF_ENDPOINTS_OF, task->pid, found) {
		if (is_neighbour(c, task, found->object) &&
		    say_neighbour(&text, finding, c->model, found->object))
			ezprof_finding_holds_up(c->findings, finding, found->object);
	}
	if (finding->n_waiting)
		ezprof_finding_say(c->findings, finding, &text);
	else
		c->findings->n--; /* it holds nobody up */
	ez_buffer_free(&text);
}

void ezprof_why_loops(struct ezprof_why_context *c)
{
	EZPROF_EACH (c->model, EZPROF_TASK, i)
		held_neighbours(c, i);
}
