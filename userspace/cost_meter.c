/* SPDX-License-Identifier: MIT */
#include "cost_meter.h"
#include "clock.h"
#include "sched_reader.h"

#include <string.h>

/* Rates are those of one to two such spans; in the beginning, of what there is. */
#define SPAN_NS 1000000000ull

void ezprof_cost_meter_note(struct ezprof_cost_meter *meter,
			    const struct ezprof_cost_sample *sample)
{
	if (!meter->first.time_ns)
		meter->first = meter->older = meter->middle = *sample;
	if (sample->time_ns - meter->middle.time_ns >= SPAN_NS) {
		meter->older = meter->middle;
		meter->middle = *sample;
	}
	meter->newest = *sample;
}

void ezprof_cost_meter_tick(struct ezprof_cost_meter *meter, struct ezprof_maps *maps)
{
	struct ezprof_cost_sample sample = {.time_ns = ez_clock_mono_ns()};
	struct ezprof_counters counters;
	unsigned int i;

	if (ezprof_maps_counters(maps, &counters))
		return;
	for (i = 0; i < EZ_PROBE_COUNT; i++)
		sample.hits += counters.hits[i];
	ezprof_maps_run_time(maps, &sample.runs, &sample.run_ns);
	sample.cpu_ns = ez_clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	ezprof_cost_meter_note(meter, &sample);
}

void ezprof_cost_meter_tick_sched(struct ezprof_cost_meter *meter, struct ezprof_scheds *scheds,
				  struct ezprof_sched_cost *ret_cost)
{
	struct ezprof_cost_sample sample = {.time_ns = ez_clock_mono_ns()};
	struct ezprof_sched_counts counts;
	struct ezprof_sched_cost cost = {.known = true};

	if (ezprof_scheds_counts(scheds, &counts))
		return;
	for (unsigned int i = 0; i < EZ_SCHED_EVENTS; i++)
		sample.hits += counts.hits[i];
	sample.runs = counts.runs;
	sample.run_ns = counts.run_ns;
	ezprof_cost_meter_note(meter, &sample);
	cost.hits = sample.hits;
	memcpy(cost.losses, counts.losses, sizeof(cost.losses));
	ezprof_cost_meter_rates(meter, &cost.hits_per_s, &cost.ns_per_hit, &cost.cpu_share);
	*ret_cost = cost;
}

void ezprof_cost_meter_rates(const struct ezprof_cost_meter *meter, double *ret_hits_per_s,
			     double *ret_ns_per_hit, double *ret_cpu_share)
{
	const struct ezprof_cost_sample *a = &meter->older, *b = &meter->newest;
	double span_s = (double)(b->time_ns - a->time_ns) / 1e9;

	*ret_hits_per_s = *ret_ns_per_hit = *ret_cpu_share = -1;
	if (b->time_ns == a->time_ns)
		return;
	*ret_hits_per_s = (double)(b->hits - a->hits) / span_s;
	/* The kernel measures while somebody has asked for it, which may be for a part of the span.
	 */
	if (b->runs == a->runs)
		return;
	*ret_ns_per_hit = (double)(b->run_ns - a->run_ns) / (double)(b->runs - a->runs);
	*ret_cpu_share = *ret_hits_per_s * *ret_ns_per_hit / 1e9;
}

void ezprof_cost_meter_fill(const struct ezprof_cost_meter *meter, struct ezprof_cost *cost)
{
	const struct ezprof_cost_sample *a = &meter->older, *b = &meter->newest;

	ezprof_cost_meter_rates(meter, &cost->hits_per_s, &cost->ns_per_hit,
				&cost->probes_cpu_share);
	cost->agent_cpu_share = -1;
	if (b->time_ns != a->time_ns)
		cost->agent_cpu_share =
			(double)(b->cpu_ns - a->cpu_ns) / (double)(b->time_ns - a->time_ns);
}
