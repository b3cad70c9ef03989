/* SPDX-License-Identifier: MIT */
/* Of a measurement's links those to objects of other builds. See measurement.h for the rest. */
#ifndef EZPROF_MEASUREMENT_LINKS_H
#define EZPROF_MEASUREMENT_LINKS_H

#include <stddef.h>

#include "measurement.h"

/*
 * Attaches to the i-th object of a target, whose arguments are elsewhere: by libbpf, which needs
 * our rights, and so before they are given up only. Errors: -EOPNOTSUPP: they are; those of
 * usdt_fallback.h.
 */
int ezprof_measurement_link_foreign(struct ezprof_measurement *measurement,
				    struct ezprof_target *target, size_t i,
				    struct ezprof_refusal *ret_refusal);

#endif
