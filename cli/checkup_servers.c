/* SPDX-License-Identifier: MIT */
/* Checks of graph servers, and of the settings that say which one is meant; see checkup.h. */
#include "census.h"
#include "checkup.h"
#include "client.h"
#include "clock.h"
#include "graph_choice.h"
#include "hello.h"
#include "greeting.h"
#include "hello_json.h"
#include "server_error.h"
#include "text_width.h"
#include "user_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "ezprof doctor"
/* Each is asked for a moment only; of many, the first ones. */
#define ASK_MS 1000
#define ASKED_MAX 16u
#define LOOK_MS 2500
#define VERSION_COLUMNS 32u

/* Words of a peer, for a terminal. */
static void copy_shown(char *to, size_t size, const char *text)
{
	struct ez_buffer shown;

	ez_buffer_init(&shown, size);
	ezprof_put_shortened(&shown, text, VERSION_COLUMNS);
	snprintf(to, size, "%.*s", shown.err ? 0 : (int)shown.len,
		 shown.data ? (const char *)shown.data : "");
	ez_buffer_free(&shown);
}

/* What it greets with, as ezmsg's version; and what it says of itself, if it is one of ours. */
static int ask(const struct ez_address *address, bool ours, char *ret_ezmsg, char *ret_own,
	       size_t size)
{
	char greeting[EZ_VERSION_BYTES], version[EZ_VERSION_BYTES], *answer;
	ez_mono_ns_t deadline_ns = ez_clock_deadline_ns(ASK_MS);
	int err = ez_client_ping(address, deadline_ns, greeting);

	if (err)
		return err;
	copy_shown(ret_ezmsg, size, greeting);
	ret_own[0] = '\0';
	err = ours ? ez_hello_ask(address, PROGRAM, deadline_ns, &answer) : 0;
	if (err || !ours)
		return err;
	ezprof_hello_version(answer, version, sizeof(version));
	free(answer);
	copy_shown(ret_own, size, version);
	return 0;
}

static void add_ours(struct ezprof_checkup *c, const char *address, const char *who,
		     const char *own, const char *ezmsg)
{
	bool same = strcmp(own, EZPROF_VERSION) == 0;
	char fix[400];

	snprintf(fix, sizeof(fix),
		 "ezprof shutdown --address %.150s; ezprof serve --address %.150s", address,
		 address);
	ezprof_checkup_add(c, "server", same ? EZPROF_HEALTHY : EZPROF_AILING, same ? NULL : fix,
			   "ezprof's graph server at %s, %s, version %s%s, greets as ezmsg %s",
			   address, who, *own ? own : "not known",
			   same ? "" : ", and this program is " EZPROF_VERSION, ezmsg);
}

static void add_silent(struct ezprof_checkup *c, const struct ezprof_census_graph *g,
		       const char *who, int err)
{
	char fix[200];

	if (g->server_pid)
		snprintf(fix, sizeof(fix), "kill %d, if nobody needs it; then: ezprof serve",
			 (int)g->server_pid);
	else
		snprintf(fix, sizeof(fix),
			 "ezprof serve --address 127.0.0.1:0, and its address in "
			 "EZMSG_GRAPHSERVER_ADDR");
	ezprof_checkup_add(c, "server", g->ours ? EZPROF_SICK : EZPROF_AILING, fix,
			   "%s at %s, %s: %s",
			   g->ours ? "ezprof's graph server" : "somebody listens", g->address, who,
			   ezprof_server_error(err));
}

/* Nobody who can be believed says that there is a graph server: nothing is sent there. */
static void add_foreign(struct ezprof_checkup *c, const struct ezprof_census_graph *g)
{
	char name[EZPROF_USER_NAME_BYTES];

	ezprof_user_name(g->foreign_uid, name);
	ezprof_checkup_add(c, "server", EZPROF_HEALTHY, NULL,
			   "a graph server of user %s at %s, as that user says; not asked", name,
			   g->address);
}

static void add_server(struct ezprof_checkup *c, const struct ezprof_census_graph *g, bool is_asked)
{
	char who[32] = "another user's", own[128] = "", ezmsg[128] = "";
	struct ez_address address;
	int err;

	if (g->foreign) {
		add_foreign(c, g);
		return;
	}
	if (g->server_pid)
		snprintf(who, sizeof(who), "pid %d", (int)g->server_pid);
	if (!is_asked || ez_parse_address(g->address, &address)) {
		ezprof_checkup_add(c, "server", EZPROF_HEALTHY, NULL, "%s at %s, %s; not asked",
				   g->ours ? "ezprof's graph server" : "somebody listens",
				   g->address, who);
		return;
	}
	err = ask(&address, g->ours, ezmsg, own, sizeof(own));
	if (err)
		add_silent(c, g, who, err);
	else if (g->ours)
		add_ours(c, g->address, who, own, ezmsg);
	else
		ezprof_checkup_add(
			c, "server", EZPROF_HEALTHY, NULL,
			"a graph server at %s, %s: ezmsg %s, Python's as far as is known",
			g->address, who, ezmsg);
}

static void add_unchosen(struct ezprof_checkup *c, const char *told)
{
	static const char list[] = "--address: ";
	const char *first = strstr(told, list);
	char fix[400];

	if (getenv(EZ_ADDRESS_VARIABLE)) {
		ezprof_checkup_add(c, "graph", EZPROF_SICK,
				   "unset " EZ_ADDRESS_VARIABLE ", or export " EZ_ADDRESS_VARIABLE
				   "=" EZ_DEFAULT_ADDRESS,
				   "%s", told);
		return;
	}
	first = first ? first + strlen(list) : "HOST:PORT";
	snprintf(fix, sizeof(fix), "export " EZ_ADDRESS_VARIABLE "=%.*s (or another of them)",
		 (int)strcspn(first, " "), first);
	ezprof_checkup_add(c, "graph", EZPROF_AILING, fix, "%s", told);
}

static void add_foreign_choice(struct ezprof_checkup *c, const struct ezprof_graph_choice *choice)
{
	char fix[400];

	snprintf(fix, sizeof(fix),
		 "export " EZ_ADDRESS_VARIABLE "=%s, and " EZ_HELLO_VARIABLE "=1 if it is ezprof's",
		 choice->foreign);
	ezprof_checkup_add(c, "graph", EZPROF_AILING, fix,
			   "%s%s: none was found but another user's, which isn't taken unasked",
			   choice->is_refused ? "none is chosen" : choice->text,
			   choice->is_refused ? "" : ", by default");
}

static void add_choice(struct ezprof_checkup *c, const struct ezprof_graph_choice *choice)
{
	if (!choice->have_address)
		ezprof_checkup_add(c, "graph", EZPROF_HEALTHY, NULL,
				   "none is named; agents are asked for all they measure");
	else if (choice->is_default && *choice->foreign)
		add_foreign_choice(c, choice);
	else
		ezprof_checkup_add(c, "graph", EZPROF_HEALTHY, NULL, "%s, %s", choice->text,
				   getenv(EZ_ADDRESS_VARIABLE) ? "from " EZ_ADDRESS_VARIABLE
								 " in the environment"
				   : choice->is_default ? "by default: none was found"
							: "the only one that was found here");
}

/* Where --address says nothing: which graph is meant, and why. */
static void check_choice(struct ezprof_checkup *c)
{
	struct ezprof_graph_choice choice;
	char *told = NULL;
	size_t n = 0, begin = strlen(PROGRAM ": ");
	FILE *messages = open_memstream(&told, &n);
	int status;

	if (!messages)
		return;
	status = ezprof_graph_choose_telling(messages, PROGRAM, NULL, false,
					     ez_clock_deadline_ns(LOOK_MS), &choice);
	if (!fclose(messages) && told) {
		told[strcspn(told, "\n")] = '\0';
		if (choice.is_refused)
			add_foreign_choice(c, &choice);
		else if (status)
			add_unchosen(c, strlen(told) > begin ? told + begin : "can't be chosen");
		else
			add_choice(c, &choice);
	}
	ezprof_graph_choice_free(&choice);
	free(told);
}

static void check_hello(struct ezprof_checkup *c)
{
	const char *wish = getenv(EZ_HELLO_VARIABLE);
	bool always = wish && strcmp(wish, "1") == 0, never = wish && strcmp(wish, "0") == 0;

	ezprof_checkup_add(c, "hello", !wish || always || never ? EZPROF_HEALTHY : EZPROF_AILING,
			   !wish || always || never ? NULL : "unset " EZ_HELLO_VARIABLE,
			   "%s: a server is asked whether it is ezprof's %s",
			   !wish    ? EZ_HELLO_VARIABLE " is not set"
			   : always ? EZ_HELLO_VARIABLE "=1 in the environment"
			   : never  ? EZ_HELLO_VARIABLE "=0 in the environment"
				   : EZ_HELLO_VARIABLE " is neither 0 nor 1, and counts as not set",
			   always  ? "wherever it is"
			   : never ? "nowhere"
				   : "on other hosts only; here its mark says so");
}

void ezprof_checkup_servers(struct ezprof_checkup *c, const struct ezprof_census *census)
{
	unsigned int found = 0;

	for (size_t i = 0; i < census->n_graphs; i++) {
		if (!census->graphs[i].listens)
			continue;
		add_server(c, &census->graphs[i], found < ASKED_MAX);
		found++;
	}
	if (!found)
		ezprof_checkup_add(c, "server", EZPROF_AILING, "ezprof serve",
				   "no graph server is known on this machine");
	check_choice(c);
	check_hello(c);
}
