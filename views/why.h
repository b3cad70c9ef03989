/* SPDX-License-Identifier: MIT */
/*
 * From a profile to its causes. Blame follows the chain downstream: a publisher that is blocked
 * waits for the subscriber that keeps its buffers; if what that one makes of them is blocked in
 * turn, it waits too, and so on to the root. Pure; any thread.
 */
#ifndef EZPROF_WHY_H
#define EZPROF_WHY_H

#include "finding.h"

/*
 * before: an earlier document of the same graph, or NULL; with it counters that only grow (drops,
 * event loop) speak of the time in between. Ranked, never empty; ezprof_findings_free() them in any
 * case. -ENOMEM.
 */
int ezprof_why(const struct ezprof_model *model, const struct ezprof_model *before,
	       struct ezprof_findings *ret_findings);

#endif
