/* SPDX-License-Identifier: MIT */
/* Becomes the program that is named, with probes switched on for it and what it starts. */
#include "run_command.h"
#include "exit_status.h"
#include "output.h"
#include "stdout_check.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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

static int exit_status_of(char *const *words)
{
	posix_spawn_file_actions_t actions;
	int status = -1, err;
	pid_t pid;

	if (posix_spawn_file_actions_init(&actions))
		return -1;
	err = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	if (!err)
		err = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&actions, 1, 2);
	if (!err)
		err = posix_spawnp(&pid, words[0], &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (err || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/*
 * Nothing would say that the package is missing: the program just has no probes. Of other programs
 * than Python itself it isn't known which Python they use.
 */
static void warn_of_missing_package(char *program)
{
	static char command[] = "-c",
		    look[] = "import importlib.util as u, sys\n"
			     "sys.exit(42 if u.find_spec('ezmsg_usdt') is None else 0)";
	char *const words[] = {program, command, look, NULL};
	const char *name = strrchr(program, '/');

	name = name ? name + 1 : program;
	if (strncmp(name, "python", strlen("python")) != 0 || exit_status_of(words) != 42)
		return;
	fprintf(stderr,
		"ezprof run: %s doesn't have the package ezmsg-usdt, so the program will have no "
		"probes; in ezprof's source, type: %s -m pip install ./python\n",
		program, program);
}

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
	warn_of_missing_package(argv[first]);
	if (setenv(SWITCH, "1", 1)) {
		fprintf(stderr, "ezprof run: %s\n", strerror(errno));
		return EZPROF_EXIT_FAILURE;
	}
	ez_stdout_restore_signal();
	execvp(argv[first], argv + first);
	fprintf(stderr, "ezprof run: %s: %s\n", argv[first], strerror(errno));
	return EZPROF_EXIT_FAILURE;
}
