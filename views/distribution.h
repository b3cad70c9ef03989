/* SPDX-License-Identifier: MIT */
/* The distributions of a document: how many intervals were how long. Pure; any thread. */
#ifndef EZPROF_DISTRIBUTION_H
#define EZPROF_DISTRIBUTION_H

#include <stddef.h>
#include <stdint.h>

struct ezprof_bin {
	uint64_t from_ns, to_ns; /* from_ns <= t < to_ns; the last one of the scale has all above */
	uint64_t samples;
};

/*
 * Reads "4096:12 4608:3": where each bin begins, and its samples, ascending. *ret_bins is to be
 * freed. -EPROTO: it is no such text; -ENOMEM.
 */
int ezprof_distribution_read(const char *text, struct ezprof_bin **ret_bins, size_t *ret_n);

#endif
