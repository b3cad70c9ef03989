/* SPDX-License-Identifier: MIT */
#include "gauge.h"

#include <math.h>
#include <stdio.h>

void ezprof_gauge_figure(char out[EZPROF_FIGURE_BYTES], double value)
{
	static const char *const suffixes[] = {"", "k", "M", "G", "T", "P"};
	double size = fabs(value);
	size_t i = 0;

	if (isnan(value)) {
		snprintf(out, EZPROF_FIGURE_BYTES, "-");
		return;
	}
	if (size >= 99999.5) {
		while (size >= 999.5 && i < 5) {
			size /= 1000.0;
			i++;
		}
		if (size >= 999.5) {
			snprintf(out, EZPROF_FIGURE_BYTES, "%.0e", value);
			return;
		}
		snprintf(out, EZPROF_FIGURE_BYTES, "%s%.*f%s", value < 0 ? "-" : "",
			 size >= 99.95 ? 0 : 1, size, suffixes[i]);
		return;
	}
	snprintf(out, EZPROF_FIGURE_BYTES, "%.*f",
		 size >= 99.95 || size == 0 ? 0
		 : size >= 9.995	    ? 1
		 : size >= 0.9995	    ? 2
					    : 3,
		 value);
}

void ezprof_gauge_bar(struct ez_buffer *out, double share, unsigned int columns, bool ascii)
{
	static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	unsigned int steps = ascii ? 1 : 8, filled, i;

	share = share > 1.0 ? 1.0 : share;
	/* What is there at all is seen; what isn't full doesn't look so. */
	filled = share > 0 ? (unsigned int)(share * columns * steps) : 0;
	if (share > 0 && !filled)
		filled = 1;
	for (i = 0; i < columns; i++) {
		if (isnan(share))
			ez_buffer_append_text(out, " ");
		else if (filled >= (i + 1) * steps)
			ez_buffer_append_text(out, ascii ? "#" : "█");
		else if (filled > i * steps)
			ez_buffer_append_text(out, parts[filled - i * steps]);
		else
			ez_buffer_append_text(out, ascii ? "." : "░");
	}
}

void ezprof_gauge_spark(struct ez_buffer *out, const float *samples, size_t n, unsigned int columns,
			bool ascii)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const signs[] = {"_", ".", "-", "=", "+", "*", "%", "#"};
	size_t first = n > columns ? n - columns : 0, i;
	float most = 0;

	for (i = first; i < n; i++)
		most = isfinite(samples[i]) && samples[i] > most ? samples[i] : most;
	for (i = n - first; i < columns; i++)
		ez_buffer_append_text(out, " ");
	for (i = first; i < n; i++) {
		int level;

		if (!isfinite(samples[i])) {
			ez_buffer_append_text(out, " ");
			continue;
		}
		level = most > 0 && samples[i] > 0 ? (int)(samples[i] / most * 7.0f + 0.5f) : 0;
		/* Little is not nothing. */
		if (level == 0 && samples[i] > 0)
			level = 1;
		level = level > 7 ? 7 : level;
		ez_buffer_append_text(out, ascii ? signs[level] : blocks[level]);
	}
}
