/* SPDX-License-Identifier: MIT */
#include "why.h"
#include "why_part.h"

#include <errno.h>

bool ezprof_why_is_waiting(const struct ezprof_findings *findings, size_t publisher)
{
	size_t i, k;

	for (i = 0; i < findings->n; i++) {
		for (k = 0; k < findings->list[i].n_waiting; k++) {
			if (findings->list[i].waiting[k] == publisher)
				return true;
		}
	}
	return false;
}

int ezprof_why(const struct ezprof_model *model, const struct ezprof_model *before,
	       struct ezprof_findings *ret_findings)
{
	struct ezprof_why_context c = {model, before, ret_findings};

	*ret_findings = (struct ezprof_findings){0};
	ezprof_why_blocked(&c);
	ezprof_why_late(&c);
	ezprof_why_loops(&c);
	ezprof_why_streams(&c);
	ezprof_why_trust(&c);
	ezprof_why_advice(&c);
	ezprof_why_pace(&c);
	ezprof_findings_rank(ret_findings);
	return ret_findings->failed ? -ENOMEM : 0;
}
