/* SPDX-License-Identifier: MIT */
#include "load.h"
#include "phrase.h"
#include "relation.h"
#include "task_cost.h"
#include "top_rows_part.h"
#include "top_state.h"
#include "view.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MIN 64u

struct ezprof_top_row *ezprof_top_row_add(struct ezprof_top_rows *rows)
{
	struct ezprof_top_row *grown, *row;
	size_t i;

	if (rows->n == rows->room) {
		size_t room = rows->room ? 2 * rows->room : ROWS_MIN;

		grown = reallocarray(rows->list, room, sizeof(*grown));
		if (!grown)
			return NULL;
		rows->list = grown;
		rows->room = room;
	}
	row = &rows->list[rows->n++];
	*row = (struct ezprof_top_row){.object = EZPROF_NO_OBJECT,
				       .publisher = EZPROF_NO_OBJECT,
				       .via = "",
				       .host = "",
				       .state = "",
				       .mark = ' ',
				       .buffers = NAN};
	for (i = 0; i < EZPROF_TOP_COLUMN_COUNT; i++)
		row->values[i] = NAN;
	return row;
}

void ezprof_top_rows_free(struct ezprof_top_rows *rows)
{
	size_t i;

	for (i = 0; i < rows->n; i++) {
		free(rows->list[i].key);
		free(rows->list[i].names[0]);
		free(rows->list[i].names[1]);
	}
	free(rows->list);
	memset(rows, 0, sizeof(*rows));
}

/* Ids where they are known; ezmsg by itself tells of endpoints without. */
char *ezprof_top_key(const struct ezprof_object *object)
{
	const char *id = ezprof_label(object, EZPROF_LABEL_ID);
	char *key = NULL;
	int n;

	if (*id)
		n = asprintf(&key, "%d:%s:%s", object->scope, id,
			     ezprof_label(object, EZPROF_LABEL_CHANNEL_ID));
	else
		n = asprintf(&key, "%d:%lld:%s:%s:%s", object->scope, (long long)object->pid,
			     ezprof_label(object, EZPROF_LABEL_TOPIC),
			     ezprof_label(object, EZPROF_LABEL_TASK),
			     ezprof_label(object, EZPROF_LABEL_HANDLE));
	return n < 0 ? NULL : key;
}

static char *publisher_name(const struct ezprof_model *model, size_t publisher)
{
	const struct ezprof_object *p;
	const char *topic;

	if (publisher == EZPROF_NO_OBJECT)
		return strdup("");
	p = &model->objects[publisher];
	topic = ezprof_label(p, EZPROF_LABEL_TOPIC);
	return strdup(*topic ? topic : ezprof_label(p, EZPROF_LABEL_ID));
}

/* Alone it says on which topic, beside its publisher it needn't. */
static char *subscriber_name(const struct ezprof_model *model, const struct ezprof_object *object,
			     bool alone)
{
	const char *task = ezprof_label(object, EZPROF_LABEL_TASK);
	const char *handle = ezprof_label(object, EZPROF_LABEL_HANDLE);
	const char *topic = ezprof_label(object, EZPROF_LABEL_TOPIC);
	size_t costliest = ezprof_costliest_task(model, object);
	const char *name = *handle  ? handle
			   : *topic ? topic
				    : ezprof_label(object, EZPROF_LABEL_ID);
	char *out = NULL;

	if (costliest != EZPROF_NO_OBJECT)
		name = ezprof_label(&model->objects[costliest], EZPROF_LABEL_TASK);
	else if (strchr(task, ':')) /* else it doesn't say of which unit */
		name = task;
	if (!alone || name == topic || strcmp(name, topic) == 0 || strchr(name, ':'))
		return strdup(name);
	return asprintf(&out, "%s on %s", name, topic) < 0 ? NULL : out;
}

static double share(double value)
{
	return isnan(value) ? value : value < 0 ? 0.0 : value;
}

static void take(struct ezprof_top_row *row, enum ezprof_top_column_id column,
		 const struct ezprof_object *object, enum ezprof_metric_id metric)
{
	row->values[column] = ezprof_figure(object, metric, (double)NAN);
}

/*
 * A publisher counts leases, one for each channel that has the buffer. As many buffers are in use
 * as the channel with the most leases has.
 */
static double buffers_in_use(const struct ezprof_model *model, size_t publisher)
{
	const struct ezprof_object *p = &model->objects[publisher];
	double leases = ezprof_figure(p, EZPROF_PUB_IN_FLIGHT, (double)NAN), most = -1.0;
	double buffers = ezprof_figure(p, EZPROF_PUB_NUM_BUFFERS, (double)NAN);

	EZPROF_EACH_OF (model, EZPROF_LINKS_OF, publisher, found)
		most = fmax(most, ezprof_figure(&model->objects[found->object],
						EZPROF_LINK_IN_FLIGHT, -1.0));
	if (most >= 0 || isnan(leases) || isnan(buffers))
		return most >= 0 ? most : leases;
	return fmin(leases, buffers);
}

static void publisher_figures(struct ezprof_top_row *row, const struct ezprof_model *model,
			      size_t publisher)
{
	const struct ezprof_object *p = &model->objects[publisher];

	take(row, EZPROF_TOP_RATE, p, EZPROF_PUB_RATE_HZ);
	take(row, EZPROF_TOP_BYTES, p, EZPROF_PUB_BYTES_PER_S);
	take(row, EZPROF_TOP_GAP_P50, p, EZPROF_PUB_GAP_P50_MS);
	take(row, EZPROF_TOP_GAP_LONGEST, p, EZPROF_PUB_GAP_LONGEST_MS);
	take(row, EZPROF_TOP_BLOCKED, p, EZPROF_PUB_BLOCKED_SHARE);
	if (!isnan(row->values[EZPROF_TOP_BLOCKED]) ||
	    ezprof_known(ezprof_value(p, EZPROF_PUB_BLOCKED_NOW_MS)))
		row->values[EZPROF_TOP_BLOCKED] = share(ezprof_blocked_share(p));
	row->values[EZPROF_TOP_HELD] = buffers_in_use(model, publisher);
	row->buffers = ezprof_figure(p, EZPROF_PUB_NUM_BUFFERS, (double)NAN);
	row->via = "";
	row->host = ezprof_label(p, EZPROF_LABEL_HOST);
	row->pid = p->pid;
}

static void subscriber_figures(struct ezprof_top_row *row, const struct ezprof_model *model,
			       size_t subscriber)
{
	const struct ezprof_object *s = &model->objects[subscriber];

	take(row, EZPROF_TOP_RATE, s, EZPROF_SUB_RATE_HZ);
	take(row, EZPROF_TOP_HELD, s, EZPROF_SUB_IN_FLIGHT);
	take(row, EZPROF_TOP_QUEUE, s, EZPROF_SUB_QUEUE_AVG_MS);
	take(row, EZPROF_TOP_PROCESS, s, EZPROF_SUB_PROCESS_AVG_MS);
	take(row, EZPROF_TOP_PROCESS_P99, s, EZPROF_SUB_PROCESS_P99_MS);
	take(row, EZPROF_TOP_DROPS, s, EZPROF_SUB_DROPS_TOTAL);
	take(row, EZPROF_TOP_GAP_LONGEST, s, EZPROF_SUB_GAP_LONGEST_MS);
	if (!isnan(row->values[EZPROF_TOP_PROCESS]) ||
	    ezprof_known(ezprof_value(s, EZPROF_SUB_PROCESS_NOW_MS)))
		row->values[EZPROF_TOP_BUSY] = ezprof_busy_share(s);
	if (s->parent != EZPROF_NO_OBJECT)
		row->buffers = ezprof_figure(&model->objects[s->parent], EZPROF_CHAN_NUM_BUFFERS,
					     (double)NAN);
	row->via = ezprof_label(s, EZPROF_LABEL_TRANSPORT);
	row->host = ezprof_label(s, EZPROF_LABEL_HOST);
	row->pid = s->pid;
}

static void set_state(struct ezprof_top_row *row, const struct ezprof_top_states *states)
{
	struct ezprof_top_state state = ezprof_top_state_of(states, row->object);

	/* An edge has the state of its worse end. */
	state = ezprof_top_state_worse(state, ezprof_top_state_of(states, row->publisher));
	state = ezprof_top_state_worse(state,
				       ezprof_top_state_of_process(states, row->pid, row->host));
	row->state = state.word;
	row->mark = state.mark;
	row->severity = state.severity;
}

static int finish(struct ezprof_top_row *row, const struct ezprof_model *model,
		  const struct ezprof_top_states *states)
{
	const struct ezprof_object *object = &model->objects[row->object];

	row->key = ezprof_top_key(object);
	row->values[EZPROF_TOP_PID] = row->pid ? (double)row->pid : (double)NAN;
	set_state(row, states);
	return row->key && row->names[0] ? 0 : -ENOMEM;
}

static int subscriber_rows(const struct ezprof_model *model, const struct ezprof_top_states *states,
			   bool edges, struct ezprof_top_rows *rows)
{
	int err = 0;
	size_t i;

	for (i = model->first[EZPROF_SUB]; i < model->first[EZPROF_SUB + 1] && !err; i++) {
		const struct ezprof_object *s = &model->objects[i];
		struct ezprof_top_row *row = ezprof_top_row_add(rows);

		if (!row)
			return -ENOMEM;
		row->object = i;
		row->names[edges] = subscriber_name(model, s, !edges);
		if (edges) {
			row->publisher = s->from;
			row->names[0] = s->from_several ? strdup("(several)")
							: publisher_name(model, s->from);
		}
		subscriber_figures(row, model, i);
		err = row->names[edges] ? finish(row, model, states) : -ENOMEM;
	}
	return err;
}

/* only_alone: those to which nobody listens, as edges that lead nowhere. */
static int publisher_rows(const struct ezprof_model *model, const struct ezprof_top_states *states,
			  bool only_alone, struct ezprof_top_rows *rows)
{
	bool *heard = calloc(model->n, sizeof(*heard));
	int err = heard ? 0 : -ENOMEM;
	size_t i;

	for (i = model->first[EZPROF_SUB]; !err && i < model->first[EZPROF_SUB + 1]; i++) {
		if (model->objects[i].from != EZPROF_NO_OBJECT)
			heard[model->objects[i].from] = true;
	}
	for (i = model->first[EZPROF_PUB]; !err && i < model->first[EZPROF_PUB + 1]; i++) {
		struct ezprof_top_row *row;

		if (only_alone && heard[i])
			continue;
		row = ezprof_top_row_add(rows);
		if (!row) {
			err = -ENOMEM;
			break;
		}
		row->object = i;
		row->names[0] = publisher_name(model, i);
		row->names[1] = only_alone ? strdup("(nobody)") : NULL;
		publisher_figures(row, model, i);
		err = finish(row, model, states);
	}
	free(heard);
	return err;
}

int ezprof_top_remember(const struct ezprof_model *model, struct ezprof_history *history)
{
	int err = 0;
	size_t i;

	ezprof_history_step(history);
	for (i = model->first[EZPROF_PUB]; i < model->first[EZPROF_TASK] && !err; i++) {
		const struct ezprof_object *o = &model->objects[i];
		bool is_pub = o->scope == EZPROF_PUB;
		double rate =
			!is_pub && o->scope != EZPROF_SUB
				? (double)NAN
				: ezprof_figure(o, is_pub ? EZPROF_PUB_RATE_HZ : EZPROF_SUB_RATE_HZ,
						(double)NAN);
		char *key, *process;

		if (isnan(rate))
			continue;
		key = ezprof_top_key(o);
		process = ezprof_top_process_key(model, o->pid, ezprof_label(o, EZPROF_LABEL_HOST));
		err = key && process ? ezprof_history_add(history, key, rate) : -ENOMEM;
		if (!err)
			err = ezprof_history_add(history, process, rate);
		free(key);
		free(process);
	}
	return err;
}

static int view_rows(const struct ezprof_model *model, const struct ezprof_top_states *states,
		     enum ezprof_top_view_id view, struct ezprof_top_rows *rows)
{
	int err;

	switch (view) {
	case EZPROF_TOP_VIEW_EDGES:
		err = subscriber_rows(model, states, true, rows);
		return err ? err : publisher_rows(model, states, true, rows);
	case EZPROF_TOP_VIEW_PUBLISHERS:
		return publisher_rows(model, states, false, rows);
	case EZPROF_TOP_VIEW_SUBSCRIBERS:
		return subscriber_rows(model, states, false, rows);
	default:
		return ezprof_top_process_rows(model, states, rows);
	}
}

int ezprof_top_rows_make(const struct ezprof_model *model, const struct ezprof_findings *findings,
			 enum ezprof_top_view_id view, struct ezprof_top_order order,
			 const char *filter, struct ezprof_top_rows *ret_rows)
{
	struct ezprof_top_states states;
	int err = ezprof_top_states_find(model, findings, &states);

	if (!err)
		err = view_rows(model, &states, view, ret_rows);
	ezprof_top_states_free(&states);
	if (err)
		return err;
	ezprof_top_rows_filter(ret_rows, filter);
	ezprof_top_rows_sort(ret_rows, view, order);
	return 0;
}
