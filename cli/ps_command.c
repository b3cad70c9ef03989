/* SPDX-License-Identifier: MIT */
/* `ezprof ps`: which processes of this machine belong to ezmsg graphs. */
#include "ps_command.h"
#include "census.h"
#include "census_view.h"
#include "exit_status.h"
#include "fd_limit.h"
#include "output.h"
#include "usual_options.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "ezprof ps"

struct options {
	struct ezprof_usual_options usual;
	bool endpoints;
};

static const struct argp_option option_table[] = {
	{"endpoints", 'e', NULL, 0, "each publisher, subscriber and task below its process", 0},
	EZPROF_OPTION_JSON,
	{0},
};

static const char doc[] =
	"\nLists the processes of this machine that carry probes or are connected to a graph "
	"server, "
	"what they have, and whose server is gone. Asks nobody; root sees all processes, others "
	"their own.\n"
	"\v"
	"Exit status: 0; 1 failure; 2 usage; 4 there is no such process.";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'e':
		o->endpoints = true;
		return 0;
	default:
		return ezprof_usual_option(key, argument, state, &o->usual);
	}
}

static int print(const struct options *o, const struct ezprof_census *census)
{
	struct ez_buffer out;

	ez_buffer_init(&out, SIZE_MAX / 2);
	if (o->usual.json)
		ezprof_census_json(&out, census);
	else
		ezprof_census_text(&out, census, o->endpoints);
	return ezprof_output_buffer(PROGRAM, &out);
}

static void print_refused(const struct ezprof_refused_processes *refused)
{
	struct ez_buffer out;

	ez_buffer_init(&out, SIZE_MAX / 2);
	ezprof_census_refused_text(&out, PROGRAM, refused);
	if (out.len)
		fwrite(out.data, 1, out.len, stderr);
	ez_buffer_free(&out);
}

static void print_notes(const struct options *o, const struct ezprof_census *census)
{
	if (!census->count && !o->usual.json)
		fprintf(stderr,
			"%s: no process carries ezprof's probes or is connected to a known "
			"graph server\n",
			PROGRAM);
	print_refused(&census->refused);
	if (census->hidden)
		fprintf(stderr,
			"%s: processes of other users are not seen at all: /proc is mounted with "
			"hidepid; %s\n",
			PROGRAM, geteuid() ? "root sees them: sudo ezprof ps" : "mount it without");
	if (census->left_out)
		fprintf(stderr, "%s: %zu were too many and are left out\n", PROGRAM,
			census->left_out);
}

int ezprof_ps_main(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};
	struct options o = {0};
	struct ezprof_census *census;
	int err, status;

	if (argp_parse(&argp, argc, argv, 0, NULL, &o))
		return EZPROF_EXIT_USAGE;
	/* Each process with probes takes some descriptors. */
	ez_fd_limit_raise();
	err = ezprof_census_take(&census);
	if (err) {
		fprintf(stderr, "%s: %s\n", PROGRAM, strerror(-err));
		return EZPROF_EXIT_FAILURE;
	}
	status = print(&o, census);
	print_notes(&o, census);
	if (!status && !census->count)
		status = EZPROF_EXIT_NOTHING;
	ezprof_census_free(census);
	return status;
}
