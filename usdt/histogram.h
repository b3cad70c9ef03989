/* SPDX-License-Identifier: MIT */
/*
 * Bins of the duration histograms, the same for the process that fills them and for whoever reads
 * them: unit 256 ns, 8 linear bins, then 8 per octave for 23 octaves. A bin holds low <= ns < high
 * (both multiples of 256 ns); the last one holds everything from 15/16 of 2^34 ns (16.1 s) up.
 */
#ifndef EZ_HISTOGRAM_H
#define EZ_HISTOGRAM_H

#include <stdint.h>

#include "bucket_layout.h"

#define EZ_HIST_UNIT_SHIFT 8u

static inline uint32_t ez_hist_bin(uint64_t ns)
{
	uint64_t units = ns >> EZ_HIST_UNIT_SHIFT;
	uint32_t octave, bin;

	if (units < 8)
		return (uint32_t)units;
	octave = 63 - (uint32_t)__builtin_clzll(units); /* 3 or more */
	bin = (octave - 2) * 8 + ((uint32_t)(units >> (octave - 3)) & 7);
	return bin < EZ_HIST_BINS ? bin : EZ_HIST_BINS - 1;
}

/* Where a bin begins, ns; bin EZ_HIST_BINS gives the end of the scale (2^34). */
static inline uint64_t ez_hist_bin_low_ns(uint32_t bin)
{
	if (bin < 8)
		return (uint64_t)bin << EZ_HIST_UNIT_SHIFT;
	return (uint64_t)(8 + (bin & 7)) << (bin / 8 - 1 + EZ_HIST_UNIT_SHIFT);
}

#endif
