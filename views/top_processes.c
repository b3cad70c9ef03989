/* SPDX-License-Identifier: MIT */
/* The view by processes: what the endpoints of each add up to. */
#include "load.h"
#include "top_rows_part.h"
#include "top_state.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What belongs to a process: an object, or a mention of it. */
struct part {
	char *key;
	size_t object; /* EZPROF_NO_OBJECT: it is only mentioned */
	int64_t pid;
	const char *host, *command;
};

struct parts {
	struct part *list;
	size_t n;
};

char *ezprof_top_process_key(const struct ezprof_model *model, int64_t pid, const char *host)
{
	char *key = NULL;

	if (!*host)
		host = model->host ? model->host : "";
	return asprintf(&key, "h:%lld:%s", (long long)pid, host) < 0 ? NULL : key;
}

static int add_part(struct parts *parts, const struct ezprof_model *model, struct part part)
{
	if (!part.pid)
		return 0;
	if (!*part.host && model->host)
		part.host = model->host;
	part.key = ezprof_top_process_key(model, part.pid, part.host);
	if (!part.key)
		return -ENOMEM;
	parts->list[parts->n++] = part;
	return 0;
}

static int find_parts(const struct ezprof_model *model, struct parts *parts)
{
	size_t i, most = model->n + model->n_processes + model->n_errors;
	int err = 0;

	parts->list = calloc(most + 1, sizeof(*parts->list));
	if (!parts->list)
		return -ENOMEM;
	for (i = model->first[EZPROF_PUB]; i < model->first[EZPROF_AGENT] && !err; i++) {
		const struct ezprof_object *o = &model->objects[i];

		/* A link's pid is where it leads to. */
		if (o->scope != EZPROF_LINK)
			err = add_part(parts, model,
				       (struct part){NULL, i, o->pid,
						     ezprof_label(o, EZPROF_LABEL_HOST), NULL});
	}
	for (i = 0; i < model->n_processes && !err; i++) {
		const struct ezprof_mention *process = &model->processes[i];

		err = add_part(parts, model,
			       (struct part){NULL, EZPROF_NO_OBJECT, process->pid,
					     ezprof_mention_host(model, process), process->what});
	}
	for (i = 0; i < model->n_errors && !err; i++)
		err = add_part(parts, model,
			       (struct part){NULL, EZPROF_NO_OBJECT, model->errors[i].pid,
					     ezprof_mention_host(model, &model->errors[i]), NULL});
	return err;
}

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return strcmp(x->key, y->key);
}

static void add(double *sum, double value)
{
	if (!isnan(value))
		*sum = isnan(*sum) ? value : *sum + value;
}

static void most(double *highest, double value)
{
	if (!isnan(value) && (isnan(*highest) || value > *highest))
		*highest = value;
}

static void add_publisher(struct ezprof_top_row *row, const struct ezprof_object *p)
{
	double *v = row->values;

	v[EZPROF_TOP_PUBLISHERS] += 1.0;
	add(&v[EZPROF_TOP_PUBLISHED], ezprof_figure(p, EZPROF_PUB_RATE_HZ, (double)NAN));
	add(&v[EZPROF_TOP_BYTES], ezprof_figure(p, EZPROF_PUB_BYTES_PER_S, (double)NAN));
	add(&v[EZPROF_TOP_LOST], ezprof_figure(p, EZPROF_PUB_LOST_TOTAL, (double)NAN));
	if (ezprof_known(ezprof_value(p, EZPROF_PUB_BLOCKED_SHARE)))
		most(&v[EZPROF_TOP_BLOCKED], ezprof_blocked_share(p));
}

static void add_subscriber(struct ezprof_top_row *row, const struct ezprof_object *s)
{
	double *v = row->values;

	v[EZPROF_TOP_SUBSCRIBERS] += 1.0;
	add(&v[EZPROF_TOP_RECEIVED], ezprof_figure(s, EZPROF_SUB_RATE_HZ, (double)NAN));
	add(&v[EZPROF_TOP_LOST], ezprof_figure(s, EZPROF_SUB_LOST_TOTAL, (double)NAN));
	if (ezprof_known(ezprof_value(s, EZPROF_SUB_PROCESS_AVG_MS)))
		add(&v[EZPROF_TOP_BUSY], ezprof_busy_share(s));
}

/* One process: the parts from first on, n of them. */
static int process_row(const struct ezprof_model *model, const struct ezprof_top_states *states,
		       struct part *first, size_t n, struct ezprof_top_rows *rows)
{
	struct ezprof_top_state state =
		ezprof_top_state_of_process(states, first->pid, first->host);
	struct ezprof_top_row *row = ezprof_top_row_add(rows);
	const char *command = NULL;
	size_t i;

	if (!row)
		return -ENOMEM;
	row->values[EZPROF_TOP_PUBLISHERS] = row->values[EZPROF_TOP_SUBSCRIBERS] = 0.0;
	for (i = 0; i < n; i++) {
		const struct part *part = &first[i];
		const struct ezprof_object *o;

		if (part->command)
			command = part->command;
		if (part->object == EZPROF_NO_OBJECT)
			continue;
		o = &model->objects[part->object];
		if (o->scope == EZPROF_PUB)
			add_publisher(row, o);
		else if (o->scope == EZPROF_SUB)
			add_subscriber(row, o);
		state = ezprof_top_state_worse(state, ezprof_top_state_of(states, part->object));
	}
	row->pid = first->pid;
	row->host = first->host;
	row->key = first->key;
	first->key = NULL;
	row->names[0] = strdup(command ? command : "");
	row->values[EZPROF_TOP_PID] = (double)row->pid;
	/* The trend's figure: what goes in and out together. */
	row->values[EZPROF_TOP_RATE] = row->values[EZPROF_TOP_PUBLISHED];
	add(&row->values[EZPROF_TOP_RATE], row->values[EZPROF_TOP_RECEIVED]);
	row->state = state.word;
	row->mark = state.mark;
	row->severity = state.severity;
	return row->names[0] ? 0 : -ENOMEM;
}

int ezprof_top_process_rows(const struct ezprof_model *model,
			    const struct ezprof_top_states *states, struct ezprof_top_rows *rows)
{
	struct parts parts = {0};
	int err = find_parts(model, &parts);
	size_t i, n;

	if (!err && parts.n)
		qsort(parts.list, parts.n, sizeof(parts.list[0]), compare_parts);
	for (i = 0; i < parts.n && !err; i += n) {
		for (n = 1; i + n < parts.n; n++) {
			if (strcmp(parts.list[i].key, parts.list[i + n].key) != 0)
				break;
		}
		err = process_row(model, states, &parts.list[i], n, rows);
	}
	for (i = 0; i < parts.n; i++)
		free(parts.list[i].key);
	free(parts.list);
	return err;
}
