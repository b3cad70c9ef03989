/* SPDX-License-Identifier: MIT */
/*
 * Several documents of one graph, and what each object's figures come to over them. Objects of
 * different runs are the same when their names are: topic, handle, task and the publisher's topic;
 * pids, ids and hosts change from run to run. One thread.
 */
#ifndef EZPROF_SAMPLES_H
#define EZPROF_SAMPLES_H

#include "model.h"
#include "name_table.h"

struct ezprof_subject {
	enum ezprof_scope scope;
	char *key;	/* what makes it the same in other documents */
	size_t *places; /* per model: the object, or EZPROF_NO_OBJECT */
	size_t room;
	bool has_namesake; /* another subscriber is called the same in sentences */
	size_t twins; /* of the first of several with the same names: the newest model's so far */
};

struct ezprof_samples {
	struct ezprof_model **models;
	size_t n_models;
	struct ezprof_subject *subjects;
	size_t n_subjects, subjects_room;
	struct ezprof_name *names; /* the subjects, by their keys */
};

/* Of a figure in those documents that know it. */
struct ezprof_spread {
	size_t n;
	double median, min, max;
};

/* All documents of a text, one behind the other. -EPROTO: it isn't such a text; -ENOMEM. */
int ezprof_samples_read(struct ezprof_samples *samples, const char *text, size_t n);

void ezprof_samples_free(struct ezprof_samples *samples); /* bears a zeroed one */

struct ezprof_spread ezprof_samples_spread(const struct ezprof_samples *samples,
					   const struct ezprof_subject *subject,
					   enum ezprof_metric_id metric);

/* The subject of that key; NULL if there is none. */
const struct ezprof_subject *ezprof_samples_find(const struct ezprof_samples *samples,
						 const char *key);

/* The subject in the latest document that has it, and that document. */
const struct ezprof_object *ezprof_samples_latest(const struct ezprof_samples *samples,
						  const struct ezprof_subject *subject,
						  const struct ezprof_model **ret_model);

/* "sink on B (pid 4242)", for people; no line breaks. */
void ezprof_say_subject(struct ez_buffer *out, const struct ezprof_samples *samples,
			const struct ezprof_subject *subject);

#endif
