/* SPDX-License-Identifier: MIT */
#include "watch.h"
#include "task_cost.h"
#include "top_rows.h"
#include "why.h"

#include <errno.h>
#include <string.h>

int ezprof_watch_init(struct ezprof_watch *watch)
{
	memset(watch, 0, sizeof(*watch));
	watch->history = ezprof_history_new();
	return watch->history ? 0 : -ENOMEM;
}

void ezprof_watch_free(struct ezprof_watch *watch)
{
	ezprof_findings_free(&watch->findings);
	ezprof_model_free(watch->before);
	ezprof_model_free(watch->model);
	ezprof_history_free(watch->history);
	memset(watch, 0, sizeof(*watch));
}

/* Is that document old enough for what only grows to be told by the difference? */
static bool is_old(const struct ezprof_model *model, const struct ezprof_model *now)
{
	double window_s = ezprof_figure(&now->objects[0], EZPROF_GRAPH_WINDOW_S, 0.0);

	return now->time_ns < model->time_ns ||
	       (double)(now->time_ns - model->time_ns) / 1e9 >= window_s;
}

static void set_growth(struct ezprof_object *object, const struct ezprof_model *before,
		       double seconds, enum ezprof_metric_id total, enum ezprof_metric_id rate)
{
	struct ezprof_number *value = &object->values[rate - ezprof_metric_first(object->scope)];

	if (!ezprof_known(*value) && ezprof_known(ezprof_value(object, total)))
		*value = ezprof_real(ezprof_growth(before, object, total) / seconds);
}

/*
 * Where nobody measures, processes still tell totals: what these have grown by in between is a
 * rate. Only for what is shown; causes rest on what the document says.
 */
static void estimate_rates(struct ezprof_model *model, const struct ezprof_model *before)
{
	double seconds = before && before->time_ns < model->time_ns
				 ? (double)(model->time_ns - before->time_ns) / 1e9
				 : 0.0;
	size_t i;

	for (i = model->first[EZPROF_PUB]; seconds > 0 && i < model->first[EZPROF_TASK]; i++) {
		struct ezprof_object *o = &model->objects[i];

		if (strcmp(ezprof_label(o, EZPROF_LABEL_SOURCE), "process") != 0 ||
		    !ezprof_earlier(before, o))
			continue;
		if (o->scope == EZPROF_PUB) {
			set_growth(o, before, seconds, EZPROF_PUB_MESSAGES_TOTAL,
				   EZPROF_PUB_RATE_HZ);
			set_growth(o, before, seconds, EZPROF_PUB_BYTES_TOTAL,
				   EZPROF_PUB_BYTES_PER_S);
		} else if (o->scope == EZPROF_SUB) {
			set_growth(o, before, seconds, EZPROF_SUB_MESSAGES_TOTAL,
				   EZPROF_SUB_RATE_HZ);
		}
	}
}

int ezprof_watch_add(struct ezprof_watch *watch, struct ezprof_model *model)
{
	struct ezprof_findings findings = {0};
	int err;

	if (watch->model && (!watch->before || is_old(watch->before, watch->model))) {
		ezprof_model_free(watch->before);
		watch->before = watch->model;
	} else {
		ezprof_model_free(watch->model);
	}
	watch->model = model;
	err = ezprof_why(model, watch->before, &findings);
	estimate_rates(model, watch->before);
	if (!err)
		err = ezprof_top_remember(model, watch->history);
	ezprof_findings_free(&watch->findings);
	watch->findings = findings;
	return err;
}
