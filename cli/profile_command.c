/* SPDX-License-Identifier: MIT */
/*
 * `ezprof profile`: the document comes from the graph server where that is known as ours, else from
 * the agents that measure processes of that graph. Byte 15 goes to no other server.
 */
#include "profile_command.h"
#include "agent_client.h"
#include "client.h"
#include "clock.h"
#include "document.h"
#include "document_graph.h"
#include "exit_status.h"
#include "graph_address.h"
#include "graph_choice.h"
#include "hello.h"
#include "option_value.h"
#include "output.h"
#include "python_fallback.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "ezprof profile"
/* To find out who is there, and to get the document: the server's own deadline is 1 s. */
#define LOOK_MS 2500
#define ANSWER_MS 10000
#define GRAPH_MS 1000

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

static bool is_of_graph(const struct ezprof_agent_found *agent, const char *graph)
{
	size_t i;

	for (i = 0; i < agent->graph_count; i++) {
		if (ezprof_same_graph(agent->graphs[i], graph))
			return true;
	}
	return false;
}

/* -ENOENT: no agent measures this graph. */
static int ask_agents(const struct ezprof_graph_choice *choice, uint64_t window_ms, char **ret_text)
{
	const char *graph = choice->have_address ? choice->text : NULL;
	char *texts[EZPROF_AGENTS_MAX];
	size_t i, length, n = 0;
	int err = -ENOENT;

	for (i = 0; i < choice->agent_count; i++) {
		if (graph && !is_of_graph(&choice->agents[i], graph))
			continue;
		err = ezprof_agent_ask(&choice->agents[i], graph, window_ms,
				       ez_clock_deadline_ns(ANSWER_MS), &texts[n], &length);
		if (err)
			fprintf(stderr, "%s: agent %d: %s\n", PROGRAM, (int)choice->agents[i].pid,
				strerror(-err));
		else
			n++;
	}
	if (n)
		err = ezprof_document_merge(texts, n, ret_text);
	for (i = 0; i < n; i++)
		free(texts[i]);
	return err;
}

static int complain(const struct ezprof_graph_choice *choice, int err)
{
	const char *what;

	switch (err) {
	case -EPROTO:
		what = "something answers there, but it is no graph server";
		break;
	case -ETIMEDOUT:
		what = "no graph server answers there";
		break;
	case -ENODATA:
	case -ECONNRESET:
		what = "it closed the connection without an answer";
		break;
	default:
		what = strerror(-err);
	}
	fprintf(stderr, "%s: %s: %s%s\n", PROGRAM, choice->text, what,
		choice->is_default ? " (no other graph server or agent was found)" : "");
	return EZPROF_EXIT_FAILURE;
}

/* Why there is no document: nobody there, something foreign, or a server that can't be asked. */
static int explain_silence(const struct ezprof_graph_choice *choice, double window_s,
			   uint64_t deadline_ns)
{
	int err;

	if (!choice->have_address)
		return EZPROF_EXIT_FAILURE;
	err = ez_client_ping(&choice->address, deadline_ns, NULL);
	if (err)
		return complain(choice, err);
	ezprof_python_fallback(choice->text, window_s);
	fprintf(stderr,
		"%s: %s is a graph server that knows no PROFILE, and no agent measures its "
		"processes: sudo ezprof-bpf attach PID\n",
		PROGRAM, choice->text);
	return EZPROF_EXIT_NOTHING;
}

/* A released Python server knows no PROFILE, but its graph. Without it the document is whole too.
 */
static void add_graph(const struct ezprof_graph_choice *choice, char **text)
{
	struct ez_dag *dag;

	if (!choice->have_address ||
	    ez_client_dag(&choice->address, ez_clock_deadline_ns(GRAPH_MS), &dag))
		return;
	ezprof_document_add_graph(text, dag);
	ez_dag_free(dag);
}

static int fetch(const struct ezprof_graph_choice *choice, double window_s, uint64_t deadline_ns,
		 char **ret_text)
{
	uint64_t window_ms = (uint64_t)(window_s * 1000.0 + 0.5);
	int err, ours = 0;
	size_t n;

	if (choice->have_address)
		ours = ez_hello_is_ours(&choice->address, "ezprof", NULL, 0, deadline_ns);
	if (ours > 0) {
		err = ez_client_profile(&choice->address, "ezprof", window_ms,
					ez_clock_deadline_ns(ANSWER_MS), ret_text, &n);
		return err ? complain(choice, err) : EZPROF_EXIT_OK;
	}
	err = ask_agents(choice, window_ms, ret_text);
	if (!err) {
		add_graph(choice, ret_text);
		return EZPROF_EXIT_OK;
	}
	if (ours < 0)
		return complain(choice, ours);
	return err == -ENOENT ? explain_silence(choice, window_s, deadline_ns)
			      : EZPROF_EXIT_FAILURE;
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
	fprintf(stderr, "%s: the graph has no endpoint: no publisher or subscriber is there\n",
		PROGRAM);
	return EZPROF_EXIT_NOTHING;
}

int ezprof_profile_main(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};
	struct options o = {.window_s = EZ_WINDOW_DEFAULT_S};
	uint64_t deadline_ns;
	struct ezprof_graph_choice choice;
	char *text = NULL;
	int status;

	if (argp_parse(&argp, argc, argv, 0, NULL, &o))
		return EZPROF_EXIT_USAGE;
	deadline_ns = ez_clock_deadline_ns(LOOK_MS);
	status = ezprof_graph_choose(PROGRAM, o.have_address ? &o.address : NULL, true, deadline_ns,
				     &choice);
	if (!status)
		status = fetch(&choice, o.window_s, deadline_ns, &text);
	if (!status)
		status = show(text);
	free(text);
	ezprof_graph_choice_free(&choice);
	return status;
}
