/* SPDX-License-Identifier: MIT */
#include "watch.h"
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
	err = ezprof_top_remember(model, watch->history);
	if (!err)
		err = ezprof_why(model, watch->before, &findings);
	ezprof_findings_free(&watch->findings);
	watch->findings = findings;
	return err;
}
