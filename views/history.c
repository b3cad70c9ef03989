/* SPDX-License-Identifier: MIT */
#include "history.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* An element that could not be added has hh.tbl == NULL afterwards. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((void)(element))
#include <uthash.h>

struct track {
	char *key;
	uint64_t first, last; /* steps */
	float samples[EZPROF_HISTORY_SAMPLES];
	UT_hash_handle hh;
};

struct ezprof_history {
	struct track *tracks;
	uint64_t step;
};

struct ezprof_history *ezprof_history_new(void)
{
	return calloc(1, sizeof(struct ezprof_history));
}

static void forget(struct ezprof_history *history, struct track *track)
{
	HASH_DEL(history->tracks, track);
	free(track->key);
	free(track);
}

void ezprof_history_free(struct ezprof_history *history)
{
	struct track *track, *next;

	if (!history)
		return;
	HASH_ITER (hh, history->tracks, track, next)
		forget(history, track);
	free(history);
}

void ezprof_history_step(struct ezprof_history *history)
{
	struct track *track, *next;

	history->step++;
	HASH_ITER (hh, history->tracks, track, next) {
		if (history->step - track->last > EZPROF_HISTORY_SAMPLES)
			forget(history, track);
		else
			track->samples[history->step % EZPROF_HISTORY_SAMPLES] = NAN;
	}
}

static struct track *add_track(struct ezprof_history *history, const char *key)
{
	struct track *track = calloc(1, sizeof(*track));

	if (track)
		track->key = strdup(key);
	if (!track || !track->key) {
		free(track);
		return NULL;
	}
	track->first = history->step;
	track->samples[history->step % EZPROF_HISTORY_SAMPLES] = NAN;
	HASH_ADD_KEYPTR(hh, history->tracks, track->key, strlen(track->key), track);
	if (track->hh.tbl)
		return track;
	free(track->key);
	free(track);
	return NULL;
}

int ezprof_history_add(struct ezprof_history *history, const char *key, double value)
{
	struct track *track;
	float *sample;

	HASH_FIND_STR(history->tracks, key, track);
	if (!track)
		track = add_track(history, key);
	if (!track)
		return -ENOMEM;
	sample = &track->samples[history->step % EZPROF_HISTORY_SAMPLES];
	*sample = isnan(*sample) ? (float)value : *sample + (float)value;
	if (isinf(*sample)) /* No rate is that high, but documents say anything. */
		*sample = copysignf(FLT_MAX, *sample);
	track->last = history->step;
	return 0;
}

size_t ezprof_history_get(const struct ezprof_history *history, const char *key,
			  float ret_samples[EZPROF_HISTORY_SAMPLES])
{
	struct track *track;
	size_t n, i;

	HASH_FIND_STR(history->tracks, key, track);
	if (!track)
		return 0;
	n = history->step - track->first + 1;
	n = n > EZPROF_HISTORY_SAMPLES ? EZPROF_HISTORY_SAMPLES : n;
	for (i = 0; i < n; i++)
		ret_samples[i] =
			track->samples[(history->step - (n - 1) + i) % EZPROF_HISTORY_SAMPLES];
	return n;
}
