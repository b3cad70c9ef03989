/* SPDX-License-Identifier: MIT */
#include "graph_set.h"
#include "graph_address.h"
#include "graph_link.h"
#include "hello.h"
#include "parse.h"
#include "server_mark.h"
#include "snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UIDS_MAX 32u

struct ezprof_graph_set {
	const struct ezprof_measurement *measurement;
	char *address; /* the only graph; NULL: those that processes name */
	char known[EZPROF_GRAPHS_MAX][EZ_ADDRESS_BYTES]; /* to be ours */
	size_t known_count;
	uid_t uids[UIDS_MAX]; /* of the processes */
	size_t uid_count;
	struct ezprof_graph_link *links[EZPROF_GRAPHS_MAX];
	size_t link_count;
	struct ezprof_graph_set_handler handler;
};

static void note_uid(struct ezprof_graph_set *set, uid_t uid)
{
	size_t i;

	for (i = 0; i < set->uid_count; i++) {
		if (set->uids[i] == uid)
			return;
	}
	if (set->uid_count < UIDS_MAX)
		set->uids[set->uid_count++] = uid;
}

static size_t add_address(const char **addresses, size_t n, const char *address)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (ezprof_same_graph(addresses[i], address))
			return n;
	}
	if (*address && n < EZPROF_GRAPHS_MAX)
		addresses[n++] = address;
	return n;
}

size_t ezprof_graph_set_addresses(const struct ezprof_graph_set *set, uid_t viewer,
				  const char *ret_addresses[EZPROF_GRAPHS_MAX])
{
	const struct ezprof_measurement *m = set->measurement;
	size_t i, j, n = 0;

	if (set->address) {
		ret_addresses[0] = set->address;
		return 1;
	}
	for (i = 0; i < m->target_count; i++) {
		const struct ezprof_target *t = m->targets[i];

		if (t->state != EZPROF_TARGET_ATTACHED ||
		    (viewer != EZPROF_VIEWER_ALL && viewer != t->process->uid))
			continue;
		for (j = 0; j < t->object_count; j++) {
			const char *graph = ezprof_target_graph(t, j);

			if (graph)
				n = add_address(ret_addresses, n, graph);
		}
	}
	return n;
}

static bool has_mark(const struct ezprof_graph_set *set, uint16_t port)
{
	size_t i;

	if (!set->measurement->opener)
		return false;
	for (i = 0; i < set->uid_count; i++) {
		if (ezprof_opener_mark(set->measurement->opener, port, set->uids[i]) == 0)
			return true;
	}
	return false;
}

static void note_uids(struct ezprof_graph_set *set)
{
	const struct ezprof_measurement *m = set->measurement;

	for (size_t i = 0; i < m->target_count; i++)
		note_uid(set, m->targets[i]->process->uid);
}

/*
 * A mark settles it for loopback; elsewhere only traffic would, which the link makes. The opener is
 * asked, since marks are their owners' only and the agent is nobody.
 */
static void note_known(struct ezprof_graph_set *set, const char *text)
{
	struct ez_address address;

	if (set->known_count < EZPROF_GRAPHS_MAX && !ez_parse_address(text, &address) &&
	    ez_address_is_loopback(&address) && has_mark(set, address.port))
		ez_address_format(&address, set->known[set->known_count++]);
}

struct ezprof_graph_set *ezprof_graph_set_new(const struct ezprof_measurement *measurement,
					      const char *address)
{
	struct ezprof_graph_set *set = calloc(1, sizeof(*set));

	if (!set)
		return NULL;
	set->measurement = measurement;
	if (address) {
		set->address = strdup(address);
		if (!set->address) {
			free(set);
			return NULL;
		}
	}
	return set;
}

void ezprof_graph_set_unlink(struct ezprof_graph_set *set)
{
	size_t i;

	for (i = 0; i < set->link_count; i++)
		ezprof_graph_link_free(set->links[i]);
	set->link_count = 0;
}

void ezprof_graph_set_free(struct ezprof_graph_set *set)
{
	if (!set)
		return;
	ezprof_graph_set_unlink(set);
	free(set->address);
	free(set);
}

const char *ezprof_graph_set_filter(const struct ezprof_graph_set *set, const char *graph)
{
	return set->address && ezprof_same_graph(set->address, graph) ? NULL : graph;
}

static char *on_profile(void *context, struct ezprof_graph_link *link, uint64_t window_ms)
{
	struct ezprof_graph_set *set = context;
	const char *graph = ezprof_graph_set_filter(set, ezprof_graph_link_address(link));

	return set->handler.profile(set->handler.context, graph, window_ms);
}

static void on_changed(void *context, struct ezprof_graph_link *link, enum ezprof_graph_state state,
		       int err)
{
	struct ezprof_graph_set *set = context;
	const char *address = ezprof_graph_link_address(link);
	char line[EZ_ADDRESS_BYTES + 200];

	switch (state) {
	case EZPROF_GRAPH_LINKED:
		snprintf(line, sizeof(line), "graph server %s: registered", address);
		break;
	case EZPROF_GRAPH_FOREIGN:
		snprintf(line, sizeof(line),
			 "graph server %s: not known as one of ezprof's, so it is left alone; "
			 "`ezprof profile` asks this agent instead",
			 address);
		break;
	case EZPROF_GRAPH_LOST:
		snprintf(line, sizeof(line), "graph server %s: %s; trying again", address,
			 err == -ECONNRESET ? "the link was closed" : strerror(-err));
		break;
	default:
		return;
	}
	set->handler.say(set->handler.context, line);
}

static bool is_known(const struct ezprof_graph_set *set, const char *address)
{
	size_t i;

	for (i = 0; i < set->known_count; i++) {
		if (ezprof_same_graph(set->known[i], address))
			return true;
	}
	return false;
}

static void add_link(struct ezprof_graph_set *set, struct event_base *base, const char *address)
{
	struct ezprof_graph_link_options options = {
		.address = address, .profile = on_profile, .changed = on_changed, .context = set};
	size_t i;

	for (i = 0; i < set->link_count; i++) {
		if (ezprof_same_graph(ezprof_graph_link_address(set->links[i]), address))
			return;
	}
	note_uids(set);
	note_known(set, address);
	options.known_as_ours = is_known(set, address);
	options.uids = set->uids;
	options.uid_count = set->uid_count;
	if (set->link_count < EZPROF_GRAPHS_MAX &&
	    ezprof_graph_link_new(base, &options, &set->links[set->link_count]) == 0)
		set->link_count++;
}

void ezprof_graph_set_update(struct ezprof_graph_set *set, struct event_base *base,
			     const struct ezprof_graph_set_handler *handler)
{
	const char *addresses[EZPROF_GRAPHS_MAX];
	size_t i, n;

	set->handler = *handler;
	n = ezprof_graph_set_addresses(set, EZPROF_VIEWER_ALL, addresses);
	for (i = 0; i < n; i++)
		add_link(set, base, addresses[i]);
}

bool ezprof_graph_set_settled(const struct ezprof_graph_set *set)
{
	size_t i;

	for (i = 0; i < set->link_count; i++) {
		if (ezprof_graph_link_state(set->links[i]) == EZPROF_GRAPH_CONNECTING)
			return false;
	}
	return true;
}
