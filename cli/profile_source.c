/* SPDX-License-Identifier: MIT */
/*
 * The document comes from the graph server where that is known as ours, else from the agents that
 * measure processes of that graph, else from what ezmsg tells by itself. PROFILE goes to no other
 * server.
 */
#include "profile_source.h"
#include "agent_client.h"
#include "client.h"
#include "clock.h"
#include "document.h"
#include "document_graph.h"
#include "exit_status.h"
#include "ezmsg_source.h"
#include "graph_address.h"
#include "graph_choice.h"
#include "hello.h"
#include "server_error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* To find out who is there, and to get the document: the server's own deadline is 1 s. */
#define LOOK_MS 2500
#define ANSWER_MS 10000
#define GRAPH_MS 1000
#define FOREIGN_MS 3600000

#define SILENT_HINT \
	"an agent is at work on this machine and tells this user nothing (only root and the user " \
	"who called sudo see processes of others), so this is what ezmsg tells by itself; to see " \
	"what is measured, put sudo before the command"

struct source {
	const char *program;
	FILE *messages;
	double trace_s_max;		     /* 0 = no limit */
	struct ezprof_source_memory *memory; /* NULL = none */
	struct ezprof_graph_choice choice;
};

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
static int ask_agents(const struct source *source, uint64_t window_ms, char **ret_text)
{
	const char *graph = source->choice.have_address ? source->choice.text : NULL;
	char *texts[EZPROF_AGENTS_MAX];
	size_t i, length, n = 0;
	int err = -ENOENT;

	for (i = 0; i < source->choice.agent_count; i++) {
		if (graph && !is_of_graph(&source->choice.agents[i], graph))
			continue;
		err = ezprof_agent_ask(&source->choice.agents[i], graph, window_ms,
				       ez_clock_deadline_ns(ANSWER_MS), &texts[n], &length);
		if (err)
			fprintf(source->messages, "%s: agent %d: %s\n", source->program,
				(int)source->choice.agents[i].pid, strerror(-err));
		else
			n++;
	}
	if (n)
		err = ezprof_document_merge(texts, n, ret_text);
	for (i = 0; i < n; i++)
		free(texts[i]);
	return err;
}

static int complain(const struct source *source, int err)
{
	return ezprof_graph_complain(source->messages, source->program, &source->choice, err);
}

/* Those that are there and tell this user of no graph. */
static size_t silent_agents(const struct source *source)
{
	size_t i, silent = 0;

	for (i = 0; i < source->choice.agent_count && geteuid(); i++)
		silent += source->choice.agents[i].graph_count == 0;
	return silent;
}

/*
 * Nobody measures this graph: what ezmsg tells by itself, and what would tell more. Of our own
 * server the graph alone is nothing new: -ENOENT.
 */
static int ask_ezmsg(const struct source *source, double window_s, bool ours, char **ret_text)
{
	struct ezprof_ezmsg_told told;
	char *text;
	int err;

	if (source->trace_s_max > 0 && window_s > source->trace_s_max)
		window_s = source->trace_s_max;
	err = ezprof_ezmsg_source(&source->choice.address, window_s, &text, &told);
	if (err)
		return err;
	if (ours && told.graph_only) {
		free(text);
		return -ENOENT;
	}
	if (told.by_other)
		fprintf(source->messages,
			"%s: another observer traces this graph: its stream is used\n",
			source->program);
	if (silent_agents(source)) {
		told.hint = SILENT_HINT;
		ezprof_document_add_silent(&text, silent_agents(source), told.hint);
	}
	fprintf(source->messages, "%s: %s\n", source->program, told.hint);
	*ret_text = text;
	return 0;
}

static bool is_empty(const char *text)
{
	struct ezprof_verdict verdict;
	char *pretty;

	if (ezprof_document_read(text, strlen(text), &pretty, &verdict))
		return false;
	free(pretty);
	return !verdict.endpoints && !verdict.errors;
}

static int ask_server(const struct source *source, double window_s, uint64_t deadline_ns,
		      char **ret_text)
{
	uint64_t window_ms = (uint64_t)(window_s * 1000.0 + 0.5);
	char *text, *told;
	size_t n;
	/* A document may take its time, a greeting doesn't: who hangs is found out soon. */
	int err = ez_client_ping(&source->choice.address, deadline_ns, NULL);

	if (!err)
		err = ez_client_profile(&source->choice.address, "ezprof", window_ms,
					ez_clock_deadline_ns(ANSWER_MS), &text, &n);
	if (err)
		return err;
	/* Nobody whom we measure: its Python clients may tell all the same. */
	if (is_empty(text) && !ask_ezmsg(source, window_s, true, &told)) {
		free(text);
		text = told;
	}
	*ret_text = text;
	return 0;
}

/* A released Python server knows no PROFILE, but its graph. Without it the document is whole too.
 */
static void add_graph(const struct source *source, char **text)
{
	struct ez_dag *dag;

	if (!source->choice.have_address ||
	    ez_client_dag(&source->choice.address, ez_clock_deadline_ns(GRAPH_MS), &dag))
		return;
	ezprof_document_add_graph(text, dag);
	ez_dag_free(dag);
}

/* It is ours and doesn't answer: what agents tell is better than nothing, and partial. */
static int do_without_server(const struct source *source, int err, double window_s, char **ret_text)
{
	static const char detail[] = "the graph server did not answer; its agents were asked";

	if (ask_agents(source, (uint64_t)(window_s * 1000.0 + 0.5), ret_text))
		return complain(source, err);
	fprintf(source->messages, "%s: %s: %s; this is what agents tell\n", source->program,
		source->choice.text, ezprof_server_error(err));
	ezprof_document_add_error(ret_text, "server", "timeout", detail);
	return EZPROF_EXIT_OK;
}

/* 1, 0 or an error, as ez_hello_is_ours(). */
static int is_ours(const struct source *source, ez_mono_ns_t deadline_ns)
{
	const struct ez_address *address = &source->choice.address;
	struct ezprof_source_memory *memory = source->memory;
	int ours;

	/* On loopback a mark says so, and nobody is asked. */
	if (ez_address_is_loopback(address))
		memory = NULL;
	if (memory && memory->foreign_until_ns > ez_clock_mono_ns() &&
	    memory->foreign.port == address->port &&
	    strcmp(memory->foreign.host, address->host) == 0)
		return 0;
	ours = ez_hello_is_ours(address, "ezprof", NULL, 0, deadline_ns);
	if (memory && ours == 0) {
		memory->foreign = *address;
		memory->foreign_until_ns = ez_clock_deadline_ns(FOREIGN_MS);
	}
	return ours;
}

static int fetch(const struct source *source, double window_s, uint64_t deadline_ns,
		 char **ret_text)
{
	int err, ours = 0;

	if (source->choice.have_address)
		ours = is_ours(source, deadline_ns);
	if (ours > 0) {
		err = ask_server(source, window_s, deadline_ns, ret_text);
		return err ? do_without_server(source, err, window_s, ret_text) : EZPROF_EXIT_OK;
	}
	err = ask_agents(source, (uint64_t)(window_s * 1000.0 + 0.5), ret_text);
	if (!err) {
		add_graph(source, ret_text);
		return EZPROF_EXIT_OK;
	}
	if (ours < 0)
		return complain(source, ours);
	if (err != -ENOENT || !source->choice.have_address)
		return EZPROF_EXIT_FAILURE;
	err = ask_ezmsg(source, window_s, false, ret_text);
	return err ? complain(source, err) : EZPROF_EXIT_OK;
}

/* What was found holds for as long as it answers. */
static void remember(struct ezprof_source_memory *memory, const struct source *source, int status)
{
	memory->have_graph = !status && source->choice.have_address;
	memory->graph = source->choice.address;
}

int ezprof_profile_get(const struct ezprof_profile_request *request, char **ret_text)
{
	struct source source = {.program = request->program,
				.messages = request->messages ? request->messages : stderr,
				.trace_s_max = request->trace_s_max,
				.memory = request->memory};
	uint64_t deadline_ns = ez_clock_deadline_ns(LOOK_MS);
	const struct ez_address *address = request->address;
	int status;

	if (!address && source.memory && source.memory->have_graph)
		address = &source.memory->graph;
	status = ezprof_graph_choose_telling(source.messages, request->program, address, false,
					     deadline_ns, &source.choice);
	if (!status)
		status = fetch(&source, request->window_s, deadline_ns, ret_text);
	if (source.memory && !request->address)
		remember(source.memory, &source, status);
	ezprof_graph_choice_free(&source.choice);
	return status;
}

int ezprof_profile_fetch(const char *program, const struct ez_address *address, double window_s,
			 struct ezprof_source_memory *memory, char **ret_text)
{
	struct ezprof_profile_request request = {
		.program = program, .address = address, .window_s = window_s, .memory = memory};

	return ezprof_profile_get(&request, ret_text);
}
