/* SPDX-License-Identifier: MIT */
/* `ezprof export`: a graph for Prometheus, by HTTP or in a file. */
#include "export_command.h"
#include "exit_status.h"
#include "export_file.h"
#include "export_server.h"
#include "option_value.h"
#include "usual_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "ezprof export"
#define LISTEN_DEFAULT "127.0.0.1:9464"
/* What Prometheus is usually told to scrape at. */
#define WINDOW_S_DEFAULT 15.0
#define SERIES_DEFAULT 20000
#define SERIES_MAX UINT64_C(10000000)

struct options {
	struct ezprof_usual_options usual;
	struct ezprof_export_settings settings;
	bool have_listen;
	const char *path; /* --textfile; NULL = HTTP */
	double interval_s;
};

enum { KEY_TEXTFILE = 256, KEY_MAX_SERIES };

static const struct argp_option option_table[] = {
	{"listen", 'l', "ADDRESS:PORT", 0,
	 "where to serve HTTP; default " LISTEN_DEFAULT "; port 0: any free one", 0},
	{"window", EZPROF_KEY_WINDOW, "SECONDS", 0,
	 "how far each scrape looks back: 0.15 to 16, default 15; best the scrape interval", 0},
	EZPROF_OPTION_ADDRESS,
	{"max-series", KEY_MAX_SERIES, "N", 0,
	 "series of the graph at most, default 20000; ezprof_dropped_series counts the others", 0},
	{"textfile", KEY_TEXTFILE, "FILE", 0,
	 "write FILE (DIR/ezprof.prom) for node_exporter's textfile collector instead", 0},
	{"interval", 'i', "SECONDS", 0, "with --textfile: again and again, until Ctrl-C", 0},
	{0},
};

static const char doc[] =
	"\nServes the figures of a graph to Prometheus (docs/export.md) until Ctrl-C. The first "
	"line on stdout is where. One exporter per graph; loopback only unless --listen says "
	"otherwise: there are names in it, and nobody is asked for a password.\n"
	"\nExamples:\n"
	"  ezprof export\n"
	"  ezprof export --listen 127.0.0.1:0 --window 5\n"
	"  ezprof export --textfile /var/lib/node_exporter/ezprof.prom --interval 15\n"
	"\v"
	"Exit status: 0 after Ctrl-C; 1 failure; 2 usage; 77 not permitted to listen there. A "
	"graph that isn't there is ezprof_up 0, not a failure, except of --textfile without "
	"--interval: 1.";

static void take_listen(struct options *o, const char *text)
{
	o->have_listen = true;
	if (ez_parse_address(text, &o->settings.listen) == 0)
		return;
	fprintf(stderr, "%s: --listen '%.60s': host:port is wanted, such as " LISTEN_DEFAULT "\n",
		PROGRAM, text);
	exit(EZPROF_EXIT_USAGE);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'l':
		take_listen(o, argument);
		return 0;
	case KEY_MAX_SERIES:
		o->settings.series_max =
			(size_t)ezprof_option_count(PROGRAM, "--max-series", argument, SERIES_MAX);
		return 0;
	case KEY_TEXTFILE:
		o->path = argument;
		return 0;
	case 'i':
		o->interval_s = ezprof_option_seconds(PROGRAM, "--interval", argument);
		return 0;
	default:
		return ezprof_usual_option(key, argument, state, &o->usual);
	}
}

static int refuse(const char *why)
{
	fprintf(stderr, "%s: %s\n", PROGRAM, why);
	return EZPROF_EXIT_USAGE;
}

int ezprof_export_main(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};
	struct options o = {
		.usual.window_s = WINDOW_S_DEFAULT,
		.settings.series_max = SERIES_DEFAULT,
	};

	if (ez_parse_address(LISTEN_DEFAULT, &o.settings.listen) ||
	    argp_parse(&argp, argc, argv, 0, NULL, &o))
		return EZPROF_EXIT_USAGE;
	o.settings.graph = ezprof_usual_address(&o.usual);
	o.settings.window_s = o.usual.window_s;
	if (o.interval_s > 0 && !o.path)
		return refuse("--interval goes with --textfile; by HTTP, Prometheus says when");
	if (o.path && o.have_listen)
		return refuse("either --textfile or --listen");
	if (o.path && !*o.path)
		return refuse("--textfile: a file is wanted");
	return o.path ? ezprof_export_file(&o.settings, o.path, o.interval_s)
		      : ezprof_export_serve(&o.settings);
}
