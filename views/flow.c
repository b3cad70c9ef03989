/* SPDX-License-Identifier: MIT */
#include "flow.h"

#include <string.h>

#define SEPARATOR ", "

/* The next name of a list, and its length; NULL at the end. */
static const char *next_task(const char **list, size_t *len)
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

	while ((other = next_task(&list, &n))) {
		if (n == len && memcmp(other, task, n) == 0)
			return true;
	}
	return false;
}

bool ezprof_task_is_of(const char *task, const char *list)
{
	const char *one;
	size_t len;

	while ((one = next_task(&task, &len))) {
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
