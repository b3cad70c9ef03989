/* SPDX-License-Identifier: MIT */
#include "distribution.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BINS_MAX 1024u
#define WIDTH_MIN_NS 256u

static bool read_whole(const char **text, uint64_t *ret_value)
{
	uint64_t value = 0;
	const char *at = *text;

	for (; *at >= '0' && *at <= '9'; at++) {
		if (value > (UINT64_MAX >> 4) / 10)
			return false;
		value = 10 * value + (uint64_t)(*at - '0');
	}
	if (at == *text)
		return false;
	*text = at;
	*ret_value = value;
	return true;
}

/* Eight bins to an octave: an eighth of the power of two that the bin's begin has reached. */
static uint64_t width_of(uint64_t from_ns)
{
	uint64_t octave = from_ns ? UINT64_C(1) << (63 - __builtin_clzll(from_ns)) : 0;

	return octave / 8 > WIDTH_MIN_NS ? octave / 8 : WIDTH_MIN_NS;
}

static bool read_bin(const char **text, struct ezprof_bin *bin)
{
	if (!read_whole(text, &bin->from_ns) || **text != ':')
		return false;
	(*text)++;
	if (!read_whole(text, &bin->samples))
		return false;
	bin->to_ns = bin->from_ns + width_of(bin->from_ns);
	return true;
}

int ezprof_distribution_read(const char *text, struct ezprof_bin **ret_bins, size_t *ret_n)
{
	struct ezprof_bin *bins = calloc(BINS_MAX, sizeof(*bins));
	bool good = true;
	size_t n = 0;

	if (!bins)
		return -ENOMEM;
	while (good && *text) {
		good = n < BINS_MAX && read_bin(&text, &bins[n]) &&
		       (!n || bins[n].from_ns >= bins[n - 1].to_ns) &&
		       (*text == '\0' || (*text == ' ' && text[1]));
		if (*text == ' ')
			text++;
		n++;
	}
	if (!good) {
		free(bins);
		return -EPROTO;
	}
	*ret_bins = bins;
	*ret_n = n;
	return 0;
}
