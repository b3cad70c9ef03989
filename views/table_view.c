/* SPDX-License-Identifier: MIT */
/*
 * The table: a block for publishers, subscribers and tasks, with a line on the whole before. Where
 * a block's columns don't fit, none is left out: each row becomes lines of a name and its value.
 */
#include "columns.h"
#include "phrase.h"
#include "text_width.h"
#include "view.h"

#include <stdio.h>
#include <string.h>

#define NAME_COLUMNS_MIN 14u
/* As a line of its own; a shortened name still has its digest. */
#define STACKED_COLUMNS_MIN 8u

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
	char cell[EZPROF_CELL_BYTES];

	for (size_t i = model->first[m->scope]; i < model->first[m->scope + 1]; i++) {
		ezprof_cell_text(cell, ezprof_value(&model->objects[i], metric));
		columns = wider(columns, strlen(cell));
	}
	return columns;
}

/* Shortened to so many columns; returns those it takes. */
static unsigned int put_name(struct ez_buffer *out, const struct ezprof_model *model,
			     const struct ezprof_columns *block, const struct ezprof_object *object,
			     size_t which, unsigned int columns)
{
	struct ez_buffer whole;
	size_t begin = out->len;

	ez_buffer_init(&whole, SIZE_MAX / 2);
	block->name(&whole, model, object, which);
	ez_buffer_append(&whole, "", 1);
	if (!whole.err)
		ezprof_put_shortened(out, (const char *)whole.data, columns);
	ez_buffer_free(&whole);
	return out->err ? 0
			: ezprof_text_columns((const char *)out->data + begin, out->len - begin);
}

/* The widest name, in columns. */
static unsigned int name_columns(const struct ezprof_model *model,
				 const struct ezprof_columns *block, size_t which)
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
	unsigned int names[EZPROF_COLUMN_NAMES_MAX], metrics[EZPROF_COLUMN_METRICS_MAX];
	size_t n_names;
	unsigned int columns; /* of a row */
};

/* Names get what the figures leave, in equal parts, where they want more. */
static void lay_out(const struct ezprof_model *model, const struct ezprof_columns *block,
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

static void measure_row(const struct ezprof_columns *block, struct layout *layout)
{
	layout->columns = 7 + (block->with_transport ? 6 : 0);
	for (size_t i = 0; i < layout->n_names; i++)
		layout->columns += layout->names[i] + 1;
	for (size_t i = 0; i < block->n_metrics; i++)
		layout->columns += layout->metrics[i] + 1;
}

static void put_stacked(struct ez_buffer *out, const struct ezprof_model *model,
			const struct ezprof_columns *block, unsigned int columns,
			const struct ezprof_object *object)
{
	char cell[EZPROF_CELL_BYTES];

	for (size_t i = 0; i < (block->names[1] ? 2 : 1); i++) {
		unsigned int heading = (unsigned int)strlen(block->names[i]) + 1, left;

		left = columns > heading ? columns - heading : 0;
		ezprof_put(out, "%s ", block->names[i]);
		put_name(out, model, block, object, i,
			 left > STACKED_COLUMNS_MIN ? left : STACKED_COLUMNS_MIN);
		ez_buffer_append_text(out, "\n");
	}
	ezprof_put(out, "pid %lld\n", (long long)object->pid);
	if (block->with_transport)
		ezprof_put(out, "via %s\n", ezprof_transport_word(object));
	for (size_t i = 0; i < block->n_metrics; i++) {
		ezprof_cell_text(cell, ezprof_value(object, block->metrics[i]));
		ezprof_put(out, "%s %s\n", ezprof_metric(block->metrics[i])->id, cell);
	}
}

static void put_heading(struct ez_buffer *out, const struct ezprof_columns *block,
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
		    const struct ezprof_columns *block, const struct layout *layout,
		    const struct ezprof_object *object)
{
	char cell[EZPROF_CELL_BYTES];
	size_t i;

	for (i = 0; i < layout->n_names; i++) {
		unsigned int used = put_name(out, model, block, object, i, layout->names[i]);

		ezprof_put(out, "%*s",
			   used < layout->names[i] ? (int)(layout->names[i] - used) + 1 : 1, "");
	}
	ezprof_put(out, "%7lld", (long long)object->pid);
	if (block->with_transport)
		ezprof_put(out, " %-5.5s", ezprof_transport_word(object));
	for (i = 0; i < block->n_metrics; i++) {
		ezprof_cell_text(cell, ezprof_value(object, block->metrics[i]));
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

/* The rates of all publishers together; of those that are measured, where some aren't. */
static void put_total_rate(struct ez_buffer *out, const struct ezprof_model *model)
{
	size_t n = model->first[EZPROF_PUB + 1] - model->first[EZPROF_PUB], known = 0;

	for (size_t i = model->first[EZPROF_PUB]; i < model->first[EZPROF_PUB + 1]; i++)
		known += ezprof_known(ezprof_value(&model->objects[i], EZPROF_PUB_RATE_HZ));
	if (known || !n)
		ezprof_say_rate(out, sum(model, EZPROF_PUB_RATE_HZ));
	else
		ez_buffer_append_text(out, "rate not known");
	if (known && known < n)
		ezprof_put(out, " from %zu of them", known);
}

static void put_totals(struct ez_buffer *out, const struct ezprof_model *model)
{
	const struct ezprof_object *graph = &model->objects[0];
	struct ezprof_number lost = ezprof_value(graph, EZPROF_GRAPH_LOST_TOTAL);
	size_t pubs = model->first[EZPROF_PUB + 1] - model->first[EZPROF_PUB];
	size_t subs = model->first[EZPROF_SUB + 1] - model->first[EZPROF_SUB];
	char cell[EZPROF_CELL_BYTES];

	ezprof_cell_text(cell, lost);
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

/* Lines of ASCII from `begin` on are broken at blanks where they don't fit; columns 0: nowhere. */
static void fold(struct ez_buffer *out, size_t begin, unsigned int columns)
{
	size_t line = begin, blank = begin;

	for (size_t i = begin; columns && i < out->len; i++) {
		if (out->data[i] == '\n')
			line = blank = i + 1;
		else if (out->data[i] == ' ')
			blank = i;
		if (i >= line + columns && blank > line) {
			out->data[blank] = '\n';
			line = blank = blank + 1;
		}
	}
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

static void put_block(struct ez_buffer *out, const struct ezprof_model *model,
		      const struct ezprof_columns *block, unsigned int columns)
{
	size_t first = model->first[block->scope], end = model->first[block->scope + 1];
	struct layout layout;
	bool stacked;

	if (first == end)
		return;
	lay_out(model, block, columns, &layout);
	measure_row(block, &layout);
	stacked = columns && layout.columns > columns;
	if (!stacked) {
		ez_buffer_append_text(out, "\n");
		put_heading(out, block, &layout);
	}
	for (size_t i = first; i < end; i++) {
		if (stacked) {
			ez_buffer_append_text(out, "\n");
			put_stacked(out, model, block, columns, &model->objects[i]);
		} else {
			put_row(out, model, block, &layout, &model->objects[i]);
		}
	}
}

void ezprof_view_table(struct ez_buffer *out, const struct ezprof_model *model,
		       const struct ezprof_view_options *options)
{
	const struct ezprof_columns *block;
	size_t b, begin = out->len;

	put_totals(out, model);
	fold(out, begin, options->columns);
	for (b = 0; (block = ezprof_columns(b)); b++)
		put_block(out, model, block, options->columns);
	put_errors(out, model);
}
