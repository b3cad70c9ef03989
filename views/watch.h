/* SPDX-License-Identifier: MIT */
/*
 * A graph that is being watched: its latest document, what is found in it, and how the rates were
 * before. Pure: documents come from outside. One thread.
 */
#ifndef EZPROF_WATCH_H
#define EZPROF_WATCH_H

#include "finding.h"
#include "history.h"

struct ezprof_watch {
	/* The latest, NULL: there is none yet. Where nobody measures, its rates are by its totals.
	 */
	struct ezprof_model *model;
	struct ezprof_model *before; /* an earlier one, at least a window old where there is one */
	struct ezprof_findings findings;
	struct ezprof_history *history;
};

/* -ENOMEM. ezprof_watch_free() it in any case. */
int ezprof_watch_init(struct ezprof_watch *watch);
void ezprof_watch_free(struct ezprof_watch *watch);

/* The next document; takes the model over in any case. -ENOMEM. */
int ezprof_watch_add(struct ezprof_watch *watch, struct ezprof_model *model);

#endif
