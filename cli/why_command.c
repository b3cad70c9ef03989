/* SPDX-License-Identifier: MIT */
/* `ezprof why`: what holds the graph up, in sentences. */
#include "why_command.h"
#include "document_file.h"
#include "exit_status.h"
#include "output.h"
#include "profile_source.h"
#include "second_look.h"
#include "terminal.h"
#include "usual_options.h"
#include "why.h"
#include "why_print.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#define PROGRAM "ezprof why"

struct options {
	struct ezprof_usual_options usual;
	const char *files[2];
	size_t n_files;
};

static const struct argp_option option_table[] = {
	EZPROF_OPTION_WINDOW,
	EZPROF_OPTION_ADDRESS,
	EZPROF_OPTION_JSON,
	{0},
};

static const char doc[] =
	"\nSays what holds a graph up: a ranked list of sentences, each with the numbers that it "
	"rests on. Problems are numbered, \">\" is advice, \"-\" a note. Looks at the running "
	"graph, "
	"or at a FILE with a document of `ezprof profile` (\"-\": stdin; of two files the second "
	"is the later one).\n"
	"\nExamples:\n"
	"  ezprof why\n"
	"  ezprof why --window 10 --json\n"
	"  ezprof profile > now.json; ezprof why now.json\n"
	"\v"
	"Exit status: 0, also when something is wrong with the graph; 1 nobody answers; 2 usage; 4 "
	"there is no endpoint at all; 5 something was lost or somebody is silent.";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (o->n_files < 2) {
			o->files[o->n_files++] = argument;
			return 0;
		}
		fprintf(stderr, "%s: '%.60s': at most two files are wanted\n", PROGRAM, argument);
		exit(EZPROF_EXIT_USAGE);
	default:
		return ezprof_usual_option(key, argument, state, &o->usual);
	}
}

static int fetch(const struct options *o, struct ezprof_source_memory *memory,
		 struct ezprof_model **ret_model)
{
	char *text = NULL;
	int status = ezprof_profile_fetch(PROGRAM, ezprof_usual_address(&o->usual),
					  o->usual.window_s, memory, &text);

	if (!status)
		status = ezprof_document_model(PROGRAM, text, ret_model);
	free(text);
	return status;
}

static int gather(const struct options *o, struct ezprof_model **before,
		  struct ezprof_model **ret_model)
{
	struct ezprof_source_memory memory = {.have_graph = false};
	struct ezprof_model *first = NULL;
	int status;

	if (o->n_files == 2) {
		status = ezprof_document_file_read(PROGRAM, o->files[0], before);
		return status ? status : ezprof_document_file_read(PROGRAM, o->files[1], ret_model);
	}
	if (o->n_files == 1)
		return ezprof_document_file_read(PROGRAM, o->files[0], ret_model);
	status = fetch(o, &memory, &first);
	if (status || !ezprof_second_look_wanted(first)) {
		*ret_model = first;
		return status;
	}
	*before = first;
	ezprof_second_look_wait(o->usual.window_s);
	return fetch(o, &memory, ret_model);
}

static int print(const struct options *o, const struct ezprof_model *model,
		 const struct ezprof_findings *findings)
{
	struct ez_buffer out;

	ez_buffer_init(&out, SIZE_MAX / 2);
	if (o->usual.json)
		ezprof_why_json(&out, model, findings);
	else
		ezprof_why_text(&out, findings, ezprof_terminal_columns());
	return ezprof_output_buffer(PROGRAM, &out);
}

int ezprof_why_main(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "[FILE...]", doc,
					 NULL,	       NULL,	     NULL};
	struct options o = {.usual = {.window_s = EZ_WINDOW_DEFAULT_S}};
	struct ezprof_model *before = NULL, *model = NULL;
	struct ezprof_findings findings = {0};
	int status;

	if (argp_parse(&argp, argc, argv, 0, NULL, &o))
		return EZPROF_EXIT_USAGE;
	status = gather(&o, &before, &model);
	if (!status && ezprof_why(model, before, &findings)) {
		fprintf(stderr, "%s: no memory\n", PROGRAM);
		status = EZPROF_EXIT_FAILURE;
	}
	if (!status)
		status = print(&o, model, &findings);
	if (!status)
		status = ezprof_document_status(model);
	ezprof_findings_free(&findings);
	ezprof_model_free(before);
	ezprof_model_free(model);
	return status;
}
