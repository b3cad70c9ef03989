/* SPDX-License-Identifier: MIT */
/* Where the time of a subscriber's processing went, if the agent was asked (--sched). */
#include "phrase.h"
#include "why_part.h"

void ezprof_say_time_spent(struct ez_buffer *out, struct ezprof_finding *finding,
			   const struct ezprof_model *model, size_t subscriber)
{
	static const struct {
		enum ezprof_metric_id metric;
		const char *what;
	} parts[] = {
		{EZPROF_SUB_PROCESS_ON_CPU_MS, " on a CPU, "},
		{EZPROF_SUB_PROCESS_RUNNABLE_MS, " ready to run while others had the CPU, "},
		{EZPROF_SUB_PROCESS_SLEEPING_MS, " asleep."},
	};
	const struct ezprof_object *s = &model->objects[subscriber];
	double all_ms = ezprof_figure(s, EZPROF_SUB_PROCESS_SCHED_MS, 0.0);
	size_t i;

	if (all_ms <= 0)
		return;
	ez_buffer_append_text(out, " Of its processing time it spent ");
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		ezprof_say_share(out, ezprof_figure(s, parts[i].metric, 0.0) / all_ms);
		ez_buffer_append_text(out, parts[i].what);
		ezprof_finding_rests_on(finding, subscriber, parts[i].metric);
	}
}
