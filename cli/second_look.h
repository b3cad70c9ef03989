/* SPDX-License-Identifier: MIT */
/* Some causes show only in what counters grow by: one document alone doesn't tell. */
#ifndef EZPROF_SECOND_LOOK_H
#define EZPROF_SECOND_LOOK_H

#include "model.h"

/* Is there anything in the document of which only the growth tells what happens now? */
bool ezprof_second_look_wanted(const struct ezprof_model *model);

/* Sleeps until a second document is worth while: the window, but 2 s at most. Signals cut it. */
void ezprof_second_look_wait(double window_s);

#endif
