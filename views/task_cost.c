/* SPDX-License-Identifier: MIT */
#include "task_cost.h"
#include "flow.h"

#include <string.h>

static bool same_place(const struct ezprof_object *a, const struct ezprof_object *b)
{
	return a->pid && a->pid == b->pid;
}

size_t ezprof_costliest_task(const struct ezprof_model *model,
			     const struct ezprof_object *subscriber)
{
	const char *own = ezprof_label(subscriber, EZPROF_LABEL_TASK);
	size_t i, best = EZPROF_NO_OBJECT;
	double best_ms = -1.0;

	if (!strstr(own, ", "))
		return EZPROF_NO_OBJECT;
	for (i = model->first[EZPROF_TASK]; i < model->first[EZPROF_TASK + 1]; i++) {
		const struct ezprof_object *task = &model->objects[i];
		double calls = ezprof_figure(task, EZPROF_TASK_CALLS_TOTAL, 0.0);
		double ms = ezprof_figure(task, EZPROF_TASK_BUSY_TOTAL_MS, 0.0) /
			    (calls > 0 ? calls : 1.0);

		if (same_place(task, subscriber) && ms > best_ms &&
		    ezprof_task_is_of(ezprof_label(task, EZPROF_LABEL_TASK), own)) {
			best = i;
			best_ms = ms;
		}
	}
	return best;
}

static bool same_text(const struct ezprof_object *a, const struct ezprof_object *b,
		      enum ezprof_label label)
{
	return strcmp(ezprof_label(a, label), ezprof_label(b, label)) == 0;
}

const struct ezprof_object *ezprof_earlier(const struct ezprof_model *before,
					   const struct ezprof_object *object)
{
	size_t i;

	for (i = before ? before->first[object->scope] : 1;
	     before && i < before->first[object->scope + 1]; i++) {
		const struct ezprof_object *other = &before->objects[i];

		if (other->pid == object->pid && same_text(other, object, EZPROF_LABEL_ID) &&
		    same_text(other, object, EZPROF_LABEL_CHANNEL_ID) &&
		    (object->scope != EZPROF_TASK || same_text(other, object, EZPROF_LABEL_TASK)))
			return other;
	}
	return NULL;
}

double ezprof_growth(const struct ezprof_model *before, const struct ezprof_object *object,
		     enum ezprof_metric_id metric)
{
	const struct ezprof_object *earlier = ezprof_earlier(before, object);
	double now = ezprof_figure(object, metric, 0.0);
	double then = earlier ? ezprof_figure(earlier, metric, 0.0) : 0.0;

	return now > then ? now - then : 0.0;
}

size_t ezprof_loop_holder(const struct ezprof_model *model, const struct ezprof_model *before,
			  const struct ezprof_object *subscriber)
{
	const char *own = ezprof_label(subscriber, EZPROF_LABEL_TASK);
	size_t i, best = EZPROF_NO_OBJECT;
	double best_ms = 0.0;

	for (i = model->first[EZPROF_TASK]; i < model->first[EZPROF_TASK + 1]; i++) {
		const struct ezprof_object *task = &model->objects[i];
		double ms = ezprof_growth(before, task, EZPROF_TASK_HOLD_TOTAL_MS) +
			    ezprof_figure(task, EZPROF_TASK_HOLD_NOW_MS, 0.0);

		if (same_place(task, subscriber) && ms > best_ms &&
		    !ezprof_task_is_of(ezprof_label(task, EZPROF_LABEL_TASK), own)) {
			best = i;
			best_ms = ms;
		}
	}
	return best;
}
