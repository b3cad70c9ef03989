/* SPDX-License-Identifier: MIT */
/* `ezprof graph` works with any graph server: DAG is a command that all of them know. */
#include "graph_command.h"
#include "client.h"
#include "clock.h"
#include "exit_status.h"
#include "graph_choice.h"
#include "graph_print.h"
#include "option_value.h"
#include "output.h"
#include "server_error.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "ezprof graph"
#define DEADLINE_MS 2500
#define TEXT_BYTES_MAX (1 << 28)

struct options {
	bool have_address;
	struct ez_address address;
	ezprof_graph_print_fn print;
};

static const struct argp_option option_table[] = {
	{"format", 'f', "FORMAT", 0, "text (default), dot, mermaid or json", 0},
	{"address", 'a', "HOST:PORT", 0,
	 "the graph server; default: EZMSG_GRAPHSERVER_ADDR, else the one that is there", 0},
	{0},
};

static const char doc[] =
	"\nPrints which topics a graph connects, one edge a line.\n"
	"\nExamples:\n"
	"  ezprof graph\n"
	"  ezprof graph --format dot | dot -Tsvg > graph.svg\n"
	"\v"
	"Exit status: 0, also for a graph without edges; 1 nobody answers; 2 usage.";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'f':
		o->print = ezprof_graph_format(argument);
		if (o->print)
			return 0;
		fprintf(stderr, "%s: --format: '%.60s' is none of text, dot, mermaid, json\n",
			PROGRAM, argument);
		exit(EZPROF_EXIT_USAGE);
	case 'a':
		ezprof_option_address(PROGRAM, "--address", argument, &o->address);
		o->have_address = true;
		return 0;
	case ARGP_KEY_ARG:
		fprintf(stderr, "%s: '%.60s': no argument is wanted\n", PROGRAM, argument);
		exit(EZPROF_EXIT_USAGE);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int print(const struct options *o, const struct ez_dag *dag)
{
	struct ez_buffer text;
	int status;

	ez_buffer_init(&text, TEXT_BYTES_MAX);
	o->print(&text, dag);
	if (text.err) {
		fprintf(stderr, "%s: %s\n", PROGRAM, strerror(-text.err));
		ez_buffer_free(&text);
		return EZPROF_EXIT_FAILURE;
	}
	if (text.len)
		fwrite(text.data, 1, text.len, stdout);
	status = ezprof_output_flush(PROGRAM);
	ez_buffer_free(&text);
	return status;
}

int ezprof_graph_main(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};
	struct options o = {.print = ezprof_graph_format("text")};
	struct ezprof_graph_choice choice;
	struct ez_dag *dag;
	int status, err;

	if (argp_parse(&argp, argc, argv, 0, NULL, &o))
		return EZPROF_EXIT_USAGE;
	status = ezprof_graph_choose(PROGRAM, o.have_address ? &o.address : NULL, false,
				     ez_clock_deadline_ns(DEADLINE_MS), &choice);
	if (status)
		return status;
	err = ez_client_dag(&choice.address, ez_clock_deadline_ns(DEADLINE_MS), &dag);
	ezprof_graph_choice_free(&choice);
	if (!err) {
		status = print(&o, dag);
		ez_dag_free(dag);
		return status;
	}
	fprintf(stderr, "%s: %s: %s\n", PROGRAM, choice.text,
		err == -EBADMSG ? "its answer is no graph" : ezprof_server_error(err));
	return EZPROF_EXIT_FAILURE;
}
