/* SPDX-License-Identifier: MIT */
/* Becomes the program that is named, with probes switched on for it and what it starts. */
#include "run_command.h"
#include "exit_status.h"
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SWITCH "EZPROF_USDT"

static const char run_help[] =
	"Usage: ezprof run [--] PROGRAM [ARGUMENT...]\n"
	"\nRuns a Python program whose ezmsg graph has probes: sets " SWITCH
	"=1, which the package\n"
	"ezmsg-usdt looks for when Python starts. It must be installed where the program runs.\n"
	"\nExamples:\n"
	"  ezprof run -- python my_graph.py\n"
	"  sudo ezprof-bpf attach PID     then, in another terminal\n"
	"\nExit status: the program's; 1 it can't be run; 2 usage.\n";

int ezprof_run_main(int argc, char **argv)
{
	int first = 1;

	if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		fputs(run_help, stdout);
		return ezprof_output_flush("ezprof run");
	}
	if (argc > 1 && strcmp(argv[1], "--") == 0)
		first = 2;
	if (argc <= first || (first == 1 && argv[1][0] == '-')) {
		fprintf(stderr, "ezprof run: which program? ezprof run -- python my_graph.py\n");
		return EZPROF_EXIT_USAGE;
	}
	if (setenv(SWITCH, "1", 1)) {
		fprintf(stderr, "ezprof run: %s\n", strerror(errno));
		return EZPROF_EXIT_FAILURE;
	}
	execvp(argv[first], argv + first);
	fprintf(stderr, "ezprof run: %s: %s\n", argv[first], strerror(errno));
	return EZPROF_EXIT_FAILURE;
}
