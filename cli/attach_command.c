/* SPDX-License-Identifier: MIT */
#include "attach_command.h"
#include "attach_run.h"
#include "exit_status.h"
#include "loader.h"
#include "option_value.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#define PROGRAM "ezprof-bpf attach"
#define ENDPOINTS_MAX 16384
#define RECORD_MIB_MAX 1024
#define RECORD_MIB_DEFAULT 4
#define LINKS "uprobe_multi|perf_event"
#define PROBES "window|boundary|both"

enum {
	KEY_ONCE = 256,
	KEY_MAX_ENDPOINTS,
	KEY_PROBES,
	KEY_CHILDREN,
	KEY_GRAPH,
	KEY_ALL,
	KEY_LINK,
	KEY_SCHED,
	KEY_RECORD
};

static const struct argp_option option_table[] = {
	{"children", KEY_CHILDREN, NULL, 0,
	 "their descendants as well, those of now and those to come", 0},
	{"graph", KEY_GRAPH, "HOST:PORT", 0,
	 "every process of this machine that uses this graph server, also those to come", 0},
	{"all", KEY_ALL, NULL, 0, "every process with ezprof probes, also those to come", 0},
	{"once", KEY_ONCE, NULL, 0, "print one document after one window, then leave", 0},
	{"window", 'w', "SECONDS", 0, "window of --once: 0.15 to 16, default 2.0", 0},
	{"duration", 'd', "SECONDS", 0, "leave after so long; default: on SIGINT or SIGTERM", 0},
	{"address", 'a', "HOST:PORT", 0,
	 "graph server to register with; default: the one that the processes use", 0},
	{"max-endpoints", KEY_MAX_ENDPOINTS, "N", 0,
	 "room for so many endpoints; default: twice those found, at least 64, at most 1 GiB", 0},
	{"link", KEY_LINK, LINKS, 0,
	 "how to connect probes; default: uprobe_multi where the kernel has it", 0},
	{"record-buffer", KEY_RECORD, "MIB", 0,
	 "memory that `ezprof record` may fill between two looks: 1 to 1024, default 4; 0: none",
	 0},
	{"probes", KEY_PROBES, PROBES, 0, "how to measure; default: window", 0},
	{"sched", KEY_SCHED, NULL, 0,
	 "what threads do while they work for an endpoint: run, wait for a CPU, sleep; every "
	 "context switch of the machine then costs a little",
	 0},
	{0},
};

static const char doc[] =
	"\nAttaches to processes and answers PROFILE requests for them, until SIGINT or SIGTERM.\n"
	"\nExamples:\n"
	"  sudo ezprof-bpf attach 4242 4243\n"
	"  sudo ezprof-bpf attach 4242 --once --window 0.5\n"
	"  sudo ezprof-bpf attach --children 4242\n"
	"  sudo ezprof-bpf attach --graph 127.0.0.1:25978\n"
	"\v"
	"Exit status: 0; 1 failure; 2 usage; 4 nothing to measure; 5 something was lost or some "
	"processes failed; 77 not permitted.";

static int add_pid(struct ezprof_attach_options *o, const char *text)
{
	pid_t *grown = reallocarray(o->pids, o->pid_count + 1, sizeof(pid_t));

	if (!grown)
		return ENOMEM;
	o->pids = grown;
	if (ez_parse_pid(text, &o->pids[o->pid_count])) {
		fprintf(stderr, "%s: '%.60s' is no process id\n", PROGRAM, text);
		exit(EZPROF_EXIT_USAGE);
	}
	o->pid_count++;
	return 0;
}

static uint32_t parse_probes(const char *text)
{
	/* In the order of PROBES. */
	static const uint32_t paths[] = {EZPROF_PATH_WINDOW, EZPROF_PATH_BOUNDARY,
					 EZPROF_PATH_WINDOW | EZPROF_PATH_BOUNDARY};

	return paths[ezprof_option_choice(PROGRAM, "--probes", text, PROBES)];
}

static uint32_t parse_mib(const char *text)
{
	uint64_t mib;

	if (ez_parse_u64_range(text, 0, RECORD_MIB_MAX, &mib) == 0)
		return (uint32_t)mib;
	fprintf(stderr, "%s: --record-buffer '%.60s': 0 to %d (MiB)\n", PROGRAM, text,
		RECORD_MIB_MAX);
	exit(EZPROF_EXIT_USAGE);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct ezprof_attach_options *o = state->input;
	struct ez_address address;

	switch (key) {
	case KEY_ONCE:
		o->once = true;
		return 0;
	case 'w':
		o->window_s = ezprof_option_window_s(PROGRAM, "--window", argument);
		return 0;
	case 'd':
		o->duration_s = ezprof_option_seconds(PROGRAM, "--duration", argument);
		return 0;
	case 'a':
		ezprof_option_address(PROGRAM, "--address", argument, &address);
		o->address = argument;
		return 0;
	case KEY_CHILDREN:
		o->children = true;
		return 0;
	case KEY_GRAPH:
		ezprof_option_address(PROGRAM, "--graph", argument, &address);
		o->graph = argument;
		return 0;
	case KEY_LINK:
		o->perf_event = ezprof_option_choice(PROGRAM, "--link", argument, LINKS) == 1;
		return 0;
	case KEY_ALL:
		o->all = true;
		return 0;
	case KEY_SCHED:
		o->sched = true;
		return 0;
	case KEY_MAX_ENDPOINTS:
		o->endpoints_max = (uint32_t)ezprof_option_count(PROGRAM, "--max-endpoints",
								 argument, ENDPOINTS_MAX);
		return 0;
	case KEY_RECORD:
		o->record_mib = parse_mib(argument);
		return 0;
	case KEY_PROBES:
		o->paths = parse_probes(argument);
		return 0;
	case ARGP_KEY_ARG:
		return add_pid(o, argument);
	case ARGP_KEY_NO_ARGS:
		if ((o->all || o->graph) && !o->children)
			return 0;
		fprintf(stderr, "%s: which processes? Give their ids, or --graph or --all\n",
			PROGRAM);
		exit(EZPROF_EXIT_USAGE);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool is_possible(const struct ezprof_attach_options *o)
{
	if (o->sched && o->paths && !(o->paths & EZPROF_PATH_WINDOW)) {
		fprintf(stderr, "%s: --sched needs --probes window or both\n", PROGRAM);
		return false;
	}
	return true;
}

int ezprof_attach_main(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "[PID...]", doc,
					 NULL,	       NULL,	     NULL};
	struct ezprof_attach_options o = {.window_s = EZ_WINDOW_DEFAULT_S,
					  .record_mib = RECORD_MIB_DEFAULT};
	int status = EZPROF_EXIT_USAGE;

	if (argp_parse(&argp, argc, argv, 0, NULL, &o) == 0 && is_possible(&o))
		status = ezprof_attach_run(&o);
	free(o.pids);
	return status;
}
