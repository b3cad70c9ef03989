/* SPDX-License-Identifier: MIT */
#include "timeline.h"
#include "columns.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRACKS_MIN 64u
#define POINTS_STEP 64

enum ezprof_metric_id ezprof_followed(enum ezprof_scope scope, size_t number)
{
#define FOLLOWED_METRIC(s, n, metric) \
	if (scope == EZPROF_##s && number == (n)) \
		return EZPROF_##s##_##metric;
	EZPROF_FOLLOWED(FOLLOWED_METRIC)
#undef FOLLOWED_METRIC
	return EZPROF_METRIC_COUNT;
}

static void put_part(struct ez_buffer *out, const char *text)
{
	ezprof_put(out, "%zu:", strlen(text));
	ez_buffer_append_text(out, text);
}

static char *key_of(const struct ezprof_object *object)
{
	static const enum ezprof_label labels[] = {EZPROF_LABEL_ID, EZPROF_LABEL_CHANNEL_ID,
						   EZPROF_LABEL_TOPIC, EZPROF_LABEL_HANDLE,
						   EZPROF_LABEL_TASK};
	struct ez_buffer out;
	size_t i, len;

	ez_buffer_init(&out, SIZE_MAX / 2);
	ezprof_put(&out, "%d:", (int)object->scope);
	for (i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		put_part(&out, ezprof_label(object, labels[i]));
	ezprof_put(&out, "%lld", (long long)object->pid);
	return ez_buffer_steal(&out, &len);
}

static char *name_of(const struct ezprof_model *model, const struct ezprof_object *object,
		     size_t which)
{
	const struct ezprof_columns *columns;
	struct ez_buffer out;
	size_t i, len;

	ez_buffer_init(&out, SIZE_MAX / 2);
	for (i = 0; (columns = ezprof_columns(i)); i++) {
		if (columns->scope == object->scope && columns->names[which])
			columns->name(&out, model, object, which);
	}
	return ez_buffer_steal(&out, &len);
}

static void free_track(struct ezprof_track *track)
{
	size_t i;

	free(track->name);
	free(track->of);
	for (i = 0; i < EZPROF_FOLLOWED_MAX; i++)
		free(track->points[i]);
}

void ezprof_timeline_free(struct ezprof_timeline *timeline)
{
	size_t i;

	for (i = 0; i < timeline->n_tracks; i++)
		free_track(&timeline->tracks[i]);
	free(timeline->tracks);
	free(timeline->times_s);
	ezprof_names_free(&timeline->names);
	*timeline = (struct ezprof_timeline){0};
}

static int add_track(struct ezprof_timeline *timeline, const struct ezprof_model *model,
		     const struct ezprof_object *object, const char *key)
{
	struct ezprof_track track = {.scope = object->scope,
				     .name = name_of(model, object, 0),
				     .of = name_of(model, object, 1),
				     .pid = object->pid};
	struct ezprof_track *grown = timeline->tracks;

	size_t room = timeline->tracks_room ? 2 * timeline->tracks_room : TRACKS_MIN;

	if (timeline->n_tracks == timeline->tracks_room) {
		grown = reallocarray(grown, room, sizeof(*grown));
		if (grown) {
			timeline->tracks = grown;
			timeline->tracks_room = room;
		}
	}
	if (!grown || !track.name || !track.of ||
	    ezprof_names_add(&timeline->names, key, strlen(key), timeline->n_tracks)) {
		free_track(&track);
		return -ENOMEM;
	}
	timeline->tracks[timeline->n_tracks++] = track;
	return 0;
}

static int find_track(struct ezprof_timeline *timeline, const struct ezprof_model *model,
		      const struct ezprof_object *object, size_t *ret_track)
{
	char *key = key_of(object);
	int err = 0;

	if (!key)
		return -ENOMEM;
	*ret_track = ezprof_names_find(timeline->names, key, strlen(key));
	if (*ret_track == EZPROF_NO_NAME) {
		*ret_track = timeline->n_tracks;
		err = add_track(timeline, model, object, key);
	}
	free(key);
	return err;
}

static int make_room(struct ezprof_track *track, size_t n_points)
{
	size_t i, k, room = n_points + POINTS_STEP;

	if (track->room > n_points)
		return 0;
	for (i = 0; i < EZPROF_FOLLOWED_MAX; i++) {
		double *grown = reallocarray(track->points[i], room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		track->points[i] = grown;
		for (k = track->room; k < room; k++)
			grown[k] = NAN;
	}
	track->room = room;
	return 0;
}

static int add_point(struct ezprof_timeline *timeline, const struct ezprof_model *model,
		     const struct ezprof_object *object)
{
	struct ezprof_track *track;
	enum ezprof_metric_id metric;
	size_t i, at;
	int err = find_track(timeline, model, object, &at);

	if (err)
		return err;
	track = &timeline->tracks[at];
	err = make_room(track, timeline->n_points);
	for (i = 0; !err && (metric = ezprof_followed(object->scope, i)) != EZPROF_METRIC_COUNT;
	     i++)
		track->points[i][timeline->n_points] = ezprof_figure(object, metric, NAN);
	return err;
}

int ezprof_timeline_add(struct ezprof_timeline *timeline, const struct ezprof_model *model)
{
	static const enum ezprof_scope scopes[] = {EZPROF_PUB, EZPROF_SUB};
	double *grown = reallocarray(timeline->times_s, timeline->n_points + 1, sizeof(*grown));
	size_t i, k;
	int err = grown ? 0 : -ENOMEM;

	if (err)
		return err;
	timeline->times_s = grown;
	if (!timeline->n_points)
		timeline->first_unix_s = model->time_unix_s;
	grown[timeline->n_points] = model->time_unix_s - timeline->first_unix_s;
	for (i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
		for (k = model->first[scopes[i]]; k < model->first[scopes[i] + 1] && !err; k++)
			err = add_point(timeline, model, &model->objects[k]);
	}
	for (i = 0; i < timeline->n_tracks && !err; i++)
		err = make_room(&timeline->tracks[i], timeline->n_points);
	if (!err)
		timeline->n_points++;
	return err;
}
