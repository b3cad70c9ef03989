/* SPDX-License-Identifier: MIT */
#include "task_cost.h"
#include "flow.h"
#include "relation.h"

#include <string.h>

static bool same_place(const struct ezprof_object *a, const struct ezprof_object *b)
{
	return a->pid && a->pid == b->pid;
}

size_t ezprof_costliest_task(const struct ezprof_model *model,
			     const struct ezprof_object *subscriber)
{
	const char *own = ezprof_label(subscriber, EZPROF_LABEL_TASK), *names = own, *name;
	size_t len, best = EZPROF_NO_OBJECT;
	double best_ms = -1.0;

	if (!strstr(own, ", "))
		return EZPROF_NO_OBJECT;
	while ((name = ezprof_next_task(&names, &len))) {
		uint64_t key = ezprof_task_key(subscriber->pid, name, len);

		EZPROF_EACH_FOUND (&model->lookup, key, found) {
			const struct ezprof_object *task = &model->objects[found->object];
			double calls = ezprof_figure(task, EZPROF_TASK_CALLS_TOTAL, 0.0);
			double ms = ezprof_figure(task, EZPROF_TASK_BUSY_TOTAL_MS, 0.0) /
				    (calls > 0 ? calls : 1.0);

			if ((ms > best_ms || (ms >= best_ms && found->object < best)) &&
			    same_place(task, subscriber) &&
			    ezprof_task_is_of(ezprof_label(task, EZPROF_LABEL_TASK), own)) {
				best = found->object;
				best_ms = ms;
			}
		}
	}
	return best;
}

const struct ezprof_object *ezprof_earlier(const struct ezprof_model *before,
					   const struct ezprof_object *object)
{
	size_t at = before ? ezprof_same_in(before, object) : EZPROF_NO_OBJECT;

	return at == EZPROF_NO_OBJECT ? NULL : &before->objects[at];
}

double ezprof_growth(const struct ezprof_model *before, const struct ezprof_object *object,
		     enum ezprof_metric_id metric)
{
	const struct ezprof_object *earlier = ezprof_earlier(before, object);
	double now = ezprof_figure(object, metric, 0.0);
	double then = earlier ? ezprof_figure(earlier, metric, 0.0) : 0.0;

	return now > then ? now - then : 0.0;
}

int ezprof_loop_holds(const struct ezprof_model *model, const struct ezprof_model *before,
		      struct ezprof_lookup *holds)
{
	int err = 0;
	size_t i;

	for (i = model->first[EZPROF_TASK]; i < model->first[EZPROF_TASK + 1] && !err; i++) {
		const struct ezprof_object *task = &model->objects[i];
		double ms = ezprof_growth(before, task, EZPROF_TASK_HOLD_TOTAL_MS) +
			    ezprof_figure(task, EZPROF_TASK_HOLD_NOW_MS, 0.0);

		if (task->pid && ms > 0)
			err = ezprof_lookup_add(holds, (uint64_t)task->pid, ms, i);
	}
	ezprof_lookup_sort(holds);
	return err;
}

size_t ezprof_loop_holder(const struct ezprof_model *model, const struct ezprof_lookup *holds,
			  const struct ezprof_object *subscriber)
{
	const char *own = ezprof_label(subscriber, EZPROF_LABEL_TASK);

	EZPROF_EACH_FOUND (holds, (uint64_t)subscriber->pid, found) {
		if (!ezprof_task_is_of(
			    ezprof_label(&model->objects[found->object], EZPROF_LABEL_TASK), own))
			return found->object;
	}
	return EZPROF_NO_OBJECT;
}
