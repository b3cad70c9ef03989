/* SPDX-License-Identifier: MIT */
/* `ezprof top`: the graph as a table that goes on, on a terminal; once, as text, for pipes. */
#include "top_command.h"
#include "document_file.h"
#include "exit_status.h"
#include "option_value.h"
#include "output.h"
#include "profile_source.h"
#include "second_look.h"
#include "terminal.h"
#include "top_print.h"
#include "top_run.h"
#include "usual_options.h"

#include <argp.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "ezprof top"
#define INTERVAL_MIN_S 0.05	   /* nobody sees more, and each look costs something */
#define COLORS "auto|always|never" /* enum ezprof_color */

/* "|edges|publishers...": their names, in the order of their numbers. */
#define VIEW_CHOICE(name, id, what) "|" id
static const char view_choices[] = EZPROF_TOP_VIEWS(VIEW_CHOICE);
#define VIEWS (view_choices + 1)

enum { KEY_ONCE = 256, KEY_VIEW, KEY_SORT, KEY_FILTER, KEY_FROM, KEY_WIDE, KEY_COLOR };

struct command {
	struct ezprof_usual_options usual;
	struct ezprof_top_options options;
	struct ezprof_top_control control;
	const char *sort;
};

static const struct argp_option option_table[] = {
	EZPROF_OPTION_WINDOW,
	{"interval", 'i', "SECONDS", 0, "how often to look; default 1", 0},
	EZPROF_OPTION_ADDRESS,
	{"view", KEY_VIEW, VIEWS, 0, "what the rows are; default: edges", 0},
	{"sort", KEY_SORT, "COLUMN", 0,
	 "a column of that view, '-' before it: the other way round; default state: problems first",
	 0},
	{"filter", KEY_FILTER, "TEXT", 0, "show only what has it in its name, pid, host or state",
	 0},
	{"once", KEY_ONCE, NULL, 0, "print the view as plain text, once", 0},
	{"wide", KEY_WIDE, NULL, 0, "with --once: as wide as names are", 0},
	{"color", KEY_COLOR, COLORS, 0, "default: auto, which is not where NO_COLOR is set", 0},
	{"from", KEY_FROM, "FILE", 0,
	 "play the documents in FILE (\"-\": stdin) instead of asking a running graph", 0},
	{0},
};

static const char doc[] =
	"\nShows a running graph, again and again: who publishes what to whom, how fast, where "
	"messages are held, and in the line above the rows what is wrong (`ezprof why`). \"!\" is "
	"a problem, \"-\" who only waits for somebody, \">\" advice, \"~\" figures not to rely on. "
	"The key ? lists all keys and columns.\n"
	"\nExamples:\n"
	"  ezprof top\n"
	"  ezprof top --view processes --sort busy_share\n"
	"  ezprof top --once | head\n"
	"  ezprof profile --interval 1 > run.json; ezprof top --from run.json\n"
	"\v"
	"Exit status: 0; 1 nobody answers, or the terminal is gone; 2 usage, also where stdout is "
	"no "
	"terminal; with --once also 4 there is no endpoint at all, 5 something was lost or "
	"somebody "
	"is silent.";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct command *c = state->input;
	struct ezprof_top_options *o = &c->options;

	switch (key) {
	case 'i':
		o->interval_s = ezprof_option_seconds(PROGRAM, "--interval", argument);
		if (o->interval_s >= INTERVAL_MIN_S)
			return 0;
		fprintf(stderr, "%s: --interval '%.60s': at least %g s\n", PROGRAM, argument,
			INTERVAL_MIN_S);
		exit(EZPROF_EXIT_USAGE);
	case KEY_VIEW:
		c->control.view = (enum ezprof_top_view_id)ezprof_option_choice(PROGRAM, "--view",
										argument, VIEWS);
		return 0;
	case KEY_SORT:
		c->sort = argument;
		return 0;
	case KEY_FILTER:
		if (snprintf(c->control.filter, sizeof(c->control.filter), "%s", argument) <
		    (int)sizeof(c->control.filter))
			return 0;
		fprintf(stderr, "%s: --filter '%.60s': it is too long\n", PROGRAM, argument);
		exit(EZPROF_EXIT_USAGE);
	case KEY_ONCE:
		o->once = true;
		return 0;
	case KEY_WIDE:
		o->wide = true;
		return 0;
	case KEY_COLOR:
		o->color = (enum ezprof_color)ezprof_option_choice(PROGRAM, "--color", argument,
								   COLORS);
		return 0;
	case KEY_FROM:
		o->from = argument;
		return 0;
	default:
		return ezprof_usual_option(key, argument, state, &c->usual);
	}
}

/* Behind all options, since it is the view that says which columns there are. */
static int settle_sort(struct command *c)
{
	const struct ezprof_top_view *view = ezprof_top_view(c->control.view);
	struct ezprof_top_order *order = &c->control.orders[c->control.view];
	const char *sort = c->sort;
	size_t i;

	if (!sort)
		return EZPROF_EXIT_OK;
	order->reversed = *sort == '-';
	sort += order->reversed;
	if (ezprof_top_column_find(c->control.view, sort, &order->column) == 0)
		return EZPROF_EXIT_OK;
	fprintf(stderr, "%s: --sort '%.60s': no column of %s; there are", PROGRAM, sort, view->id);
	for (i = 0; i < view->n; i++)
		fprintf(stderr, " %s", ezprof_top_column(view->places[i].column)->id);
	fputc('\n', stderr);
	return EZPROF_EXIT_USAGE;
}

/* Every document of a text: what was before makes the trends. */
static int take_all(struct ezprof_watch *watch, const char *text, const char *what)
{
	size_t at = 0, n = strlen(text);
	struct ezprof_model *model;
	int err;

	do {
		err = ezprof_model_next(text, n, &at, &model);
		if (!err)
			err = ezprof_watch_add(watch, model);
	} while (!err);
	if (err == -ENODATA && watch->model)
		return EZPROF_EXIT_OK;
	fprintf(stderr, "%s: %.200s: %s\n", PROGRAM, what,
		err == -ENOMEM ? strerror(ENOMEM)
			       : "this is no PROFILE document (`ezprof profile` prints one)");
	return EZPROF_EXIT_FAILURE;
}

static int fetch(const struct ezprof_top_options *o, struct ezprof_source_memory *memory,
		 struct ezprof_watch *watch)
{
	char *text = NULL;
	int status = ezprof_profile_fetch(PROGRAM, o->address, o->window_s, memory, &text);

	if (!status)
		status = take_all(watch, text, "the answer");
	free(text);
	return status;
}

/* As `ezprof why` does, for the same causes. */
static int look(const struct ezprof_top_options *o, struct ezprof_watch *watch)
{
	struct ezprof_source_memory memory = {0};
	int status = fetch(o, &memory, watch);

	if (status || !ezprof_second_look_wanted(watch->model))
		return status;
	ezprof_second_look_wait(o->window_s);
	return fetch(o, &memory, watch);
}

static int gather(const struct ezprof_top_options *o, struct ezprof_watch *watch)
{
	char *text = NULL;
	int status;

	if (!o->from)
		return look(o, watch);
	status = ezprof_document_file_text(PROGRAM, o->from, &text);
	if (!status)
		status = take_all(watch, text, o->from);
	free(text);
	return status;
}

static int once(const struct ezprof_top_options *o, const struct ezprof_top_control *control)
{
	struct ezprof_watch watch;
	struct ez_buffer out;
	int status = EZPROF_EXIT_FAILURE, err = ezprof_watch_init(&watch);

	ez_buffer_init(&out, SIZE_MAX / 2);
	if (!err)
		status = gather(o, &watch);
	if (!err && !status)
		err = ezprof_top_print(&out, &watch, o->from ? o->from : "", control,
				       o->wide ? 0 : ezprof_terminal_columns(),
				       ezprof_top_is_ascii());
	if (err) {
		fprintf(stderr, "%s: %s\n", PROGRAM, strerror(-err));
		status = EZPROF_EXIT_FAILURE;
	}
	if (!status)
		status = ezprof_output_buffer(PROGRAM, &out);
	if (!status)
		status = ezprof_document_status(watch.model);
	ez_buffer_free(&out);
	ezprof_watch_free(&watch);
	return status;
}

int ezprof_top_main(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};
	struct command c = {
		.usual = {.window_s = EZ_WINDOW_DEFAULT_S},
		.options = {.interval_s = 1.0},
	};
	int status;

	/* What characters are; figures stay as they are everywhere. */
	setlocale(LC_CTYPE, "");
	ezprof_top_control_init(&c.control);
	if (argp_parse(&argp, argc, argv, 0, NULL, &c))
		return EZPROF_EXIT_USAGE;
	c.options.window_s = c.usual.window_s;
	c.options.address = ezprof_usual_address(&c.usual);
	status = settle_sort(&c);
	if (!status)
		status = c.options.once ? once(&c.options, &c.control)
					: ezprof_top_run(PROGRAM, &c.options, &c.control);
	ezprof_top_control_free(&c.control);
	return status;
}
