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

/*
 * Who may feed or be fed, by process, task and unit. Objects are put in with a weight: publishers
 * as what is fed, subscribers as what feeds. -ENOMEM. as: under whose task and unit; mostly the
 * object itself.
 */
int ezprof_flow_put(struct ezprof_lookup *lookup, const struct ezprof_model *model, size_t as,
		    double weight, size_t object);

/*
 * Of those that a subscriber feeds, or that feed a publisher, the one with the most weight, of
 * equals the first; NULL = none. What was put in as another is what that one stands for.
 */
const struct ezprof_found *ezprof_flow_best(const struct ezprof_lookup *lookup,
					    const struct ezprof_model *model, size_t object);

/* All that each subscriber feeds. */
struct ezprof_fed {
	const struct ezprof_model *model;
	struct ezprof_lookup publishers;
	size_t *list; /* of the one asked for last, in the model's order */
	bool *taken;  /* per object: it is in the list */
};

/* ezprof_fed_free() it in any case. -ENOMEM. */
int ezprof_fed_init(struct ezprof_fed *fed, const struct ezprof_model *model);
void ezprof_fed_free(struct ezprof_fed *fed);

/* Fills fed->list with publishers; how many. */
size_t ezprof_fed_by(const struct ezprof_fed *fed, size_t subscriber);

/* The next name of a list of tasks, which moves, and its length; NULL at the end. */
const char *ezprof_next_task(const char **list, size_t *len);

/* Is the task (text of a document, several with ", " between) one of those of the list? */
bool ezprof_task_is_of(const char *task, const char *list);

#endif
