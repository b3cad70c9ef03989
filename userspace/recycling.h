/* SPDX-License-Identifier: MIT */
/*
 * Gives the slots of closed endpoints to others while their process goes on: a process that opens
 * and closes endpoints for days needs no more room than it has endpoints at one time.
 */
#ifndef EZPROF_RECYCLING_H
#define EZPROF_RECYCLING_H

#include <stdint.h>

#include "measurement.h"

/*
 * After a reading of the target's registries; now_ns: CLOCK_MONOTONIC of that reading. What can't
 * be given back now is tried again after the next one.
 */
void ezprof_recycle(const struct ezprof_measurement *measurement,
		    const struct ezprof_target *target, uint64_t now_ns);

#endif
