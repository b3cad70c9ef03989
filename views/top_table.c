/* SPDX-License-Identifier: MIT */
#include "top_table.h"
#include "gauge.h"
#include "phrase.h"
#include "text_width.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX_COLUMNS 3u /* cursor, mark, blank */
#define TREND_COLUMNS_MAX 24u
#define SORTED_DISPENSABLE 3u
#define USUAL_DISPENSABLE 4u
#define NAME_COLUMNS_MIN 5u
#define NAME_COLUMNS_USUAL 30u /* of all names of a row together: readable, mostly */
#define CELL_BYTES 64
/* Shorter than that a shortened name has no room for a digest. */
#define SHORTENED_COLUMNS_MIN 8u

/* Which of a row's names is in that column. */
static const char *name_in(const struct ezprof_top_table *table, const struct ezprof_top_row *row,
			   enum ezprof_top_column_id column)
{
	bool second = column == EZPROF_TOP_SUBSCRIBER && table->view == EZPROF_TOP_VIEW_EDGES;
	const char *name = column == EZPROF_TOP_HOST ? row->host : row->names[second];

	return name ? name : "";
}

static unsigned int shown_columns(const char *name)
{
	struct ez_buffer shown;
	unsigned int columns;

	ez_buffer_init(&shown, SIZE_MAX / 2);
	ezprof_say_name(&shown, name);
	columns = shown.len ? ezprof_text_columns((const char *)shown.data, shown.len) : 0;
	ez_buffer_free(&shown);
	return columns;
}

static unsigned int widest(const struct ezprof_top_table *table, enum ezprof_top_column_id column)
{
	unsigned int most = ezprof_top_column(column)->columns;
	size_t i;

	for (i = 0; i < table->rows->n; i++) {
		unsigned int columns = shown_columns(name_in(table, &table->rows->list[i], column));

		most = columns > most ? columns : most;
	}
	return most;
}

static unsigned int total(const struct ezprof_top_table *table)
{
	unsigned int columns = PREFIX_COLUMNS;
	size_t i;

	for (i = 0; i < table->n; i++)
		columns += table->widths[i] + (i > 0);
	return columns;
}

static void take_out(struct ezprof_top_table *table, unsigned int *dispensable, size_t at)
{
	size_t i;

	for (i = at; i + 1 < table->n; i++) {
		table->columns[i] = table->columns[i + 1];
		table->widths[i] = table->widths[i + 1];
		dispensable[i] = dispensable[i + 1];
	}
	table->n--;
}

/*
 * What is most easily done without goes first, of equals the one further to the right; but nothing
 * that is needed as much as `kept`.
 */
static void narrow(struct ezprof_top_table *table, unsigned int *dispensable, unsigned int columns,
		   unsigned int kept)
{
	size_t i, worst;

	while (total(table) > columns && table->n > 1) {
		worst = table->n;
		for (i = 0; i < table->n; i++) {
			if (dispensable[i] > kept &&
			    (worst == table->n || dispensable[i] >= dispensable[worst]))
				worst = i;
		}
		if (worst == table->n)
			break;
		take_out(table, dispensable, worst);
	}
}

/* As wide as they are, up to a limit; at least as wide as they must be. */
static void set_names(struct ezprof_top_table *table, unsigned int limit)
{
	size_t i;

	for (i = 0; i < table->n; i++) {
		const struct ezprof_top_column *column = ezprof_top_column(table->columns[i]);
		unsigned int wanted;

		if (column->kind != EZPROF_TOP_IS_NAME)
			continue;
		wanted = limit ? widest(table, table->columns[i]) : 0;
		wanted = wanted < limit ? wanted : limit;
		table->widths[i] = wanted > column->columns ? wanted : column->columns;
	}
}

/* On the narrowest screens a name and its state share the line. False: there is no room for that.
 */
static bool squeeze(struct ezprof_top_table *table, unsigned int columns)
{
	unsigned int over = total(table) > columns ? total(table) - columns : 0;
	size_t i;

	for (i = 0; i < table->n && over; i++) {
		if (ezprof_top_column(table->columns[i])->kind != EZPROF_TOP_IS_NAME ||
		    table->widths[i] < NAME_COLUMNS_MIN + over)
			continue;
		table->widths[i] -= over;
		over = 0;
	}
	return !over;
}

/* So many columns more, as far as they are wanted; returns what is left. */
static unsigned int widen(unsigned int *width, unsigned int wanted, unsigned int room)
{
	unsigned int more = wanted > *width ? wanted - *width : 0;

	more = more < room ? more : room;
	*width += more;
	return room - more;
}

/* Names first, in turns, so that a long one doesn't take it all; then the trends. */
static void spread(struct ezprof_top_table *table, unsigned int room, bool endless)
{
	unsigned int wanted[EZPROF_TOP_COLUMNS_MAX] = {0}, before;
	size_t i;

	for (i = 0; i < table->n; i++) {
		if (ezprof_top_column(table->columns[i])->kind == EZPROF_TOP_IS_NAME)
			wanted[i] = widest(table, table->columns[i]);
	}
	do {
		before = room;
		for (i = 0; i < table->n; i++) {
			unsigned int share = endless || room < 4 ? room : 4;

			if (wanted[i])
				room = room - share + widen(&table->widths[i], wanted[i], share);
		}
	} while (room && room != before);
	for (i = 0; i < table->n; i++) {
		if (table->columns[i] == EZPROF_TOP_TREND)
			room = widen(&table->widths[i], TREND_COLUMNS_MAX, room);
	}
}

void ezprof_top_table_lay_out(struct ezprof_top_table *table, unsigned int columns)
{
	const struct ezprof_top_view *view = ezprof_top_view(table->view);
	unsigned int dispensable[EZPROF_TOP_COLUMNS_MAX], used;
	size_t i;

	table->n = 0;
	for (i = 0; i < view->n && table->n < EZPROF_TOP_COLUMNS_MAX; i++) {
		const struct ezprof_top_place *place = &view->places[i];
		bool sorted = place->column == table->order.column;

		table->columns[table->n] = place->column;
		table->widths[table->n] = ezprof_top_column(place->column)->columns;
		dispensable[table->n++] = sorted && place->dispensable > SORTED_DISPENSABLE
						  ? SORTED_DISPENSABLE
						  : place->dispensable;
	}
	if (!columns) {
		spread(table, UINT32_MAX / 4, true);
		return;
	}
	/* Names that can be read are worth more than the figures that matter least. */
	set_names(table, table->view == EZPROF_TOP_VIEW_EDGES ? NAME_COLUMNS_USUAL / 2
							      : NAME_COLUMNS_USUAL);
	narrow(table, dispensable, columns, USUAL_DISPENSABLE);
	if (total(table) > columns) {
		set_names(table, 0);
		narrow(table, dispensable, columns, 1);
		if (!squeeze(table, columns))
			narrow(table, dispensable, columns, 0);
	}
	used = total(table);
	if (used <= columns)
		spread(table, columns - used, false);
	else if (table->n == 1)
		table->widths[0] = columns > PREFIX_COLUMNS ? columns - PREFIX_COLUMNS : 1;
}

static bool is_left(enum ezprof_top_kind kind)
{
	return kind == EZPROF_TOP_IS_NAME || kind == EZPROF_TOP_IS_WORD ||
	       kind == EZPROF_TOP_IS_TREND;
}

void ezprof_top_table_heading(const struct ezprof_top_table *table, unsigned int line,
			      struct ezprof_screen *screen)
{
	size_t i;

	ezprof_screen_pad(screen, PREFIX_COLUMNS);
	for (i = 0; i < table->n; i++) {
		const struct ezprof_top_column *column = ezprof_top_column(table->columns[i]);
		const char *text = column->heading[line];
		bool sorted = line == 0 && table->columns[i] == table->order.column;
		bool ascending = ezprof_top_ascends(table->order.column) != table->order.reversed;
		char head[CELL_BYTES];

		/* Where the rows' order comes from: "v" is downward, the largest on top. */
		snprintf(head, sizeof(head), "%s%s", text, !sorted ? "" : ascending ? "^" : "v");
		ezprof_screen_print(screen, EZPROF_STYLE_HEADING, "%s%*.*s", i ? " " : "",
				    is_left(column->kind) ? -(int)table->widths[i]
							  : (int)table->widths[i],
				    (int)table->widths[i], head);
	}
	ezprof_screen_end_line(screen, false);
}

static void put_name(const char *name, unsigned int width, enum ezprof_style style,
		     struct ezprof_screen *screen)
{
	unsigned int end = screen->at + width, was = screen->columns;
	struct ez_buffer shown;

	ez_buffer_init(&shown, SIZE_MAX / 2);
	if (width >= SHORTENED_COLUMNS_MIN)
		ezprof_put_shortened(&shown, name, width);
	else
		ezprof_say_name(&shown, name);
	ez_buffer_append(&shown, "", 1);
	/* Narrower ones are simply cut. */
	if (!was || end < was)
		screen->columns = end;
	if (shown.err)
		screen->failed = true;
	else
		ezprof_screen_put(screen, style, (const char *)shown.data);
	screen->columns = was;
	ez_buffer_free(&shown);
	ezprof_screen_pad(screen, end);
}

static void gauge_text(char out[CELL_BYTES], const struct ezprof_top_row *row)
{
	char held[EZPROF_FIGURE_BYTES], of[EZPROF_FIGURE_BYTES];
	double value = row->values[EZPROF_TOP_HELD];

	ezprof_gauge_figure(held, value);
	ezprof_gauge_figure(of, row->buffers);
	if (!isnan(value) && value < 99999.5)
		snprintf(held, sizeof(held), "%.0f", value);
	if (!isnan(row->buffers) && row->buffers < 99999.5)
		snprintf(of, sizeof(of), "%.0f", row->buffers);
	if (isnan(value) || isnan(row->buffers))
		snprintf(out, CELL_BYTES, "%s", held);
	else
		snprintf(out, CELL_BYTES, "%s/%s", held, of);
}

static void put_gauge(const struct ezprof_top_table *table, const struct ezprof_top_row *row,
		      unsigned int width, struct ezprof_screen *screen)
{
	double share = row->values[EZPROF_TOP_HELD] / row->buffers;
	unsigned int end = screen->at + width, bar;
	char text[CELL_BYTES];
	struct ez_buffer out;

	gauge_text(text, row);
	bar = strlen(text) + 1 < width ? width - 1 - (unsigned int)strlen(text) : 0;
	bar = bar > 5 ? 5 : bar;
	ez_buffer_init(&out, SIZE_MAX / 2);
	ezprof_gauge_bar(&out, row->buffers > 0 ? share : (double)NAN, bar, table->ascii);
	ez_buffer_append(&out, "", 1);
	if (!out.err)
		ezprof_screen_put(screen, share >= 0.9 ? EZPROF_STYLE_PROBLEM : EZPROF_STYLE_GAUGE,
				  (const char *)out.data);
	ez_buffer_free(&out);
	ezprof_screen_print(screen, EZPROF_STYLE_PLAIN, "%*s",
			    end > screen->at ? (int)(end - screen->at) : 0, text);
}

static void put_trend(const struct ezprof_top_table *table, const struct ezprof_top_row *row,
		      unsigned int width, struct ezprof_screen *screen)
{
	float samples[EZPROF_HISTORY_SAMPLES];
	size_t n = table->history ? ezprof_history_get(table->history, row->key, samples) : 0;
	struct ez_buffer out;

	ez_buffer_init(&out, SIZE_MAX / 2);
	ezprof_gauge_spark(&out, samples, n, width, table->ascii);
	ez_buffer_append(&out, "", 1);
	if (!out.err)
		ezprof_screen_put(screen, EZPROF_STYLE_GAUGE, (const char *)out.data);
	ez_buffer_free(&out);
}

static void put_figure(double value, enum ezprof_top_kind kind, unsigned int width,
		       struct ezprof_screen *screen)
{
	char text[CELL_BYTES];

	ezprof_gauge_figure(text, value);
	if (kind == EZPROF_TOP_IS_PERCENT && !isnan(value))
		snprintf(text, sizeof(text), value > 0 && value < 0.0995 ? "%.1f%%" : "%.0f%%",
			 value * 100.0 > 99999 ? 99999.0 : value * 100.0);
	else if (kind == EZPROF_TOP_IS_COUNT && value < 9999999.5)
		snprintf(text, sizeof(text), "%.0f", value);
	ezprof_screen_print(screen, EZPROF_STYLE_PLAIN, "%*s", (int)width, text);
}

static enum ezprof_style style_of(char mark)
{
	switch (mark) {
	case '!':
		return EZPROF_STYLE_PROBLEM;
	case '>':
	case '-':
		return EZPROF_STYLE_ADVICE;
	default:
		return EZPROF_STYLE_NOTE;
	}
}

static void put_cell(const struct ezprof_top_table *table, const struct ezprof_top_row *row,
		     size_t i, struct ezprof_screen *screen)
{
	enum ezprof_top_column_id column = table->columns[i];
	unsigned int width = table->widths[i];

	switch (ezprof_top_column(column)->kind) {
	case EZPROF_TOP_IS_NAME:
		put_name(name_in(table, row, column), width, EZPROF_STYLE_PLAIN, screen);
		break;
	case EZPROF_TOP_IS_WORD:
		put_name(column == EZPROF_TOP_STATE ? row->state : row->via, width,
			 column == EZPROF_TOP_STATE ? style_of(row->mark) : EZPROF_STYLE_PLAIN,
			 screen);
		break;
	case EZPROF_TOP_IS_GAUGE:
		put_gauge(table, row, width, screen);
		break;
	case EZPROF_TOP_IS_TREND:
		put_trend(table, row, width, screen);
		break;
	default:
		put_figure(row->values[column], ezprof_top_column(column)->kind, width, screen);
	}
}

void ezprof_top_table_row(const struct ezprof_top_table *table, size_t row, bool selected,
			  struct ezprof_screen *screen)
{
	const struct ezprof_top_row *r = &table->rows->list[row];
	char prefix[PREFIX_COLUMNS + 1] = {table->has_cursor && selected ? '>' : ' ', r->mark, ' '};
	size_t i;

	ezprof_screen_put(screen, style_of(r->mark), prefix);
	for (i = 0; i < table->n; i++) {
		if (i)
			ezprof_screen_put(screen, EZPROF_STYLE_PLAIN, " ");
		put_cell(table, r, i, screen);
	}
	ezprof_screen_end_line(screen, selected);
}
