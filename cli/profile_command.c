/* SPDX-License-Identifier: MIT */
/* `ezprof profile`: the document itself. */
#include "profile_command.h"
#include "document.h"
#include "exit_status.h"
#include "option_value.h"
#include "output.h"
#include "profile_source.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "ezprof profile"

struct options {
	double window_s;
	bool have_address;
	struct ez_address address;
};

static const struct argp_option option_table[] = {
	{"window", 'w', "SECONDS", 0, "how far to look back: 0.15 to 16, default 2.0", 0},
	{"address", 'a', "HOST:PORT", 0,
	 "the graph server; default: EZMSG_GRAPHSERVER_ADDR, else the one that is there", 0},
	{0},
};

static const char doc[] =
	"\nPrints one JSON document (ezprof-json(5)) about the last seconds of a graph.\n"
	"\nExamples:\n"
	"  ezprof profile\n"
	"  ezprof profile --window 0.5 --address 127.0.0.1:25978\n"
	"\v"
	"Exit status: 0; 1 nobody answers; 2 usage; 4 there is no endpoint at all; 5 something was "
	"lost or somebody is silent (the document is complete otherwise).";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'w':
		o->window_s = ezprof_option_window_s(PROGRAM, "--window", argument);
		return 0;
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

static int show(const char *text)
{
	struct ezprof_verdict verdict;
	char *pretty;
	int status, err = ezprof_document_read(text, strlen(text), &pretty, &verdict);

	if (err) {
		fprintf(stderr, "%s: the answer is no PROFILE document\n", PROGRAM);
		return EZPROF_EXIT_FAILURE;
	}
	status = ezprof_output_line(PROGRAM, pretty);
	free(pretty);
	if (status)
		return status;
	if (verdict.errors || verdict.lost)
		return EZPROF_EXIT_PARTIAL;
	if (verdict.endpoints)
		return EZPROF_EXIT_OK;
	/* What ezmsg tells by itself is no list of what is there. */
	fprintf(stderr, "%s: %s\n", PROGRAM,
		verdict.by_ezmsg
			? "no publisher or subscriber has told anything"
			: "the graph has no endpoint: no publisher or subscriber is there");
	return EZPROF_EXIT_NOTHING;
}

int ezprof_profile_main(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};
	struct options o = {.window_s = EZ_WINDOW_DEFAULT_S};
	char *text = NULL;
	int status;

	if (argp_parse(&argp, argc, argv, 0, NULL, &o))
		return EZPROF_EXIT_USAGE;
	status = ezprof_profile_fetch(PROGRAM, o.have_address ? &o.address : NULL, o.window_s,
				      &text);
	if (!status)
		status = show(text);
	free(text);
	return status;
}
