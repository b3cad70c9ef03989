/* SPDX-License-Identifier: MIT */
#include "scrape_memory.h"
#include "exposition.h"
#include "view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_names(const struct ezprof_remembered *a, const struct ezprof_remembered *b)
{
	if (a->scope != b->scope)
		return a->scope < b->scope ? -1 : 1;
	return strcmp(a->names, b->names);
}

/* What the list is sorted by. */
static int by_uid(const struct ezprof_remembered *a, const struct ezprof_remembered *b)
{
	int order = by_names(a, b);

	return order ? order : strcmp(a->uid, b->uid);
}

static int sort_by_uid(const void *a, const void *b)
{
	return by_uid(a, b);
}

static char *names_of(const struct ezprof_model *model, const struct ezprof_object *object)
{
	struct ez_buffer out;
	size_t len;

	ez_buffer_init(&out, SIZE_MAX / 2);
	ezprof_put_label(&out, "topic", ezprof_label(object, EZPROF_LABEL_TOPIC));
	if (object->scope != EZPROF_PUB)
		ezprof_put_label(&out, "publisher", ezprof_from_topic(model, object));
	ezprof_put_label(&out, "handle", ezprof_label(object, EZPROF_LABEL_HANDLE));
	if (object->scope == EZPROF_TASK)
		ezprof_put_label(&out, "task", ezprof_label(object, EZPROF_LABEL_TASK));
	ezprof_put_label(&out, "host", ezprof_label(object, EZPROF_LABEL_HOST));
	ez_buffer_append(&out, "", 1);
	return ez_buffer_steal(&out, &len);
}

static char *uid_of(const struct ezprof_object *object)
{
	char *uid = NULL;

	if (asprintf(&uid, "%s %s %s %lld", ezprof_label(object, EZPROF_LABEL_ID),
		     ezprof_label(object, EZPROF_LABEL_PUB_ID),
		     ezprof_label(object, EZPROF_LABEL_CHANNEL_ID), (long long)object->pid) < 0)
		return NULL;
	return uid;
}

static char *labels_of(const struct ezprof_remembered *one)
{
	struct ez_buffer out;
	char number[16] = "";
	size_t len;

	ez_buffer_init(&out, SIZE_MAX / 2);
	ez_buffer_append_text(&out, one->names);
	if (one->number)
		snprintf(number, sizeof(number), "%u", one->number);
	ezprof_put_label(&out, "twin", number);
	if (out.len)
		ez_buffer_append_text(&out, "}");
	ez_buffer_append(&out, "", 1);
	return ez_buffer_steal(&out, &len);
}

/* A total that is smaller than it was is the older reading's, unless its counting began anew. */
static void hold_totals(struct ezprof_remembered *one, const struct ezprof_remembered *before)
{
	enum ezprof_metric_id first = ezprof_metric_first(one->scope);
	size_t i, n = ezprof_metric_count(one->scope);

	for (i = 0; i < n; i++) {
		struct ezprof_number old = before->values[i];

		if (ezprof_metric((enum ezprof_metric_id)(first + i))->kind != EZPROF_COUNTER ||
		    !ezprof_known(old) || !ezprof_known(one->values[i]))
			continue;
		if (ezprof_as_double(one->values[i], 0) < ezprof_as_double(old, 0))
			one->values[i] = old;
	}
}

/* Since the attach, not since the opening: a new agent begins at 0. */
static bool is_counted_anew(const struct ezprof_remembered *one,
			    const struct ezprof_remembered *before, enum ezprof_metric_id measured)
{
	size_t i = (size_t)(measured - ezprof_metric_first(one->scope));

	return ezprof_as_double(one->values[i], 0) < ezprof_as_double(before->values[i], 0);
}

static void carry_on(struct ezprof_remembered *one, const struct ezprof_remembered *before)
{
	static const enum ezprof_metric_id of_pub[] = {EZPROF_PUB_MEASURED_MESSAGES_TOTAL,
						       EZPROF_PUB_LOST_TOTAL};
	static const enum ezprof_metric_id of_sub[] = {EZPROF_SUB_MEASURED_MESSAGES_TOTAL,
						       EZPROF_SUB_LOST_TOTAL};
	const enum ezprof_metric_id *since_attach = one->scope == EZPROF_PUB ? of_pub : of_sub;
	bool anew = (one->scope == EZPROF_PUB || one->scope == EZPROF_SUB) &&
		    is_counted_anew(one, before, since_attach[0]);
	struct ezprof_number fresh[2];
	size_t k, first = (size_t)ezprof_metric_first(one->scope);

	for (k = 0; anew && k < 2; k++)
		fresh[k] = one->values[since_attach[k] - first];
	hold_totals(one, before);
	for (k = 0; anew && k < 2; k++)
		one->values[since_attach[k] - first] = fresh[k];
}

static const struct ezprof_remembered *find(const struct ezprof_scrape_memory *memory,
					    const struct ezprof_remembered *one)
{
	size_t low = 0, high = memory->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = by_uid(one, &memory->list[middle]);

		if (order == 0)
			return &memory->list[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* Who had a number keeps it, and the others get the lowest free ones. -ENOMEM. */
static int number_group(const struct ezprof_scrape_memory *memory, struct ezprof_remembered *group,
			size_t n)
{
	bool *taken = calloc(2 * n, sizeof(*taken)), *settled = taken + n;
	unsigned int next = 0;
	size_t i;

	if (!taken)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		const struct ezprof_remembered *before = find(memory, &group[i]);

		group[i].is_double = i && strcmp(group[i].uid, group[i - 1].uid) == 0;
		if (!before || group[i].is_double)
			continue;
		carry_on(&group[i], before);
		group[i].number = before->number;
		settled[i] = true;
		if (before->number < n)
			taken[before->number] = true;
	}
	for (i = 0; i < n; i++) {
		if (settled[i] || group[i].is_double)
			continue;
		while (taken[next])
			next++;
		group[i].number = next++;
	}
	free(taken);
	return 0;
}

static int number_all(const struct ezprof_scrape_memory *memory, struct ezprof_scrape_memory *fresh)
{
	size_t i, end;
	int err = 0;

	for (i = 0; i < fresh->n && !err; i = end) {
		for (end = i + 1; end < fresh->n; end++) {
			if (by_names(&fresh->list[i], &fresh->list[end]) != 0)
				break;
		}
		err = number_group(memory, &fresh->list[i], end - i);
	}
	for (i = 0; i < fresh->n && !err; i++) {
		fresh->list[i].labels = labels_of(&fresh->list[i]);
		if (!fresh->list[i].labels)
			err = -ENOMEM;
	}
	return err;
}

static int read_object(struct ezprof_remembered *one, const struct ezprof_model *model, size_t i)
{
	const struct ezprof_object *object = &model->objects[i];
	size_t n = ezprof_metric_count(object->scope);

	*one = (struct ezprof_remembered){
		.scope = object->scope,
		.object = i,
		.names = names_of(model, object),
		.uid = uid_of(object),
		.values = calloc(n, sizeof(one->values[0])),
	};
	if (!one->names || !one->uid || !one->values)
		return -ENOMEM;
	memcpy(one->values, object->values, n * sizeof(one->values[0]));
	return 0;
}

int ezprof_scrape_memory_renew(struct ezprof_scrape_memory *memory,
			       const struct ezprof_model *model)
{
	struct ezprof_scrape_memory fresh = {.n = 0};
	int err = 0;

	fresh.list = calloc(model->n, sizeof(fresh.list[0]));
	if (!fresh.list)
		return -ENOMEM;
	for (size_t i = 0; i < model->n && !err; i++)
		err = read_object(&fresh.list[fresh.n++], model, i);
	/* By scopes the model is in order already. */
	memcpy(fresh.first, model->first, sizeof(fresh.first));
	if (!err) {
		qsort(fresh.list, fresh.n, sizeof(fresh.list[0]), sort_by_uid);
		err = number_all(memory, &fresh);
	}
	if (err) {
		ezprof_scrape_memory_free(&fresh);
		return err;
	}
	ezprof_scrape_memory_free(memory);
	*memory = fresh;
	return 0;
}

void ezprof_scrape_memory_free(struct ezprof_scrape_memory *memory)
{
	size_t i;

	for (i = 0; i < memory->n; i++) {
		free(memory->list[i].names);
		free(memory->list[i].labels);
		free(memory->list[i].uid);
		free(memory->list[i].values);
	}
	free(memory->list);
	*memory = (struct ezprof_scrape_memory){0};
}
