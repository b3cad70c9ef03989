/* SPDX-License-Identifier: MIT */
/*
 * Which publisher a subscriber's messages go on to. No document says so outright: it is told by the
 * task or the unit that has both, or else taken from both being in one process, and then said.
 */
#ifndef EZPROF_FLOW_H
#define EZPROF_FLOW_H

#include "model.h"

enum ezprof_flow_by {
	EZPROF_FLOW_NOT = 0,
	EZPROF_FLOW_PROCESS, /* only that it is the same process */
	EZPROF_FLOW_UNIT,
	EZPROF_FLOW_TASK
};

/* Does the subscriber feed the publisher, and how does one know? Indices of the model's objects. */
enum ezprof_flow_by ezprof_flow(const struct ezprof_model *model, size_t subscriber,
				size_t publisher);

/* Is the task (text of a document, several with ", " between) one of those of the list? */
bool ezprof_task_is_of(const char *task, const char *list);

#endif
