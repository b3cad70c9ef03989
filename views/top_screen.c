/* SPDX-License-Identifier: MIT */
#include "top_screen.h"
#include "top_page.h"
#include "top_table.h"
#include "top_totals.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* From how many lines on a part is shown. The rows come first, and why it is slow. */
#define TOTALS_FROM 4u
#define HEADING_FROM 10u
#define TITLE_FROM 14u
#define TWO_LINES_FROM 16u
#define FOUR_LINES_FROM 24u

static const char key_hints[] =
	"q quit  ? help  Tab view  s sort  / filter  Space freeze  Enter more  "
	"c causes";

static bool has_room_for(const struct ezprof_top_picture *picture, unsigned int lines)
{
	return !picture->lines || picture->lines >= lines;
}

static void put_title(const struct ezprof_top_picture *picture,
		      const struct ezprof_top_control *control, const struct ezprof_top_rows *rows,
		      struct ezprof_screen *screen)
{
	const struct ezprof_object *graph = picture->model ? &picture->model->objects[0] : NULL;
	const struct ezprof_top_view *view = ezprof_top_view(control->view);

	ezprof_screen_put(screen, EZPROF_STYLE_TITLE, "ezprof top");
	ezprof_screen_print(screen, EZPROF_STYLE_PLAIN, "  %d %s  ", (int)control->view + 1,
			    view->id);
	if (control->frozen)
		ezprof_screen_put(screen, EZPROF_STYLE_ADVICE, "FROZEN  ");
	if (*control->filter) {
		ezprof_screen_put(screen, EZPROF_STYLE_ADVICE, "/");
		ezprof_screen_put(screen, EZPROF_STYLE_ADVICE, control->filter);
		ezprof_screen_print(screen, EZPROF_STYLE_ADVICE, ": %zu of %zu  ", rows->n,
				    rows->all);
	}
	ezprof_screen_put(screen, EZPROF_STYLE_PLAIN, picture->when);
	if (graph)
		ezprof_screen_print(screen, EZPROF_STYLE_FAINT, "  window %g s  ",
				    ezprof_figure(graph, EZPROF_GRAPH_WINDOW_S, 0.0));
	ezprof_screen_put(screen, EZPROF_STYLE_FAINT, picture->source);
	ezprof_screen_end_line(screen, false);
}

static size_t problems(const struct ezprof_findings *findings)
{
	size_t i, n = 0;

	for (i = 0; i < findings->n; i++)
		n += ezprof_finding_weight(findings->list[i].kind) == EZPROF_PROBLEM;
	return n;
}

static void put_finding(const struct ezprof_finding *finding, size_t more, size_t lines,
			struct ezprof_screen *screen)
{
	enum ezprof_weight weight = ezprof_finding_weight(finding->kind);
	enum ezprof_style style = weight == EZPROF_PROBLEM  ? EZPROF_STYLE_PROBLEM
				  : weight == EZPROF_ADVICE ? EZPROF_STYLE_ADVICE
							    : EZPROF_STYLE_NOTE;

	ezprof_screen_put(screen, style,
			  weight == EZPROF_PROBLEM  ? "! "
			  : weight == EZPROF_ADVICE ? "> "
						    : "- ");
	if (more)
		ezprof_screen_print(screen, style, "1 of %zu: ", more + 1);
	ezprof_screen_wrap(screen, style, finding->sentence ? finding->sentence : "", 2, lines);
	ezprof_screen_end_line(screen, false);
}

/* Always as many, so that the rows below stay where they are. */
static size_t culprit_lines(const struct ezprof_top_picture *picture)
{
	return picture->lines >= FOUR_LINES_FROM ? 4 : picture->lines >= TWO_LINES_FROM ? 2 : 1;
}

/* The weightiest findings, as far as they fit, so that who is to blame is on the screen. */
static void put_culprit(const struct ezprof_top_picture *picture, struct ezprof_screen *screen)
{
	const struct ezprof_findings *findings = picture->findings;
	size_t end = screen->n_lines + culprit_lines(picture), i, n;

	n = findings ? problems(findings) : 0;
	if (!picture->lines) {
		if (findings && findings->n)
			put_finding(&findings->list[0], n > 1 ? n - 1 : 0, 0, screen);
		return;
	}
	for (i = 0; findings && i < findings->n && screen->n_lines < end; i++)
		put_finding(&findings->list[i], i == 0 && n > 1 ? n - 1 : 0, end - screen->n_lines,
			    screen);
	while (screen->n_lines < end)
		ezprof_screen_end_line(screen, false);
}

static void put_status(const struct ezprof_top_picture *picture,
		       const struct ezprof_top_control *control, struct ezprof_screen *screen)
{
	if (control->mode == EZPROF_TOP_FILTER || control->mode == EZPROF_TOP_WRITE) {
		bool is_filter = control->mode == EZPROF_TOP_FILTER;

		ezprof_screen_put(screen, EZPROF_STYLE_TITLE,
				  is_filter ? "filter: " : "write to: ");
		ezprof_screen_put(screen, EZPROF_STYLE_PLAIN,
				  is_filter ? control->filter : control->typed);
		ezprof_screen_put(screen, EZPROF_STYLE_FAINT, "_  (Enter takes it, Esc doesn't)");
	} else if (*control->notice) {
		ezprof_screen_put(screen, EZPROF_STYLE_TITLE, control->notice);
	} else if (*picture->trouble) {
		ezprof_screen_put(screen, EZPROF_STYLE_PROBLEM, "! ");
		ezprof_screen_put(screen, EZPROF_STYLE_PROBLEM, picture->trouble);
	} else if (control->mode != EZPROF_TOP_BROWSE) {
		ezprof_screen_put(screen, EZPROF_STYLE_FAINT, "up, down: scroll  Esc: back");
	} else if (control->frozen) {
		ezprof_screen_put(screen, EZPROF_STYLE_ADVICE,
				  "FROZEN: nothing is asked, Space goes on");
	} else {
		ezprof_screen_put(screen, EZPROF_STYLE_FAINT, key_hints);
	}
	ezprof_screen_end_line(screen, false);
}

static void put_nothing(const struct ezprof_top_control *control,
			const struct ezprof_top_rows *rows, struct ezprof_screen *screen)
{
	ezprof_screen_wrap(screen, EZPROF_STYLE_NOTE,
			   rows->all ? "  nothing has that in its name, pid, host or state (Esc "
				       "clears the filter)"
			   : control->view == EZPROF_TOP_VIEW_PROCESSES
				   ? "  no process is known"
				   : "  no publisher or subscriber is there",
			   2, 2);
	ezprof_screen_end_line(screen, false);
}

/* Lines that are left for rows, SIZE_MAX where there is no limit. */
static size_t room_of(const struct ezprof_top_picture *picture, const struct ezprof_screen *screen)
{
	size_t below = picture->interactive && picture->lines > 1 ? 1 : 0;

	if (!picture->lines)
		return SIZE_MAX / 8;
	return picture->lines > screen->n_lines + below ? picture->lines - screen->n_lines - below
							: 0;
}

static void put_table(const struct ezprof_top_picture *picture, struct ezprof_top_control *control,
		      const struct ezprof_top_rows *rows, struct ezprof_screen *screen)
{
	struct ezprof_top_table table = {.rows = rows,
					 .history = picture->history,
					 .view = control->view,
					 .order = control->orders[control->view],
					 .ascii = picture->ascii,
					 .has_cursor = picture->interactive};
	size_t i, room;

	ezprof_top_table_lay_out(&table, picture->columns);
	if (has_room_for(picture, HEADING_FROM)) {
		ezprof_top_table_heading(&table, 0, screen);
		ezprof_top_table_heading(&table, 1, screen);
	}
	room = room_of(picture, screen);
	ezprof_top_control_settle(control, rows, room);
	if (!rows->n && room)
		put_nothing(control, rows, screen);
	for (i = control->first; i < rows->n && i - control->first < room; i++)
		ezprof_top_table_row(&table, i, picture->interactive && i == control->index,
				     screen);
}

/* So many lines of a page, from where it is scrolled to. */
static int put_page(const struct ezprof_top_picture *picture, struct ezprof_top_control *control,
		    const struct ezprof_top_rows *rows, struct ezprof_screen *screen)
{
	struct ezprof_screen all;
	size_t room = room_of(picture, screen);

	ezprof_screen_init(&all, picture->columns);
	if (control->mode == EZPROF_TOP_HELP)
		ezprof_top_page_help(&all);
	else if (control->mode == EZPROF_TOP_CAUSES)
		ezprof_top_page_causes(picture->findings, true, &all);
	else if (control->index < rows->n)
		ezprof_top_page_details(picture->model, picture->findings, picture->history,
					picture->ascii, &rows->list[control->index], &all);
	else
		ezprof_screen_end_line(&all, false);
	control->room = room;
	if (control->scroll + room > all.n_lines)
		control->scroll = all.n_lines > room ? all.n_lines - room : 0;
	ezprof_screen_copy(screen, &all, control->scroll, room);
	if (all.failed)
		screen->failed = true;
	ezprof_screen_free(&all);
	return 0;
}

/* Those that are there: not what has ended and left nothing. */
static size_t count_processes(const struct ezprof_model *model)
{
	struct ezprof_top_rows rows = {0};
	struct ezprof_top_order order = {EZPROF_TOP_PID, false};
	size_t n = 0, i;

	if (!ezprof_top_rows_make(model, NULL, EZPROF_TOP_VIEW_PROCESSES, order, "", &rows)) {
		for (i = 0; i < rows.n; i++)
			n += rows.list[i].mark != '~' ||
			     rows.list[i].values[EZPROF_TOP_PUBLISHERS] > 0 ||
			     rows.list[i].values[EZPROF_TOP_SUBSCRIBERS] > 0;
	}
	ezprof_top_rows_free(&rows);
	return n;
}

/* Does the page take the table's place? Without a document there is only the help. */
static bool shows_page(const struct ezprof_top_picture *picture,
		       const struct ezprof_top_control *control)
{
	switch (control->mode) {
	case EZPROF_TOP_HELP:
		return true;
	case EZPROF_TOP_CAUSES:
		return picture->findings != NULL;
	case EZPROF_TOP_DETAILS:
		return picture->model != NULL;
	default:
		return false;
	}
}

static void put_all(const struct ezprof_top_picture *picture, struct ezprof_top_control *control,
		    const struct ezprof_top_rows *rows, struct ezprof_screen *screen)
{
	bool page = shows_page(picture, control);

	if (page && control->mode == EZPROF_TOP_DETAILS)
		ezprof_top_control_settle(control, rows, control->room);
	if (has_room_for(picture, TITLE_FROM))
		put_title(picture, control, rows, screen);
	if (picture->model && has_room_for(picture, TOTALS_FROM))
		ezprof_top_totals(picture->model, count_processes(picture->model), screen);
	if (!page)
		put_culprit(picture, screen);
	/* Two lines: who is to blame, and the state of things. */
	if (page)
		put_page(picture, control, rows, screen);
	else if (picture->model && has_room_for(picture, 3))
		put_table(picture, control, rows, screen);
	if (!picture->interactive)
		return;
	while (picture->lines && screen->n_lines + 1 < picture->lines)
		ezprof_screen_end_line(screen, false);
	/* A single line is for what is typed or wrong, else for the culprit. */
	if (picture->lines == 1 && (control->mode == EZPROF_TOP_BROWSE || page) &&
	    !*picture->trouble && !*control->notice)
		return;
	if (picture->lines && screen->n_lines >= picture->lines)
		ezprof_screen_cut(screen, picture->lines - 1);
	put_status(picture, control, screen);
}

int ezprof_top_compose(const struct ezprof_top_picture *picture, struct ezprof_top_control *control,
		       struct ezprof_screen *ret_screen)
{
	struct ezprof_top_rows rows = {0};
	int err = 0;

	ezprof_screen_init(ret_screen, picture->columns);
	if (picture->model)
		err = ezprof_top_rows_make(picture->model, picture->findings, control->view,
					   control->orders[control->view], control->filter, &rows);
	if (!err)
		put_all(picture, control, &rows, ret_screen);
	if (picture->lines)
		ezprof_screen_cut(ret_screen, picture->lines);
	ezprof_top_rows_free(&rows);
	return err ? err : ret_screen->failed ? -ENOMEM : 0;
}
