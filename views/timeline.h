/* SPDX-License-Identifier: MIT */
/*
 * A few figures of each publisher and subscriber over time: a point for each of several documents
 * of one graph, which needn't be kept. One thread.
 */
#ifndef EZPROF_TIMELINE_H
#define EZPROF_TIMELINE_H

#include "model.h"
#include "name_table.h"

/* What is followed: scope, number, metric. */
#define EZPROF_FOLLOWED(X) \
	X(PUB, 0, RATE_HZ) \
	X(PUB, 1, IN_FLIGHT) \
	X(PUB, 2, BLOCKED_SHARE) \
	X(SUB, 0, RATE_HZ) \
	X(SUB, 1, IN_FLIGHT) \
	X(SUB, 2, PROCESS_P99_MS)

#define EZPROF_FOLLOWED_MAX 3

/* An object from document to document: the one with the same labels and pid. */
struct ezprof_track {
	enum ezprof_scope scope;
	char *name, *of; /* as tables show it; "" = none */
	int64_t pid;
	/* n_points of each; NaN = not known then */
	double *points[EZPROF_FOLLOWED_MAX];
	size_t room;
};

struct ezprof_timeline {
	double *times_s; /* since the first document */
	double first_unix_s;
	size_t n_points;
	struct ezprof_track *tracks;
	size_t n_tracks, tracks_room;
	struct ezprof_name *names; /* the tracks, by the labels and pid */
};

/* One point more. -ENOMEM: the timeline is still whole, without it. */
int ezprof_timeline_add(struct ezprof_timeline *timeline, const struct ezprof_model *model);

/* The metric of that number; EZPROF_METRIC_COUNT = there are no more of the scope. */
enum ezprof_metric_id ezprof_followed(enum ezprof_scope scope, size_t number);

void ezprof_timeline_free(struct ezprof_timeline *timeline); /* bears a zeroed one */

#endif
