/* SPDX-License-Identifier: MIT */
/* What measuring costs, from counters read now and then. One thread. */
#ifndef EZPROF_COST_METER_H
#define EZPROF_COST_METER_H

#include <stdint.h>

#include "map_reader.h"
#include "profile.h"

struct ezprof_cost_sample {
	uint64_t time_ns;
	uint64_t hits;
	uint64_t runs, run_ns; /* 0 where the kernel doesn't measure them */
	uint64_t cpu_ns;       /* of the agent */
};

struct ezprof_cost_meter {
	struct ezprof_cost_sample first, older, middle, newest;
};

/* Takes note of a sample; call it about twice a second. Rates are those of one to two seconds. */
void ezprof_cost_meter_note(struct ezprof_cost_meter *meter,
			    const struct ezprof_cost_sample *sample);
/* Rates per second and per hit; negative = not known. */
void ezprof_cost_meter_rates(const struct ezprof_cost_meter *meter, double *ret_hits_per_s,
			     double *ret_ns_per_hit, double *ret_cpu_share);

/* Reads the counters and takes note of them. */
void ezprof_cost_meter_tick(struct ezprof_cost_meter *meter, struct ezprof_maps *maps);

struct ezprof_scheds;
void ezprof_cost_meter_tick_sched(struct ezprof_cost_meter *meter, struct ezprof_scheds *scheds,
				  struct ezprof_sched_cost *ret_cost);

/* Fills in what is known; negative = not known. */
void ezprof_cost_meter_fill(const struct ezprof_cost_meter *meter, struct ezprof_cost *cost);

#endif
