/* SPDX-License-Identifier: MIT */
/* The graph server is a program of its own; `serve` becomes it, `shutdown` asks it to end. */
#include "server_command.h"
#include "client.h"
#include "clock.h"
#include "exit_status.h"
#include "graph_choice.h"
#include "output.h"
#include "usual_options.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SERVER "ezprof-graphserver"
#define SHUTDOWN "ezprof shutdown"
#define DEADLINE_MS 2500

/* Beside ourselves, as installed and as built. */
static void exec_beside(char **argv)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - sizeof(SERVER) - 1);
	char *slash;

	if (n <= 0)
		return;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return;
	strcpy(slash + 1, SERVER);
	argv[0] = path;
	execv(path, argv);
}

static const char serve_help[] =
	"Usage: ezprof serve [OPTION...]\n"
	"\nRuns a graph server: becomes " SERVER ", which gets all options.\n"
	"\nExamples:\n"
	"  ezprof serve\n"
	"  ezprof serve --address 127.0.0.1:0    any free port; stdout says which\n"
	"\n  -a, --address=HOST:PORT    where to listen\n"
	"\n`" SERVER " --help` tells the others.\n";

int ezprof_serve_main(int argc, char **argv)
{
	char name[] = SERVER;

	if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		fputs(serve_help, stdout);
		return ezprof_output_flush("ezprof serve");
	}
	exec_beside(argv);
	argv[0] = name;
	execvp(SERVER, argv);
	fprintf(stderr, "ezprof serve: %s is neither beside ezprof nor in PATH: %s\n", SERVER,
		strerror(errno));
	return EZPROF_EXIT_FAILURE;
}

static const struct argp_option option_table[] = {
	EZPROF_OPTION_ADDRESS,
	{0},
};

static const char doc[] = "\nEnds a graph server.\n"
			  "\nExamples:\n"
			  "  ezprof shutdown\n"
			  "  ezprof shutdown --address 127.0.0.1:25978\n";

int ezprof_shutdown_main(int argc, char **argv)
{
	static const struct argp argp = {option_table, ezprof_usual_parser, NULL, doc, NULL, NULL,
					 NULL};
	struct ezprof_usual_options o = {0};
	struct ezprof_graph_choice choice;
	int status, err;

	if (argp_parse(&argp, argc, argv, 0, NULL, &o))
		return EZPROF_EXIT_USAGE;
	status = ezprof_graph_choose(SHUTDOWN, ezprof_usual_address(&o), true,
				     ez_clock_deadline_ns(DEADLINE_MS), &choice);
	if (!status) {
		err = ez_client_shutdown(&choice.address, ez_clock_deadline_ns(DEADLINE_MS));
		status = err ? ezprof_graph_complain(stderr, SHUTDOWN, &choice, err)
			     : EZPROF_EXIT_OK;
	}
	ezprof_graph_choice_free(&choice);
	return status;
}
