/* SPDX-License-Identifier: MIT */
/* `ezprof graph` works with any graph server: DAG is a command that all of them know. */
#include "graph_command.h"
#include "client.h"
#include "clock.h"
#include "document_file.h"
#include "drawing_print.h"
#include "exit_status.h"
#include "graph_choice.h"
#include "option_value.h"
#include "output.h"
#include "profile_source.h"
#include "usual_options.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "ezprof graph"
#define DEADLINE_MS 2500
#define FORMATS "text|dot|mermaid|json"
#define TEXT_BYTES_MAX (1 << 28)

struct options {
	struct ezprof_usual_options usual;
	ezprof_drawing_print_fn print;
	bool compact, live;
};

enum { KEY_LIVE = 256, KEY_COMPACT };

static const struct argp_option option_table[] = {
	{"format", 'f', FORMATS, 0, "default: text", 0},
	{"compact", KEY_COMPACT, NULL, 0, "one node for each unit instead of each topic", 0},
	{"live", KEY_LIVE, NULL, 0, "with publishers, subscribers, rates and times, as measured",
	 0},
	{"window", EZPROF_KEY_WINDOW, "SECONDS", 0,
	 "--live: how far to look back: 0.15 to 16, default 2.0", 0},
	EZPROF_OPTION_ADDRESS,
	{0},
};

static const char doc[] =
	"\nPrints which topics a graph connects, one edge a line.\n"
	"\nExamples:\n"
	"  ezprof graph\n"
	"  ezprof graph --format dot | dot -Tsvg > graph.svg\n"
	"  ezprof graph --live --compact\n"
	"\v"
	"With --live an edge \"~>\" is inferred: a subscriber and a publisher of one process.\n"
	"\nExit status: 0, also for a graph without edges; 1 nobody answers; 2 usage.";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'f':
		ezprof_option_choice(PROGRAM, "--format", argument, FORMATS);
		o->print = ezprof_drawing_format(argument);
		return 0;
	case KEY_COMPACT:
		o->compact = true;
		return 0;
	case KEY_LIVE:
		o->live = true;
		return 0;
	default:
		return ezprof_usual_option(key, argument, state, &o->usual);
	}
}

static int explain(int err)
{
	fprintf(stderr, "%s: %s\n", PROGRAM, strerror(-err));
	return EZPROF_EXIT_FAILURE;
}

static int print(const struct options *o, const struct ezprof_drawing *drawing)
{
	struct ezprof_drawing compact = {0};
	struct ez_buffer text;
	int status, err = o->compact ? ezprof_drawing_compact(drawing, &compact) : 0;

	if (err)
		return explain(err);
	ez_buffer_init(&text, TEXT_BYTES_MAX);
	o->print(&text, o->compact ? &compact : drawing);
	status = ezprof_output_buffer(PROGRAM, &text);
	ezprof_drawing_free(&compact);
	return status;
}

/* The topics that a graph server knows. */
static int draw_topics(const struct options *o, struct ezprof_graph_choice *choice)
{
	struct ezprof_drawing drawing;
	struct ez_dag *dag;
	int status, err = ez_client_dag(&choice->address, ez_clock_deadline_ns(DEADLINE_MS), &dag);

	if (err) {
		if (err != -EBADMSG)
			return ezprof_graph_complain(stderr, PROGRAM, choice, err);
		fprintf(stderr, "%s: %s: its answer is no graph\n", PROGRAM, choice->text);
		return EZPROF_EXIT_FAILURE;
	}
	err = ezprof_drawing_of_dag(dag, &drawing);
	ez_dag_free(dag);
	if (err)
		return explain(err);
	status = print(o, &drawing);
	ezprof_drawing_free(&drawing);
	return status;
}

/* What is measured; edges of the server that nobody uses are there too, where it tells them. */
static int draw_live(const struct options *o, struct ezprof_graph_choice *choice)
{
	struct ezprof_drawing drawing;
	struct ezprof_model *model;
	struct ez_dag *dag = NULL;
	char *text = NULL;
	/* The usual address, taken for want of any, gets a hint with its error. */
	bool chosen = choice->have_address && !choice->is_default;
	int err, status = ezprof_profile_fetch(PROGRAM, chosen ? &choice->address : NULL,
					       o->usual.window_s, NULL, &text);

	if (!status)
		status = ezprof_document_model(PROGRAM, text, &model);
	free(text);
	if (status)
		return status;
	if (choice->have_address)
		ez_client_dag(&choice->address, ez_clock_deadline_ns(DEADLINE_MS), &dag);
	err = ezprof_drawing_of_model(model, dag, &drawing);
	ez_dag_free(dag);
	status = err ? explain(err) : print(o, &drawing);
	if (!err)
		ezprof_drawing_free(&drawing);
	ezprof_model_free(model);
	return status;
}

int ezprof_graph_main(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};
	struct options o = {.print = ezprof_drawing_format("text"),
			    .usual = {.window_s = EZ_WINDOW_DEFAULT_S}};
	struct ezprof_graph_choice choice;
	int status;

	if (argp_parse(&argp, argc, argv, 0, NULL, &o))
		return EZPROF_EXIT_USAGE;
	status = ezprof_graph_choose(PROGRAM, ezprof_usual_address(&o.usual), !o.live,
				     ez_clock_deadline_ns(DEADLINE_MS), &choice);
	if (!status)
		status = o.live ? draw_live(&o, &choice) : draw_topics(&o, &choice);
	ezprof_graph_choice_free(&choice);
	return status;
}
