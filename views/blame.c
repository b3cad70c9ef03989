/* SPDX-License-Identifier: MIT */
/* Follows blocked publishers down to the subscriber that all of them wait for. */
#include "flow.h"
#include "load.h"
#include "phrase.h"
#include "why_part.h"

#include <stdlib.h>

#define CHAIN_MAX EZPROF_WAITING_MAX
#define BLOCKED_BEHIND_SHARE 0.1

/* A publisher's chain: itself, then the blocked publishers on the way to the root. */
struct chain {
	size_t publishers[CHAIN_MAX];
	size_t n;
	size_t root; /* a subscriber, or EZPROF_NO_OBJECT: nobody that is measured */
};

/* The subscriber that keeps most of the publisher's buffers; the busier one of two alike. */
static size_t holder_of(const struct ezprof_model *model, size_t publisher)
{
	size_t best = EZPROF_NO_OBJECT;
	double most = 0.0;

	EZPROF_EACH (model, EZPROF_SUB, i) {
		const struct ezprof_object *s = &model->objects[i];
		double weight = ezprof_held(s) * (1.0 + 0.5 * ezprof_busy_share(s));

		/* What ezmsg tells by itself knows no buffers, only who works. */
		if (ezprof_is_told_by_ezmsg(s))
			weight = ezprof_busy_share(s);
		if (s->from == publisher && weight > most) {
			most = weight;
			best = i;
		}
	}
	return best;
}

static bool is_in(const struct chain *chain, size_t publisher)
{
	size_t i;

	for (i = 0; i < chain->n; i++) {
		if (chain->publishers[i] == publisher)
			return true;
	}
	return false;
}

/*
 * Of the publishers that a subscriber feeds the one that is blocked most, if it is what holds it.
 * In a steady stream a publisher is blocked only where what comes behind is slower still, so a
 * tenth is enough, however busy the subscriber itself is.
 */
static size_t blocked_behind(const struct ezprof_model *model, const struct chain *chain,
			     size_t subscriber)
{
	double busy = ezprof_busy_share(&model->objects[subscriber]);
	double most = busy < BLOCKED_BEHIND_SHARE ? busy : BLOCKED_BEHIND_SHARE;
	size_t best = EZPROF_NO_OBJECT;

	EZPROF_EACH (model, EZPROF_PUB, i) {
		double share = ezprof_blocked_share(&model->objects[i]);

		if (share >= EZPROF_BLOCKED_SHARE_MIN && share > most && !is_in(chain, i) &&
		    ezprof_flow(model, subscriber, i)) {
			most = share;
			best = i;
		}
	}
	return best;
}

static void follow(const struct ezprof_model *model, size_t publisher, struct chain *chain)
{
	chain->n = 0;
	while (publisher != EZPROF_NO_OBJECT && chain->n < CHAIN_MAX) {
		chain->publishers[chain->n++] = publisher;
		chain->root = holder_of(model, publisher);
		if (chain->root == EZPROF_NO_OBJECT)
			return;
		publisher = blocked_behind(model, chain, chain->root);
	}
}

/* The subscriber of the process that a link goes to, if it is measured. */
static size_t reader_of(const struct ezprof_model *model, const struct ezprof_object *link)
{
	EZPROF_EACH (model, EZPROF_SUB, i) {
		if (link->pid && model->objects[i].pid == link->pid &&
		    model->objects[i].from == link->parent)
			return i;
	}
	return EZPROF_NO_OBJECT;
}

/* It has leased nothing: what it was sent is still on its socket. */
static void say_reader(struct ez_buffer *text, const struct ezprof_model *model, size_t reader)
{
	ez_buffer_append_text(text, ", and ");
	ezprof_say_subscriber_name(text, model, &model->objects[reader]);
	ez_buffer_append_text(text, " doesn't take them: is that process stopped?");
}

/* Nobody whose figures are there keeps the buffers: say whose processes do. */
static void say_unknown_holder(struct ezprof_why_context *c, size_t publisher)
{
	const struct ezprof_object *p = &c->model->objects[publisher];
	double share = ezprof_blocked_share(p);
	struct ezprof_finding *finding =
		ezprof_finding_add(c->findings, EZPROF_FINDING_BLOCKED, publisher, 100.0 * share);
	struct ez_buffer text;
	size_t reader = EZPROF_NO_OBJECT;
	bool any = false;

	if (!finding)
		return;
	ez_buffer_init(&text, SIZE_MAX / 2);
	ezprof_say_publisher(&text, p);
	ez_buffer_append_text(&text, " is blocked ");
	ezprof_say_share(&text, share);
	ez_buffer_append_text(&text, " of the time");
	EZPROF_EACH (c->model, EZPROF_LINK, i) {
		const struct ezprof_object *link = &c->model->objects[i];

		if (link->parent != publisher || ezprof_figure(link, EZPROF_LINK_IN_FLIGHT, 0) < 1)
			continue;
		ezprof_put(&text, "%s pid %lld holds %.0f of its %.0f buffers", any ? "," : ";",
			   (long long)link->pid, ezprof_figure(link, EZPROF_LINK_IN_FLIGHT, 0),
			   ezprof_figure(p, EZPROF_PUB_NUM_BUFFERS, 0));
		ezprof_finding_rests_on(finding, i, EZPROF_LINK_IN_FLIGHT);
		any = true;
		if (reader == EZPROF_NO_OBJECT)
			reader = reader_of(c->model, link);
	}
	if (reader != EZPROF_NO_OBJECT)
		say_reader(&text, c->model, reader);
	else
		ez_buffer_append_text(
			&text,
			any ? ", whose subscribers nobody measures: sudo ezprof-bpf attach that pid"
			    : "; none of the subscribers that are measured holds its buffers");
	if (reader == EZPROF_NO_OBJECT)
		ez_buffer_append_text(&text, ".");
	ezprof_finding_rests_on(finding, publisher, EZPROF_PUB_BLOCKED_SHARE);
	ezprof_finding_say(c->findings, finding, &text);
}

static void add_missing(size_t *list, size_t *n, const struct chain *chain)
{
	size_t i, k;

	for (i = 0; i < chain->n; i++) {
		for (k = 0; k < *n && list[k] != chain->publishers[i]; k++)
			;
		if (k == *n && *n < EZPROF_WAITING_MAX)
			list[(*n)++] = chain->publishers[i];
	}
}

/* One finding for each root, with all that wait for it. */
static void tell_root(struct ezprof_why_context *c, const struct chain *chains, size_t n,
		      size_t first)
{
	size_t waiting[EZPROF_WAITING_MAX], n_waiting = 0, i, length;

	for (i = 0; i < first; i++) {
		if (chains[i].root == chains[first].root)
			return;
	}
	/* The longest chain first: from the source to the root. */
	for (length = CHAIN_MAX; length > 0; length--) {
		for (i = first; i < n; i++) {
			if (chains[i].root == chains[first].root && chains[i].n == length)
				add_missing(waiting, &n_waiting, &chains[i]);
		}
	}
	ezprof_why_root(c, chains[first].root, waiting, n_waiting);
}

void ezprof_why_blocked(struct ezprof_why_context *c)
{
	const struct ezprof_model *model = c->model;
	size_t room = model->first[EZPROF_PUB + 1] - model->first[EZPROF_PUB], n = 0, i;
	struct chain *chains = calloc(room ? room : 1, sizeof(*chains));

	if (!chains) {
		c->findings->failed = true;
		return;
	}
	EZPROF_EACH (model, EZPROF_PUB, p) {
		if (ezprof_blocked_share(&model->objects[p]) < EZPROF_BLOCKED_SHARE_MIN)
			continue;
		follow(model, p, &chains[n]);
		if (chains[n].root != EZPROF_NO_OBJECT)
			n++;
		else if (chains[n].n == 1)
			say_unknown_holder(c, p);
	}
	for (i = 0; i < n; i++)
		tell_root(c, chains, n, i);
	free(chains);
}
