/* SPDX-License-Identifier: MIT */
#include "graph_choice.h"
#include "exit_status.h"
#include "graph_address.h"
#include "server_error.h"
#include "server_mark.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOPBACK "127.0.0.1"

struct candidates {
	char texts[EZPROF_CHOICES_MAX][EZ_ADDRESS_BYTES];
	size_t n;
};

/* What agents say may be anything: only what is an address can be chosen. */
static void add(struct candidates *c, const char *text)
{
	struct ez_address address;
	size_t i;

	if (ez_parse_address(text, &address))
		return;
	for (i = 0; i < c->n; i++) {
		if (ezprof_same_graph(c->texts[i], text))
			return;
	}
	if (c->n < EZPROF_CHOICES_MAX)
		snprintf(c->texts[c->n++], EZ_ADDRESS_BYTES, "%s", text);
}

static void add_marks(struct candidates *c)
{
	struct ez_server_mark marks[EZPROF_CHOICES_MAX];
	struct ez_address address = {.host = LOOPBACK};
	char text[EZ_ADDRESS_BYTES];
	int i, n = ez_server_mark_list(NULL, 0, marks, EZPROF_CHOICES_MAX);

	for (i = 0; i < n; i++) {
		address.port = marks[i].port;
		ez_address_format(&address, text);
		add(c, text);
	}
}

static void add_agents(struct candidates *c, const struct ezprof_graph_choice *choice)
{
	size_t i, j;

	for (i = 0; i < choice->agent_count; i++) {
		for (j = 0; j < choice->agents[i].graph_count; j++)
			add(c, choice->agents[i].graphs[j]);
	}
}

static void take(struct ezprof_graph_choice *choice, const struct ez_address *address)
{
	choice->have_address = true;
	choice->address = *address;
	ez_address_format(address, choice->text);
}

static int complain_of_several(FILE *messages, const char *program, const struct candidates *c)
{
	size_t i;

	fprintf(messages, "%s: %zu graphs are there; say which one with --address:", program, c->n);
	for (i = 0; i < c->n; i++)
		fprintf(messages, " %s", c->texts[i]);
	fputc('\n', messages);
	return EZPROF_EXIT_USAGE;
}

static int choose_found(FILE *messages, const char *program, struct ezprof_graph_choice *choice)
{
	struct ez_address address;
	struct candidates *c = calloc(1, sizeof(*c));
	int status = EZPROF_EXIT_OK;

	if (!c)
		return EZPROF_EXIT_FAILURE;
	add_marks(c);
	add_agents(c, choice);
	if (c->n > 1) {
		status = complain_of_several(messages, program, c);
	} else if (c->n == 1 && ez_parse_address(c->texts[0], &address) == 0) {
		take(choice, &address);
	} else if (choice->agent_count == 0 &&
		   ez_parse_address(EZ_DEFAULT_ADDRESS, &address) == 0) {
		take(choice, &address);
		choice->is_default = true;
	}
	free(c);
	return status;
}

int ezprof_graph_choose_telling(FILE *messages, const char *program,
				const struct ez_address *address, bool agents,
				ez_mono_ns_t deadline_ns, struct ezprof_graph_choice *ret_choice)
{
	struct ezprof_graph_choice *choice = ret_choice;
	struct ez_address from_env;
	int err;

	memset(choice, 0, sizeof(*choice));
	if (agents) {
		choice->agents = calloc(EZPROF_AGENTS_MAX, sizeof(choice->agents[0]));
		if (!choice->agents)
			return EZPROF_EXIT_FAILURE;
		choice->agent_count =
			ezprof_agent_find(choice->agents, EZPROF_AGENTS_MAX, deadline_ns);
	}
	if (address) {
		take(choice, address);
		return EZPROF_EXIT_OK;
	}
	err = ez_address_from_env(&from_env);
	if (err == 0) {
		take(choice, &from_env);
		return EZPROF_EXIT_OK;
	}
	if (err != -ENOENT) {
		fprintf(messages, "%s: %s: host:port is wanted\n", program, EZ_ADDRESS_VARIABLE);
		return EZPROF_EXIT_USAGE;
	}
	return choose_found(messages, program, choice);
}

int ezprof_graph_choose(const char *program, const struct ez_address *address, bool agents,
			ez_mono_ns_t deadline_ns, struct ezprof_graph_choice *ret_choice)
{
	return ezprof_graph_choose_telling(stderr, program, address, agents, deadline_ns,
					   ret_choice);
}

int ezprof_graph_complain(FILE *messages, const char *program,
			  const struct ezprof_graph_choice *choice, int err)
{
	const char *next = "";

	if (choice->is_default)
		next = " (no graph server or agent was found on this machine: `ezprof serve` "
		       "starts one; ez.run prints where its own is, GraphServer @ HOST:PORT: give "
		       "it with --address)";
	else if (err == -ECONNREFUSED)
		next = " (`ezprof ps` lists the graphs of this machine)";
	else if (err == -EPROTO || err == -EMSGSIZE)
		next = " (is the port right? `ezprof ps` lists the graphs of this machine)";
	fprintf(messages, "%s: %s: %s%s\n", program, choice->text, ezprof_server_error(err), next);
	return EZPROF_EXIT_FAILURE;
}

void ezprof_graph_choice_free(struct ezprof_graph_choice *choice)
{
	free(choice->agents);
	choice->agents = NULL;
}
