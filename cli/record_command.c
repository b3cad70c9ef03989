/* SPDX-License-Identifier: MIT */
#include "record_command.h"
#include "exit_status.h"
#include "option_value.h"
#include "record_run.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM EZPROF_RECORD_PROGRAM
#define SPANS_DEFAULT 1000000u
#define SPANS_MAX 100000000u

enum { KEY_FLIGHT = 256, KEY_BLOCKED, KEY_SUMMARY, KEY_SPANS };

static const struct argp_option option_table[] = {
	{"output", 'o', "FILE", 0,
	 "FILE.pftrace for ui.perfetto.dev, FILE.json in Chrome's format (chrome://tracing)", 0},
	{"summary", KEY_SUMMARY, NULL, 0,
	 "print how long messages take on each edge and on each path from a source to a sink", 0},
	{"duration", 'd', "SECONDS", 0, "end after so long; default: on SIGINT or SIGTERM", 0},
	{"flight", KEY_FLIGHT, "SECONDS", 0,
	 "keep the last seconds only; SIGUSR1 writes them to a file of its own and goes on", 0},
	{"blocked", KEY_BLOCKED, "MS", 0,
	 "write such a file also when a publisher has waited for so long", 0},
	{"max-spans", KEY_SPANS, "N", 0,
	 "keep so many of the newest spans at most, 56 bytes each; default 1000000", 0},
	EZPROF_OPTION_ADDRESS,
	{0},
};

static const char doc[] =
	"\nRecords every message of a graph: published, queued, processed. An agent must be "
	"measuring its processes: sudo ezprof-bpf attach.\n"
	"\nExamples:\n"
	"  ezprof record -o graph.pftrace --duration 10\n"
	"  ezprof record --summary --duration 5\n"
	"  ezprof record -o stall.pftrace --flight 5 --blocked 200\n"
	"\v"
	"Exit status: 0; 1 failure; 2 usage; 4 no agent measures the graph; 5 something was lost "
	"(the file says what).";

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && strcmp(text + n - m, end) == 0;
}

static void take_path(struct ezprof_record_options *o, const char *path)
{
	o->path = path;
	o->json = ends_with(path, ".json");
	if (o->json || ends_with(path, ".pftrace"))
		return;
	fprintf(stderr,
		"%s: --output '%.200s': a name that ends with .pftrace or .json is wanted\n",
		PROGRAM, path);
	exit(EZPROF_EXIT_USAGE);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct ezprof_record_options *o = state->input;

	switch (key) {
	case 'o':
		take_path(o, argument);
		return 0;
	case KEY_SUMMARY:
		o->summary = true;
		return 0;
	case 'd':
		o->duration_s = ezprof_option_seconds(PROGRAM, "--duration", argument);
		return 0;
	case KEY_FLIGHT:
		o->flight_s = ezprof_option_seconds(PROGRAM, "--flight", argument);
		return 0;
	case KEY_BLOCKED:
		o->blocked_ms = ezprof_option_seconds(PROGRAM, "--blocked", argument);
		return 0;
	case KEY_SPANS:
		o->spans_max = ezprof_option_count(PROGRAM, "--max-spans", argument, SPANS_MAX);
		return 0;
	case ARGP_KEY_END:
		if (o->path || (o->summary && o->blocked_ms <= 0))
			return 0;
		fprintf(stderr, "%s: -o FILE says where to write to%s\n", PROGRAM,
			o->blocked_ms > 0 ? "" : ", or --summary what to print");
		exit(EZPROF_EXIT_USAGE);
	default:
		return ezprof_usual_option(key, argument, state, &o->usual);
	}
}

int ezprof_record_main(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};
	struct ezprof_record_options o = {.spans_max = SPANS_DEFAULT};

	if (argp_parse(&argp, argc, argv, 0, NULL, &o))
		return EZPROF_EXIT_USAGE;
	return ezprof_record_run(&o);
}
