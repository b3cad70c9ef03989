/* SPDX-License-Identifier: MIT */
#include "second_look.h"

#include <time.h>

#define WAIT_MAX_S 2.0

bool ezprof_second_look_wanted(const struct ezprof_model *model)
{
	if (model->first[EZPROF_TASK] != model->first[EZPROF_TASK + 1])
		return true;
	for (size_t i = model->first[EZPROF_SUB]; i < model->first[EZPROF_SUB + 1]; i++) {
		if (ezprof_figure(&model->objects[i], EZPROF_SUB_DROPS_TOTAL, 0.0) > 0)
			return true;
	}
	return false;
}

void ezprof_second_look_wait(double window_s)
{
	double s = window_s < WAIT_MAX_S ? window_s : WAIT_MAX_S;
	struct timespec time = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};

	nanosleep(&time, NULL);
}
