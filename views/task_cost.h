/* SPDX-License-Identifier: MIT */
/* The tasks of a Python process: who takes the time, and who holds the event loop. */
#ifndef EZPROF_TASK_COST_H
#define EZPROF_TASK_COST_H

#include "model.h"

/* Of several tasks on one subscriber the one that takes longest per call; none if there is one. */
size_t ezprof_costliest_task(const struct ezprof_model *model,
			     const struct ezprof_object *subscriber);

/*
 * Fills a lookup by pid with how long each task held its loop: since `before` (an earlier document
 * of the same graph, may be NULL), else since its start. -ENOMEM.
 */
int ezprof_loop_holds(const struct ezprof_model *model, const struct ezprof_model *before,
		      struct ezprof_lookup *holds);

/* The task of the subscriber's process, not one of its own, that held the loop most. */
size_t ezprof_loop_holder(const struct ezprof_model *model, const struct ezprof_lookup *holds,
			  const struct ezprof_object *subscriber);

/* The object of the earlier document that is this one; NULL if there is none. */
const struct ezprof_object *ezprof_earlier(const struct ezprof_model *before,
					   const struct ezprof_object *object);

/* How much a counter has grown since then; all of it where there is no `before`. */
double ezprof_growth(const struct ezprof_model *before, const struct ezprof_object *object,
		     enum ezprof_metric_id metric);

#endif
