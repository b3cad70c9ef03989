/* SPDX-License-Identifier: MIT */
/* What a figure of each object was in the last documents, by the object's identity. One thread. */
#ifndef EZPROF_HISTORY_H
#define EZPROF_HISTORY_H

#include <stddef.h>

#define EZPROF_HISTORY_SAMPLES 60u

struct ezprof_history; /* opaque */

/* NULL without memory. */
struct ezprof_history *ezprof_history_new(void);
void ezprof_history_free(struct ezprof_history *history); /* NULL is fine */

/* Begins the next sample. Who gets none until the one after was not there; after many it is
 * forgotten. */
void ezprof_history_step(struct ezprof_history *history);

/* This step's sample of what has that key; a second one is added to the first. -ENOMEM. */
int ezprof_history_add(struct ezprof_history *history, const char *key, double value);

/*
 * The last samples up to this step, oldest first, NAN where there was none; returns how many, 0 for
 * an unknown key.
 */
size_t ezprof_history_get(const struct ezprof_history *history, const char *key,
			  float ret_samples[EZPROF_HISTORY_SAMPLES]);

#endif
