/* SPDX-License-Identifier: MIT */
/* The table: a block for publishers, subscribers and tasks, with a line on the whole before. */
#include "phrase.h"
#include "task_cost.h"
#include "text_width.h"
#include "view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_COLUMNS_MIN 14u
#define CELL_BYTES 32
#define METRICS_MAX 12
#define NAMES_MAX 2

/* One block: which names and figures its columns are. */
struct block {
	enum ezprof_scope scope;
	const char *names[NAMES_MAX]; /* their headings */
	void (*name)(struct ez_buffer *out, const struct ezprof_model *model,
		     const struct ezprof_object *object, size_t which);
	const enum ezprof_metric_id *metrics;
	size_t n_metrics;
	bool with_transport;
};

static const enum ezprof_metric_id pub_metrics[] = {
	EZPROF_PUB_RATE_HZ,	  EZPROF_PUB_BYTES_PER_S,   EZPROF_PUB_IN_FLIGHT,
	EZPROF_PUB_NUM_BUFFERS,	  EZPROF_PUB_BLOCKED_SHARE, EZPROF_PUB_GAP_P50_MS,
	EZPROF_PUB_GAP_LONGEST_MS};
static const enum ezprof_metric_id sub_metrics[] = {
	EZPROF_SUB_RATE_HZ,	   EZPROF_SUB_IN_FLIGHT,      EZPROF_SUB_QUEUE_AVG_MS,
	EZPROF_SUB_PROCESS_AVG_MS, EZPROF_SUB_PROCESS_P99_MS, EZPROF_SUB_DROPS_TOTAL};
static const enum ezprof_metric_id task_metrics[] = {
	EZPROF_TASK_CALLS_TOTAL, EZPROF_TASK_BUSY_TOTAL_MS, EZPROF_TASK_HOLD_TOTAL_MS,
	EZPROF_TASK_HOLD_MAX_MS};

static void name_publisher(struct ez_buffer *out, const struct ezprof_model *model,
			   const struct ezprof_object *object, size_t which)
{
	(void)model;
	(void)which;
	ez_buffer_append_text(out, ezprof_label(object, EZPROF_LABEL_TOPIC));
}

static void name_subscriber(struct ez_buffer *out, const struct ezprof_model *model,
			    const struct ezprof_object *object, size_t which)
{
	const char *task = ezprof_label(object, EZPROF_LABEL_TASK);
	const char *handle = ezprof_label(object, EZPROF_LABEL_HANDLE);

	if (which == 1)
		ez_buffer_append_text(out, ezprof_from_topic(model, object));
	else if (strchr(task, ':')) /* else it doesn't say of which unit */
		ez_buffer_append_text(out, task);
	else
		ez_buffer_append_text(out,
				      *handle ? handle : ezprof_label(object, EZPROF_LABEL_TOPIC));
}

static void name_task(struct ez_buffer *out, const struct ezprof_model *model,
		      const struct ezprof_object *object, size_t which)
{
	(void)model;
	(void)which;
	ez_buffer_append_text(out, ezprof_label(object, EZPROF_LABEL_TASK));
}

#define METRICS(list) list, sizeof(list) / sizeof(list[0])
static const struct block blocks[] = {
	{EZPROF_PUB, {"publisher", NULL}, name_publisher, METRICS(pub_metrics), false},
	{EZPROF_SUB, {"subscriber", "of"}, name_subscriber, METRICS(sub_metrics), true},
	{EZPROF_TASK, {"task", NULL}, name_task, METRICS(task_metrics), false},
};

/* Three digits of a real number, whole ones as they are. */
static void put_cell(char out[CELL_BYTES], struct ezprof_number number)
{
	double value = fabs(ezprof_as_double(number, 0.0));
	int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3;

	if (number.kind == EZPROF_WHOLE)
		snprintf(out, CELL_BYTES, "%llu", (unsigned long long)number.whole);
	else if (number.kind == EZPROF_REAL && value < 1e15)
		snprintf(out, CELL_BYTES, "%.*f", decimals, number.real);
	else if (number.kind == EZPROF_REAL)
		snprintf(out, CELL_BYTES, "%.3e", number.real);
	else
		snprintf(out, CELL_BYTES, "-");
}

/* A heading in two lines: "process" over "_p99_ms". */
static size_t first_line(const char *id)
{
	const char *split = strchr(id, '_');

	return split ? (size_t)(split - id) : 0;
}

static unsigned int wider(unsigned int a, size_t b)
{
	return a > b ? a : (unsigned int)b;
}

static unsigned int metric_columns(const struct ezprof_model *model, enum ezprof_metric_id metric)
{
	const struct ezprof_metric *m = ezprof_metric(metric);
	size_t split = first_line(m->id);
	unsigned int columns = wider((unsigned int)split, strlen(m->id + split));
	char cell[CELL_BYTES];

	for (size_t i = model->first[m->scope]; i < model->first[m->scope + 1]; i++) {
		put_cell(cell, ezprof_value(&model->objects[i], metric));
		columns = wider(columns, strlen(cell));
	}
	return columns;
}

static void put_name(struct ez_buffer *out, const struct ezprof_model *model,
		     const struct block *block, const struct ezprof_object *object, size_t which,
		     unsigned int columns)
{
	struct ez_buffer whole;
	size_t begin = out->len;
	unsigned int used;

	ez_buffer_init(&whole, SIZE_MAX / 2);
	block->name(&whole, model, object, which);
	ez_buffer_append(&whole, "", 1);
	if (!whole.err)
		ezprof_put_shortened(out, (const char *)whole.data, columns);
	ez_buffer_free(&whole);
	if (out->err)
		return;
	used = ezprof_text_columns((const char *)out->data + begin, out->len - begin);
	ezprof_put(out, "%*s", used < columns ? (int)(columns - used) : 0, "");
}

/* The widest name, in columns. */
static unsigned int name_columns(const struct ezprof_model *model, const struct block *block,
				 size_t which)
{
	unsigned int columns = (unsigned int)strlen(block->names[which]);
	struct ez_buffer name;

	ez_buffer_init(&name, SIZE_MAX / 2);
	for (size_t i = model->first[block->scope]; i < model->first[block->scope + 1]; i++) {
		struct ez_buffer raw;

		ez_buffer_reset(&name);
		ez_buffer_init(&raw, SIZE_MAX / 2);
		block->name(&raw, model, &model->objects[i], which);
		ez_buffer_append(&raw, "", 1);
		if (!raw.err)
			ezprof_say_name(&name, (const char *)raw.data);
		ez_buffer_free(&raw);
		columns = wider(columns, ezprof_text_columns((const char *)name.data, name.len));
	}
	ez_buffer_free(&name);
	return columns;
}

struct layout {
	unsigned int names[NAMES_MAX], metrics[METRICS_MAX];
	size_t n_names;
};

/* Names get what the figures leave, in equal parts, where they want more. */
static void lay_out(const struct ezprof_model *model, const struct block *block,
		    unsigned int columns, struct layout *layout)
{
	unsigned int figures = 8 + (block->with_transport ? 6 : 0), left, part;
	size_t i;

	for (i = 0; i < block->n_metrics; i++) {
		layout->metrics[i] = metric_columns(model, block->metrics[i]);
		figures += layout->metrics[i] + 1;
	}
	layout->n_names = block->names[1] ? 2 : 1;
	for (i = 0; i < layout->n_names; i++)
		layout->names[i] = name_columns(model, block, i);
	if (!columns)
		return;
	left = columns > figures ? columns - figures : 0;
	for (i = 0; i < layout->n_names; i++) {
		part = left / (unsigned int)(layout->n_names - i);
		part = part > 1 ? part - 1 : 0;
		part = part < NAME_COLUMNS_MIN ? NAME_COLUMNS_MIN : part;
		if (layout->names[i] > part)
			layout->names[i] = part;
		left = left > layout->names[i] + 1 ? left - layout->names[i] - 1 : 0;
	}
}

static void put_heading(struct ez_buffer *out, const struct block *block,
			const struct layout *layout)
{
	size_t i, line;

	for (line = 0; line < 2; line++) {
		for (i = 0; i < layout->n_names; i++)
			ezprof_put(out, "%-*s ", (int)layout->names[i],
				   line ? block->names[i] : "");
		ezprof_put(out, "%7s", line ? "pid" : "");
		if (block->with_transport)
			ezprof_put(out, " %-5s", line ? "via" : "");
		for (i = 0; i < block->n_metrics; i++) {
			const char *id = ezprof_metric(block->metrics[i])->id;
			size_t split = first_line(id);

			ezprof_put(out, " %*.*s", (int)layout->metrics[i],
				   line ? (int)strlen(id + split) : (int)split,
				   line ? id + split : id);
		}
		ez_buffer_append_text(out, "\n");
	}
}

static void put_row(struct ez_buffer *out, const struct ezprof_model *model,
		    const struct block *block, const struct layout *layout,
		    const struct ezprof_object *object)
{
	char cell[CELL_BYTES];
	size_t i;

	for (i = 0; i < layout->n_names; i++) {
		put_name(out, model, block, object, i, layout->names[i]);
		ez_buffer_append_text(out, " ");
	}
	ezprof_put(out, "%7lld", (long long)object->pid);
	if (block->with_transport)
		ezprof_put(out, " %-5.5s", ezprof_label(object, EZPROF_LABEL_TRANSPORT));
	for (i = 0; i < block->n_metrics; i++) {
		put_cell(cell, ezprof_value(object, block->metrics[i]));
		ezprof_put(out, " %*s", (int)layout->metrics[i], cell);
	}
	ez_buffer_append_text(out, "\n");
}

static double sum(const struct ezprof_model *model, enum ezprof_metric_id metric)
{
	enum ezprof_scope scope = ezprof_metric(metric)->scope;
	double total = 0.0;

	for (size_t i = model->first[scope]; i < model->first[scope + 1]; i++)
		total += ezprof_figure(&model->objects[i], metric, 0.0);
	return total;
}

/* The rates of all publishers together, unless nobody measures any. */
static void put_total_rate(struct ez_buffer *out, const struct ezprof_model *model)
{
	bool known = model->first[EZPROF_PUB] == model->first[EZPROF_PUB + 1];

	for (size_t i = model->first[EZPROF_PUB]; i < model->first[EZPROF_PUB + 1]; i++)
		known |= ezprof_known(ezprof_value(&model->objects[i], EZPROF_PUB_RATE_HZ));
	if (known)
		ezprof_say_rate(out, sum(model, EZPROF_PUB_RATE_HZ));
	else
		ez_buffer_append_text(out, "rate not known");
}

static void put_totals(struct ez_buffer *out, const struct ezprof_model *model)
{
	const struct ezprof_object *graph = &model->objects[0];
	struct ezprof_number lost = ezprof_value(graph, EZPROF_GRAPH_LOST_TOTAL);
	size_t pubs = model->first[EZPROF_PUB + 1] - model->first[EZPROF_PUB];
	size_t subs = model->first[EZPROF_SUB + 1] - model->first[EZPROF_SUB];
	char cell[CELL_BYTES];

	put_cell(cell, lost);
	ezprof_put(out, "%zu publisher%s, %zu subscriber%s: ", pubs, pubs == 1 ? "" : "s", subs,
		   subs == 1 ? "" : "s");
	put_total_rate(out, model);
	if (sum(model, EZPROF_PUB_BYTES_PER_S) > 0) {
		ez_buffer_append_text(out, ", ");
		ezprof_say_bytes(out, sum(model, EZPROF_PUB_BYTES_PER_S));
		ez_buffer_append_text(out, "/s");
	}
	ezprof_put(out, "\nwindow %g s, lost %s, errors %.0f\n",
		   ezprof_figure(graph, EZPROF_GRAPH_WINDOW_S, 0.0), cell,
		   ezprof_figure(graph, EZPROF_GRAPH_ERRORS, 0.0));
}

static void put_errors(struct ez_buffer *out, const struct ezprof_model *model)
{
	size_t i;

	for (i = 0; i < model->n_errors; i++) {
		const struct ezprof_mention *error = &model->errors[i];

		ez_buffer_append_text(out, i ? "error: " : "\nerror: ");
		ezprof_say_name(out, error->what ? error->what : "somebody");
		if (error->pid)
			ezprof_put(out, " of pid %lld", (long long)error->pid);
		ez_buffer_append_text(out, ": ");
		ezprof_say_name(out, error->reason ? error->reason : "no reason");
		if (error->detail) {
			ez_buffer_append_text(out, ": ");
			ezprof_say_name(out, error->detail);
		}
		ez_buffer_append_text(out, "\n");
	}
}

void ezprof_view_table(struct ez_buffer *out, const struct ezprof_model *model,
		       const struct ezprof_view_options *options)
{
	size_t b, i;

	put_totals(out, model);
	for (b = 0; b < sizeof(blocks) / sizeof(blocks[0]); b++) {
		enum ezprof_scope scope = blocks[b].scope;
		struct layout layout;

		if (model->first[scope] == model->first[scope + 1])
			continue;
		ez_buffer_append_text(out, "\n");
		lay_out(model, &blocks[b], options->columns, &layout);
		put_heading(out, &blocks[b], &layout);
		for (i = model->first[scope]; i < model->first[scope + 1]; i++)
			put_row(out, model, &blocks[b], &layout, &model->objects[i]);
	}
	put_errors(out, model);
}
