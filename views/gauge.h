/* SPDX-License-Identifier: MIT */
/* Figures small enough for columns: three digits, bars, sparklines. Pure. */
#ifndef EZPROF_GAUGE_H
#define EZPROF_GAUGE_H

#include <stdbool.h>
#include <stddef.h>

#include "buffer.h"

#define EZPROF_FIGURE_BYTES 16

/* "0.482", "5.52", "33.7", "174", "12345", "123k", "4.2M"; "-" for NAN. At most 6 columns. */
void ezprof_gauge_figure(char out[EZPROF_FIGURE_BYTES], double value);

/* A bar of so many columns for a share of 0 to 1; blank for NAN. ascii: no other characters. */
void ezprof_gauge_bar(struct ez_buffer *out, double share, unsigned int columns, bool ascii);

/*
 * The last samples, the newest to the right, each a column, between 0 and their maximum. NAN is a
 * blank.
 */
void ezprof_gauge_spark(struct ez_buffer *out, const float *samples, size_t n, unsigned int columns,
			bool ascii);

#endif
