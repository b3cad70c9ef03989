/* SPDX-License-Identifier: MIT */
/* ezmsg-node: one process of a demonstration graph. See --help. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "node_options.h"
#include "node_roles.h"

/* Blocked before any thread exists, so that all inherit it and the descriptor gets the signal. */
static int stop_descriptor(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &signals, NULL))
		return -1;
	return signalfd(-1, &signals, SFD_CLOEXEC);
}

/* Before any thread exists, so that all inherit it. */
static int run_on(int64_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

int main(int argc, char **argv)
{
	struct node_options options;
	const char *what = "memory";
	int stop_fd, err;

	node_options_parse(argc, argv, &options);
	if (options.cpu >= 0 && run_on(options.cpu)) {
		perror("ezmsg-node: --pin-cpu");
		return EXIT_FAILURE;
	}
	stop_fd = stop_descriptor();
	if (stop_fd < 0) {
		perror("ezmsg-node: signals");
		return EXIT_FAILURE;
	}
	err = node_run(&options, stop_fd, &what);
	close(stop_fd);
	if (err) {
		fprintf(stderr, "ezmsg-node: %s: %s\n", what, strerror(-err));
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
