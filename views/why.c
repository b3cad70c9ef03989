/* SPDX-License-Identifier: MIT */
#include "why.h"
#include "flow.h"
#include "load.h"
#include "task_cost.h"
#include "why_part.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Of ezmsg's own figures none says what else would be the limit. */
static int put_limit(struct ezprof_why_context *c, size_t subscriber)
{
	const struct ezprof_object *s = &c->model->objects[subscriber];
	double hz = ezprof_capacity_hz(s);
	bool measured = ezprof_is_work_measured(s);

	if (ezprof_is_told_by_ezmsg(s) || (measured && hz <= 0))
		return 0;
	return ezprof_flow_put(&c->limits, c->model, s->from, measured ? -hz : INFINITY,
			       subscriber);
}

/* The lookups of all parts: a graph has too many objects to compare each with each. */
static int prepare(struct ezprof_why_context *c)
{
	const struct ezprof_model *model = c->model;
	int err = ezprof_loop_holds(model, c->before, &c->holds);

	for (size_t i = model->first[EZPROF_PUB]; i < model->first[EZPROF_PUB + 1] && !err; i++) {
		double share = ezprof_blocked_share(&model->objects[i]);

		if (share >= EZPROF_BLOCKED_SHARE_MIN)
			err = ezprof_flow_put(&c->blocked, model, i, share, i);
	}
	for (size_t i = model->first[EZPROF_SUB]; i < model->first[EZPROF_SUB + 1] && !err; i++) {
		size_t from = model->objects[i].from;

		err = ezprof_flow_put(&c->feeders, model, i, 0.0, i);
		if (!err && from != EZPROF_NO_OBJECT && ezprof_has_gap(&model->objects[from]))
			err = ezprof_flow_put(&c->gaps, model, i,
					      ezprof_figure(&model->objects[from],
							    EZPROF_PUB_GAP_LONGEST_MS, 0.0),
					      i);
		if (!err && from != EZPROF_NO_OBJECT)
			err = put_limit(c, i);
	}
	ezprof_lookup_sort(&c->blocked);
	ezprof_lookup_sort(&c->feeders);
	ezprof_lookup_sort(&c->gaps);
	ezprof_lookup_sort(&c->limits);
	return err;
}

int ezprof_why(const struct ezprof_model *model, const struct ezprof_model *before,
	       struct ezprof_findings *ret_findings)
{
	struct ezprof_why_context c = {.model = model, .before = before, .findings = ret_findings};

	*ret_findings = (struct ezprof_findings){.marks = calloc(model->n, 1)};
	if (!ret_findings->marks || prepare(&c)) {
		ret_findings->failed = true;
	} else {
		ezprof_why_blocked(&c);
		ezprof_why_late(&c);
		ezprof_why_loops(&c);
		ezprof_why_streams(&c);
		ezprof_why_trust(&c);
		ezprof_why_advice(&c);
		ezprof_why_pace(&c);
		ezprof_findings_rank(ret_findings);
	}
	ezprof_lookup_free(&c.blocked);
	ezprof_lookup_free(&c.feeders);
	ezprof_lookup_free(&c.gaps);
	ezprof_lookup_free(&c.limits);
	ezprof_lookup_free(&c.holds);
	return ret_findings->failed ? -ENOMEM : 0;
}
