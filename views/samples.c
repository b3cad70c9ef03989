/* SPDX-License-Identifier: MIT */
#include "samples.h"
#include "phrase.h"
#include "view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 64u

/* Names, each with its length before it, so that no two lists of names give one key. */
static void put_part(struct ez_buffer *out, const char *text)
{
	ezprof_put(out, "%zu:", strlen(text));
	ez_buffer_append_text(out, text);
}

/* twin: which one it is of several with the same scope and names. */
static char *key_of(const struct ezprof_model *model, const struct ezprof_object *object,
		    size_t twin)
{
	struct ez_buffer out;
	size_t len;

	ez_buffer_init(&out, SIZE_MAX / 2);
	ezprof_put(&out, "%d:", (int)object->scope);
	put_part(&out, ezprof_label(object, EZPROF_LABEL_TOPIC));
	put_part(&out, ezprof_from_topic(model, object));
	put_part(&out, ezprof_label(object, EZPROF_LABEL_HANDLE));
	put_part(&out, ezprof_label(object, EZPROF_LABEL_TASK));
	ezprof_put(&out, "%zu", twin);
	return ez_buffer_steal(&out, &len);
}

const struct ezprof_subject *ezprof_samples_find(const struct ezprof_samples *samples,
						 const char *key)
{
	size_t at = ezprof_names_find(samples->names, key, strlen(key));

	return at == EZPROF_NO_NAME ? NULL : &samples->subjects[at];
}

/* Takes the key over on success. */
static struct ezprof_subject *add_subject(struct ezprof_samples *samples, enum ezprof_scope scope,
					  char *key)
{
	struct ezprof_subject *grown;

	if (samples->n_subjects == samples->subjects_room) {
		size_t room = samples->subjects_room ? 2 * samples->subjects_room : ROOM_MIN;

		grown = reallocarray(samples->subjects, room, sizeof(*grown));
		if (!grown)
			return NULL;
		samples->subjects = grown;
		samples->subjects_room = room;
	}
	if (ezprof_names_add(&samples->names, key, strlen(key), samples->n_subjects))
		return NULL;
	samples->subjects[samples->n_subjects] =
		(struct ezprof_subject){.scope = scope, .key = key};
	return &samples->subjects[samples->n_subjects++];
}

static int set_place(struct ezprof_subject *subject, size_t model, size_t object)
{
	size_t *grown;

	if (subject->room <= model) {
		grown = reallocarray(subject->places, model + 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		subject->places = grown;
		while (subject->room <= model)
			grown[subject->room++] = EZPROF_NO_OBJECT;
	}
	subject->places[model] = object;
	return 0;
}

/* Found or added; takes the key over. */
static struct ezprof_subject *subject_of(struct ezprof_samples *samples, enum ezprof_scope scope,
					 char *key)
{
	size_t at = ezprof_names_find(samples->names, key, strlen(key));
	struct ezprof_subject *subject =
		at == EZPROF_NO_NAME ? add_subject(samples, scope, key) : &samples->subjects[at];

	if (!subject || subject->key != key)
		free(key);
	return subject;
}

static int place(struct ezprof_samples *samples, size_t model_index, size_t object)
{
	const struct ezprof_model *model = samples->models[model_index];
	size_t twin, first = 0;

	for (twin = 0;; twin++) {
		char *key = key_of(model, &model->objects[object], twin);
		struct ezprof_subject *subject;

		subject = key ? subject_of(samples, model->objects[object].scope, key) : NULL;
		if (!subject)
			return -ENOMEM;
		if (!twin)
			first = (size_t)(subject - samples->subjects);
		if (subject->room <= model_index ||
		    subject->places[model_index] == EZPROF_NO_OBJECT) {
			samples->subjects[first].twins = twin + 1;
			return set_place(subject, model_index, object);
		}
		/* A topic of many processes has as many channels of the same names. */
		if (!twin)
			twin = subject->twins - 1;
	}
}

/* Takes the model over in any case. -ENOMEM. */
static int add_model(struct ezprof_samples *samples, struct ezprof_model *model)
{
	struct ezprof_model **grown =
		reallocarray(samples->models, samples->n_models + 1, sizeof(*grown));
	size_t i;
	int err = 0;

	if (!grown) {
		ezprof_model_free(model);
		return -ENOMEM;
	}
	samples->models = grown;
	grown[samples->n_models++] = model;
	for (i = 0; i < model->n && !err; i++)
		err = place(samples, samples->n_models - 1, i);
	return err;
}

/* The latest of a subject, if it is a subscriber, as sentences call it. */
static void say_latest(struct ez_buffer *out, const struct ezprof_samples *samples, size_t subject)
{
	const struct ezprof_model *model;
	const struct ezprof_object *object =
		ezprof_samples_latest(samples, &samples->subjects[subject], &model);

	ez_buffer_reset(out);
	if (object && object->scope == EZPROF_SUB)
		ezprof_say_subscriber(out, model, object);
}

/* Another subscriber of the same name: the same code at another input. */
static int find_namesakes(struct ezprof_samples *samples)
{
	struct ezprof_name *called = NULL;
	struct ez_buffer words;
	size_t i, other;
	int err = 0;

	ez_buffer_init(&words, SIZE_MAX / 2);
	for (i = 0; i < samples->n_subjects && !err; i++) {
		samples->subjects[i].has_namesake = false;
		say_latest(&words, samples, i);
		if (!words.len)
			continue;
		other = ezprof_names_find(called, words.data, words.len);
		if (other == EZPROF_NO_NAME)
			err = ezprof_names_add(&called, words.data, words.len, i);
		else
			samples->subjects[i].has_namesake = samples->subjects[other].has_namesake =
				true;
	}
	ez_buffer_free(&words);
	ezprof_names_free(&called);
	return err;
}

int ezprof_samples_read(struct ezprof_samples *samples, const char *text, size_t n)
{
	size_t at = 0, before = samples->n_models;
	struct ezprof_model *model;
	int err;

	do {
		err = ezprof_model_next(text, n, &at, &model);
		if (!err)
			err = add_model(samples, model);
	} while (!err);
	if (err != -ENODATA)
		return err;
	return samples->n_models > before ? find_namesakes(samples) : -EPROTO;
}

void ezprof_samples_free(struct ezprof_samples *samples)
{
	size_t i;

	for (i = 0; i < samples->n_models; i++)
		ezprof_model_free(samples->models[i]);
	for (i = 0; i < samples->n_subjects; i++) {
		free(samples->subjects[i].key);
		free(samples->subjects[i].places);
	}
	ezprof_names_free(&samples->names);
	free(samples->models);
	free(samples->subjects);
	*samples = (struct ezprof_samples){0};
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

struct ezprof_spread ezprof_samples_spread(const struct ezprof_samples *samples,
					   const struct ezprof_subject *subject,
					   enum ezprof_metric_id metric)
{
	struct ezprof_spread spread = {0};
	double *values = calloc(subject->room ? subject->room : 1, sizeof(*values));
	size_t i, n = 0;

	if (!values)
		return spread;
	for (i = 0; i < subject->room; i++) {
		struct ezprof_number number;

		if (subject->places[i] == EZPROF_NO_OBJECT)
			continue;
		number = ezprof_value(&samples->models[i]->objects[subject->places[i]], metric);
		if (ezprof_known(number))
			values[n++] = ezprof_as_double(number, 0.0);
	}
	if (n) {
		qsort(values, n, sizeof(*values), compare);
		spread.n = n;
		spread.min = values[0];
		spread.max = values[n - 1];
		spread.median = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2.0;
	}
	free(values);
	return spread;
}

const struct ezprof_object *ezprof_samples_latest(const struct ezprof_samples *samples,
						  const struct ezprof_subject *subject,
						  const struct ezprof_model **ret_model)
{
	size_t i;

	for (i = subject->room; i-- > 0;) {
		if (subject->places[i] == EZPROF_NO_OBJECT)
			continue;
		*ret_model = samples->models[i];
		return &samples->models[i]->objects[subject->places[i]];
	}
	return NULL;
}

void ezprof_say_subject(struct ez_buffer *out, const struct ezprof_samples *samples,
			const struct ezprof_subject *subject)
{
	const struct ezprof_model *model;
	const struct ezprof_object *object = ezprof_samples_latest(samples, subject, &model);

	if (!object)
		return;
	switch (object->scope) {
	case EZPROF_SUB:
		ezprof_say_subscriber(out, model, object);
		if (subject->has_namesake) {
			ez_buffer_append_text(out, " of ");
			ezprof_say_name(out, ezprof_from_topic(model, object));
		}
		return;
	case EZPROF_PUB:
		ezprof_say_publisher(out, object);
		break;
	case EZPROF_TASK:
		ezprof_say_name(out, ezprof_label(object, EZPROF_LABEL_TASK));
		break;
	case EZPROF_GRAPH:
		ez_buffer_append_text(out, "the graph");
		return;
	default:
		ezprof_put(out, "the %s of ", ezprof_scope_word(object->scope));
		ezprof_say_name(out, ezprof_from_topic(model, object));
	}
	if (object->pid)
		ezprof_put(out, " (pid %lld)", (long long)object->pid);
}
