/* SPDX-License-Identifier: MIT */
#include "graph_choice.h"
#include "census.h"
#include "exit_status.h"
#include "fd_limit.h"
#include "graph_address.h"
#include "hello.h"
#include "server_error.h"
#include "server_mark.h"
#include "user_name.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct candidates {
	char texts[EZPROF_CHOICES_MAX][EZ_ADDRESS_BYTES];
	size_t n;
	bool usual_is_foreign; /* whatever its users call this machine */
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
	struct ez_address address = {.host = "127.0.0.1"};
	char text[EZ_ADDRESS_BYTES];
	int i, n = ez_server_mark_list(NULL, 0, marks, EZPROF_CHOICES_MAX);

	for (i = 0; i < n; i++) {
		address.port = marks[i].port;
		ez_address_format(&address, text);
		add(c, text);
	}
}

/* A server that is known by its mark, whatever its users call this machine. */
static bool is_marked(const struct ezprof_census *census, const struct ezprof_census_graph *graph)
{
	for (size_t i = 0; i < census->n_graphs; i++) {
		const struct ezprof_census_graph *g = &census->graphs[i];

		if (g->ours && g != graph && graph->here && g->port == graph->port)
			return true;
	}
	return false;
}

/* Of several, the one where everybody looks first: it must not be taken for nobody's. */
static void note_foreign(struct candidates *c, struct ezprof_graph_choice *choice,
			 const struct ezprof_census_graph *graph)
{
	struct ez_address usual;
	bool is_usual = graph->here && ez_parse_address(EZ_DEFAULT_ADDRESS, &usual) == 0 &&
			graph->port == usual.port;

	if (*choice->foreign && !is_usual)
		return;
	c->usual_is_foreign = is_usual;
	snprintf(choice->foreign, sizeof(choice->foreign), "%s", graph->address);
	choice->foreign_uid = graph->foreign_uid;
}

/* By what processes say, where their server isn't gone. */
static void add_census(struct candidates *c, const struct ezprof_census *census,
		       struct ezprof_graph_choice *choice)
{
	for (size_t i = 0; i < census->n_graphs; i++) {
		const struct ezprof_census_graph *graph = &census->graphs[i];

		if (graph->here && !graph->listens)
			continue;
		if (graph->used && !is_marked(census, graph))
			add(c, graph->address);
		if (graph->foreign)
			note_foreign(c, choice, graph);
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

/* Where processes can't be looked at, marks and agents still count. */
static void look(struct candidates *c, struct ezprof_graph_choice *choice)
{
	struct ezprof_census *census;

	add_marks(c);
	if (ezprof_census_sees_any()) {
		/* Each process with probes takes some descriptors. */
		ez_fd_limit_raise();
		if (!ezprof_census_take(&census)) {
			add_census(c, census, choice);
			ezprof_census_free(census);
		}
	}
	add_agents(c, choice);
}

/* Nothing was found, not even where everybody looks first. */
static void complain_of_none(FILE *messages, const struct ezprof_graph_choice *choice)
{
	char name[EZPROF_USER_NAME_BYTES];

	if (*choice->foreign) {
		ezprof_user_name(choice->foreign_uid, name);
		fprintf(messages,
			" (a graph server of user %s is at %s; it isn't taken unasked: give "
			"--address %s, and set " EZ_HELLO_VARIABLE "=1 if it is ezprof's)",
			name, choice->foreign, choice->foreign);
		return;
	}
	fprintf(messages,
		" (no graph server%s was found on this machine: `ezprof serve` starts one; ez.run "
		"prints where its own is, GraphServer @ HOST:PORT: give it with --address)",
		choice->agent_count ? "" : " or agent");
}

/* At the usual address is somebody else's: what is meant for one's own must not be sent there. */
static int refuse(FILE *messages, const char *program, struct ezprof_graph_choice *choice)
{
	choice->is_refused = true;
	fprintf(messages, "%s: no graph is chosen", program);
	complain_of_none(messages, choice);
	fputc('\n', messages);
	return EZPROF_EXIT_FAILURE;
}

static int choose_found(FILE *messages, const char *program, bool server_only,
			struct ezprof_graph_choice *choice)
{
	struct ez_address address;
	struct candidates c = {.n = 0};

	look(&c, choice);
	if (c.n > 1)
		return complain_of_several(messages, program, &c);
	if (c.n == 1 && ez_parse_address(c.texts[0], &address) == 0) {
		take(choice, &address);
	} else if ((server_only || choice->agent_count == 0) &&
		   ez_parse_address(EZ_DEFAULT_ADDRESS, &address) == 0) {
		if (c.usual_is_foreign)
			return refuse(messages, program, choice);
		take(choice, &address);
		choice->is_default = true;
	}
	return EZPROF_EXIT_OK;
}

static int find_agents(struct ezprof_graph_choice *choice, ez_mono_ns_t deadline_ns)
{
	choice->agents = calloc(EZPROF_AGENTS_MAX, sizeof(choice->agents[0]));
	if (!choice->agents)
		return EZPROF_EXIT_FAILURE;
	choice->agent_count = ezprof_agent_find(choice->agents, EZPROF_AGENTS_MAX, deadline_ns);
	return EZPROF_EXIT_OK;
}

int ezprof_graph_choose_telling(FILE *messages, const char *program,
				const struct ez_address *address, bool server_only,
				ez_mono_ns_t deadline_ns, struct ezprof_graph_choice *ret_choice)
{
	struct ezprof_graph_choice *choice = ret_choice;
	struct ez_address from_env;
	int status, err = address ? 0 : ez_address_from_env(&from_env);

	memset(choice, 0, sizeof(*choice));
	if (err && err != -ENOENT) {
		fprintf(messages, "%s: %s: host:port is wanted\n", program, EZ_ADDRESS_VARIABLE);
		return EZPROF_EXIT_USAGE;
	}
	if (err || !server_only) {
		status = find_agents(choice, deadline_ns);
		if (status)
			return status;
	}
	if (err)
		return choose_found(messages, program, server_only, choice);
	take(choice, address ? address : &from_env);
	return EZPROF_EXIT_OK;
}

int ezprof_graph_choose(const char *program, const struct ez_address *address, bool server_only,
			ez_mono_ns_t deadline_ns, struct ezprof_graph_choice *ret_choice)
{
	return ezprof_graph_choose_telling(stderr, program, address, server_only, deadline_ns,
					   ret_choice);
}

int ezprof_graph_complain(FILE *messages, const char *program,
			  const struct ezprof_graph_choice *choice, int err)
{
	fprintf(messages, "%s: %s: %s", program, choice->text, ezprof_server_error(err));
	if (choice->is_default)
		complain_of_none(messages, choice);
	else if (err == -ECONNREFUSED)
		fprintf(messages, " (`ezprof ps` lists the graphs of this machine)");
	else if (err == -EPROTO || err == -EMSGSIZE)
		fprintf(messages, " (is the port right? `ezprof ps` lists the graphs of this "
				  "machine)");
	fputc('\n', messages);
	return EZPROF_EXIT_FAILURE;
}

void ezprof_graph_choice_free(struct ezprof_graph_choice *choice)
{
	free(choice->agents);
	choice->agents = NULL;
}
