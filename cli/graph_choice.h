/* SPDX-License-Identifier: MIT */
/*
 * Which graph is meant, when nobody says so: the environment, else what is found on this machine:
 * by marks of graph servers, by what processes with probes say of themselves, by agents. One is
 * taken; of several none is. Every command that wants a graph chooses it here.
 */
#ifndef EZPROF_GRAPH_CHOICE_H
#define EZPROF_GRAPH_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "agent_client.h"
#include "clock.h"
#include "parse.h"

#define EZPROF_CHOICES_MAX 64u
#define EZPROF_AGENTS_MAX 64u

struct ezprof_graph_choice {
	bool have_address; /* false: no graph server is named anywhere */
	bool is_default;   /* nothing was found: it is the usual address */
	struct ez_address address;
	char text[EZ_ADDRESS_BYTES];	   /* the address */
	struct ezprof_agent_found *agents; /* all that are there */
	size_t agent_count;
	/*
	 * A server of a user whose word doesn't count: never taken, only told of. "" = none. The
	 * one at the usual address, if that is one: then nothing is chosen, as is_refused says.
	 */
	char foreign[EZ_ADDRESS_BYTES];
	uid_t foreign_uid;
	bool is_refused;
};

/*
 * address: what --address said, or NULL. server_only: agents won't be asked for documents, so an
 * address comes out in any case, and agents are looked for only where that takes it. To look at the
 * machine costs some 0.1 s: not for a loop. Prints why not, and returns an exit status, 0 = chosen.
 * ezprof_graph_choice_free() it in any case. Blocks up to the deadline; any
 * thread, and several at a time: each takes a census of its own.
 */
int ezprof_graph_choose(const char *program, const struct ez_address *address, bool server_only,
			ez_mono_ns_t deadline_ns, struct ezprof_graph_choice *ret_choice);

/* The same, with another place than stderr for what it prints. */
int ezprof_graph_choose_telling(FILE *messages, const char *program,
				const struct ez_address *address, bool server_only,
				ez_mono_ns_t deadline_ns, struct ezprof_graph_choice *ret_choice);
/*
 * Prints that the server of the graph could not be asked, and what to do next. err: of client.h.
 * Returns the exit status.
 */
int ezprof_graph_complain(FILE *messages, const char *program,
			  const struct ezprof_graph_choice *choice, int err);

void ezprof_graph_choice_free(struct ezprof_graph_choice *choice);

#endif
