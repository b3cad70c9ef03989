/* SPDX-License-Identifier: MIT */
#include "flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SEPARATOR ", "

const char *ezprof_next_task(const char **list, size_t *len)
{
	const char *task = *list, *end;

	if (!*task)
		return NULL;
	end = strstr(task, SEPARATOR);
	*len = end ? (size_t)(end - task) : strlen(task);
	*list = end ? end + strlen(SEPARATOR) : task + *len;
	return task;
}

static bool list_has(const char *list, const char *task, size_t len)
{
	const char *other;
	size_t n;

	while ((other = ezprof_next_task(&list, &n))) {
		if (n == len && memcmp(other, task, n) == 0)
			return true;
	}
	return false;
}

bool ezprof_task_is_of(const char *task, const char *list)
{
	const char *one;
	size_t len;

	while ((one = ezprof_next_task(&task, &len))) {
		if (list_has(list, one, len))
			return true;
	}
	return false;
}

/* A unit's address: what stands before the last such character; 0 = there is none. */
static size_t unit_length(const char *name, char before)
{
	const char *end = strrchr(name, before);

	return end ? (size_t)(end - name) : 0;
}

static bool same_unit(const char *a, const char *b, char before)
{
	size_t n = unit_length(a, before);

	return n && n == unit_length(b, before) && memcmp(a, b, n) == 0;
}

static bool same_process(const struct ezprof_object *a, const struct ezprof_object *b)
{
	return a->pid && a->pid == b->pid &&
	       strcmp(ezprof_label(a, EZPROF_LABEL_HOST), ezprof_label(b, EZPROF_LABEL_HOST)) == 0;
}

enum ezprof_flow_by ezprof_flow(const struct ezprof_model *model, size_t subscriber,
				size_t publisher)
{
	const struct ezprof_object *s = &model->objects[subscriber];
	const struct ezprof_object *p = &model->objects[publisher];
	const char *s_task = ezprof_label(s, EZPROF_LABEL_TASK);
	const char *p_task = ezprof_label(p, EZPROF_LABEL_TASK);

	/* Who watches a topic isn't what makes it. */
	if (s->from == publisher || !same_process(s, p))
		return EZPROF_FLOW_NOT;
	if (ezprof_task_is_of(s_task, p_task))
		return EZPROF_FLOW_TASK;
	if (*s_task && *p_task)
		return same_unit(s_task, p_task, ':') ? EZPROF_FLOW_UNIT : EZPROF_FLOW_NOT;
	/* With tasks on one side it is a Python graph, and topics begin with the unit's address. */
	if (same_unit(ezprof_label(s, EZPROF_LABEL_TOPIC), ezprof_label(p, EZPROF_LABEL_TOPIC),
		      '/'))
		return EZPROF_FLOW_UNIT;
	return *s_task || *p_task ? EZPROF_FLOW_NOT : EZPROF_FLOW_PROCESS;
}

/* What two must have in common for the one to feed the other, by which each is looked up. */
enum kind { OF_TASK, OF_TASKS_UNIT, OF_TOPICS_UNIT, OF_BARE_TOPICS_UNIT, OF_PROCESS };

#define KEYS_MAX 4u /* besides those of tasks */

static uint64_t process_key(const struct ezprof_object *object, enum kind kind)
{
	uint64_t key = ezprof_key_whole(ezprof_key(kind), (uint64_t)object->pid);

	return ezprof_key_text(key, ezprof_label(object, EZPROF_LABEL_HOST));
}

static uint64_t unit_key(const struct ezprof_object *object, enum kind kind, const char *name,
			 size_t len)
{
	return ezprof_key_bytes(process_key(object, kind), name, len);
}

/* asks: it looks for others, else it is put in. With tasks on both sides topics don't count. */
static size_t keys_of(const struct ezprof_object *object, bool asks, uint64_t keys[KEYS_MAX])
{
	const char *task = ezprof_label(object, EZPROF_LABEL_TASK);
	const char *topic = ezprof_label(object, EZPROF_LABEL_TOPIC);
	size_t n = 0, of_task = unit_length(task, ':'), of_topic = unit_length(topic, '/');

	if (of_task)
		keys[n++] = unit_key(object, OF_TASKS_UNIT, task, of_task);
	if (of_topic && (asks || !*task))
		keys[n++] = unit_key(object, OF_BARE_TOPICS_UNIT, topic, of_topic);
	if (of_topic && (!asks || !*task))
		keys[n++] = unit_key(object, OF_TOPICS_UNIT, topic, of_topic);
	if (!*task)
		keys[n++] = process_key(object, OF_PROCESS);
	return n;
}

int ezprof_flow_put(struct ezprof_lookup *lookup, const struct ezprof_model *model, size_t as,
		    double weight, size_t object)
{
	const struct ezprof_object *o = &model->objects[as];
	const char *tasks = ezprof_label(o, EZPROF_LABEL_TASK), *task;
	uint64_t keys[KEYS_MAX];
	size_t len, i, n;
	int err = 0;

	if (!o->pid)
		return 0;
	n = keys_of(o, false, keys);
	for (i = 0; i < n && !err; i++)
		err = ezprof_lookup_add(lookup, keys[i], weight, object);
	while (!err && (task = ezprof_next_task(&tasks, &len)))
		err = ezprof_lookup_add(lookup, unit_key(o, OF_TASK, task, len), weight, object);
	return err;
}

static bool flows(const struct ezprof_model *model, size_t object, size_t other)
{
	if (model->objects[object].scope == EZPROF_PUB)
		return ezprof_flow(model, other, object);
	/* A subscriber that was put in stands for its publisher. */
	if (model->objects[other].scope == EZPROF_SUB)
		other = model->objects[other].from;
	return ezprof_flow(model, object, other);
}

static const struct ezprof_found *best_of(const struct ezprof_lookup *lookup,
					  const struct ezprof_model *model, uint64_t key,
					  size_t object, const struct ezprof_found *best)
{
	EZPROF_EACH_FOUND (lookup, key, found) {
		if (best && (found->weight < best->weight ||
			     (found->weight == best->weight && found->object >= best->object)))
			break;
		if (flows(model, object, found->object))
			return found;
	}
	return best;
}

const struct ezprof_found *ezprof_flow_best(const struct ezprof_lookup *lookup,
					    const struct ezprof_model *model, size_t object)
{
	const struct ezprof_object *o = &model->objects[object];
	const char *tasks = ezprof_label(o, EZPROF_LABEL_TASK), *task;
	const struct ezprof_found *best = NULL;
	uint64_t keys[KEYS_MAX];
	size_t len, i, n = keys_of(o, true, keys);

	for (i = 0; i < n; i++)
		best = best_of(lookup, model, keys[i], object, best);
	while ((task = ezprof_next_task(&tasks, &len)))
		best = best_of(lookup, model, unit_key(o, OF_TASK, task, len), object, best);
	return best;
}

int ezprof_fed_init(struct ezprof_fed *fed, const struct ezprof_model *model)
{
	size_t i;
	int err;

	*fed = (struct ezprof_fed){.model = model,
				   .list = calloc(model->n, sizeof(*fed->list)),
				   .taken = calloc(model->n, sizeof(*fed->taken))};
	err = fed->list && fed->taken ? 0 : -ENOMEM;
	for (i = model->first[EZPROF_PUB]; i < model->first[EZPROF_PUB + 1] && !err; i++)
		err = ezprof_flow_put(&fed->publishers, model, i, 0.0, i);
	ezprof_lookup_sort(&fed->publishers);
	return err;
}

void ezprof_fed_free(struct ezprof_fed *fed)
{
	ezprof_lookup_free(&fed->publishers);
	free(fed->list);
	free(fed->taken);
}

static size_t take_fed(const struct ezprof_fed *fed, uint64_t key, size_t subscriber, size_t n)
{
	EZPROF_EACH_FOUND (&fed->publishers, key, found) {
		if (fed->taken[found->object] ||
		    !ezprof_flow(fed->model, subscriber, found->object))
			continue;
		fed->taken[found->object] = true;
		fed->list[n++] = found->object;
	}
	return n;
}

static int compare(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return x < y ? -1 : x > y;
}

size_t ezprof_fed_by(const struct ezprof_fed *fed, size_t subscriber)
{
	const struct ezprof_object *s = &fed->model->objects[subscriber];
	const char *tasks = ezprof_label(s, EZPROF_LABEL_TASK), *task;
	uint64_t keys[KEYS_MAX];
	size_t len, i, n = 0, n_keys = keys_of(s, true, keys);

	for (i = 0; i < n_keys; i++)
		n = take_fed(fed, keys[i], subscriber, n);
	while ((task = ezprof_next_task(&tasks, &len)))
		n = take_fed(fed, unit_key(s, OF_TASK, task, len), subscriber, n);
	qsort(fed->list, n, sizeof(fed->list[0]), compare);
	for (i = 0; i < n; i++)
		fed->taken[fed->list[i]] = false;
	return n;
}
