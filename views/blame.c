/* SPDX-License-Identifier: MIT */
/* Follows blocked publishers down to the subscriber that all of them wait for. */
#include "flow.h"
#include "load.h"
#include "phrase.h"
#include "relation.h"
#include "root_part.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKED_BEHIND_SHARE 0.1
/* Below that a subscriber of which buffers are not known is no reason to be blocked. */
#define TOLD_BUSY_SHARE_MIN 0.3
/* The depth of a step while the way from it is followed. */
#define ON_PATH SIZE_MAX

/* The subscriber that keeps most of the publisher's buffers; the busier one of two alike. */
static size_t holder_of(const struct ezprof_model *model, size_t publisher)
{
	size_t best = EZPROF_NO_OBJECT;
	double most = 0.0;

	EZPROF_EACH_OF (model, EZPROF_LISTENERS_OF, publisher, found) {
		const struct ezprof_object *s = &model->objects[found->object];
		double weight = ezprof_held(s) * (1.0 + 0.5 * ezprof_busy_share(s));

		/* What ezmsg tells by itself knows no buffers, only who works. */
		if (ezprof_is_told_by_ezmsg(s))
			weight = ezprof_busy_share(s);
		if (weight > most) {
			most = weight;
			best = found->object;
		}
	}
	return best;
}

/*
 * Of the publishers that a subscriber feeds the one that is blocked most, if it is what holds it.
 * In a steady stream a publisher is blocked only where what comes behind is slower still, so a
 * tenth is enough, however busy the subscriber itself is.
 */
static size_t blocked_behind(const struct ezprof_why_context *c, size_t subscriber)
{
	double busy = ezprof_busy_share(&c->model->objects[subscriber]);
	double most = busy < BLOCKED_BEHIND_SHARE ? busy : BLOCKED_BEHIND_SHARE;
	const struct ezprof_found *found = ezprof_flow_best(&c->blocked, c->model, subscriber);

	return found && found->weight > most ? found->object : EZPROF_NO_OBJECT;
}

/* The walk along the steps comes back to path[first]: it ends where so many steps lead. */
static void end_circle(const struct ezprof_blame *blame, struct ezprof_blame_step *const *path,
		       size_t first, size_t n)
{
	size_t length = n - first, i;

	for (i = 0; i < length; i++) {
		struct ezprof_blame_step *step = path[first + i];

		step->depth = blame->n + 1;
		step->end = path[first + (i + blame->n) % length];
		step->before = path[first + (i + length - 1) % length];
		step->root = step->end->holder;
	}
}

/* Follows the steps to one of which the end is known; a circle ends after as many as there are. */
static void find_end(struct ezprof_blame *blame, size_t publisher)
{
	struct ezprof_blame_step *step = ezprof_blame_of(blame, publisher), **path = blame->waiting;
	size_t n = 0, first = 0;

	while (!step->depth && step->next != EZPROF_NO_OBJECT) {
		step->depth = ON_PATH;
		path[n++] = step;
		step = ezprof_blame_of(blame, step->next);
	}
	if (step->depth == ON_PATH) {
		while (path[first] != step)
			first++;
		end_circle(blame, path, first, n);
		n = first;
	} else if (!step->depth) {
		step->depth = 1;
		step->end = step;
		step->root = step->holder;
	}
	while (n) {
		bool circle = step->depth > blame->n;
		struct ezprof_blame_step *end = circle ? step->end->before : step->end;
		size_t depth = circle ? step->depth : step->depth + 1;

		step = path[--n];
		step->depth = depth;
		step->end = end;
		step->root = end->holder;
	}
}

/* Does any measured subscriber read what goes by this link? */
static bool is_measured(const struct ezprof_model *model, const struct ezprof_object *link)
{
	return ezprof_reader_on(model, link) != EZPROF_NO_OBJECT;
}

/* Buffers that the publisher's links to subscribers nobody measures hold, the most of one. */
static double held_unmeasured(const struct ezprof_model *model, size_t publisher)
{
	double most = 0.0;

	EZPROF_EACH_OF (model, EZPROF_LINKS_OF, publisher, found) {
		const struct ezprof_object *link = &model->objects[found->object];
		double held = ezprof_figure(link, EZPROF_LINK_IN_FLIGHT, 0.0);

		if (held > most && !is_measured(model, link))
			most = held;
	}
	return most;
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
	bool elsewhere = held_unmeasured(c->model, publisher) >= 1.0;
	size_t reader = EZPROF_NO_OBJECT;
	bool any = false;

	if (!finding)
		return;
	ez_buffer_init(&text, SIZE_MAX / 2);
	ezprof_say_publisher(&text, p);
	ez_buffer_append_text(&text, " is blocked ");
	ezprof_say_share(&text, share);
	ez_buffer_append_text(&text, " of the time");
	EZPROF_EACH_OF (c->model, EZPROF_LINKS_OF, publisher, found) {
		const struct ezprof_object *link = &c->model->objects[found->object];

		if (ezprof_figure(link, EZPROF_LINK_IN_FLIGHT, 0) < 1 ||
		    (elsewhere && is_measured(c->model, link)))
			continue;
		ezprof_put(&text, "%s pid %lld holds %.0f of its %.0f buffers", any ? "," : ";",
			   (long long)link->pid, ezprof_figure(link, EZPROF_LINK_IN_FLIGHT, 0),
			   ezprof_figure(p, EZPROF_PUB_NUM_BUFFERS, 0));
		ezprof_finding_rests_on(finding, found->object, EZPROF_LINK_IN_FLIGHT);
		any = true;
		if (reader == EZPROF_NO_OBJECT && !elsewhere)
			reader = ezprof_reader_in(c->model, link);
	}
	if (reader != EZPROF_NO_OBJECT)
		say_reader(&text, c->model, reader);
	else if (!any && ezprof_is_told_by_ezmsg(p))
		ez_buffer_append_text(&text, "; none of the subscribers that told anything is busy "
					     "enough to be the reason: ask again");
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

/* One finding for each root, with all that wait for it, from the source on. */
static void tell_root(struct ezprof_why_context *c, struct ezprof_blame *blame,
		      const struct ezprof_lookup *by_root, size_t root)
{
	size_t n = 0;

	EZPROF_EACH_FOUND (by_root, root, found) {
		blame->waiting[n] = ezprof_blame_of(blame, found->object);
		blame->waiting[n++]->told = true;
	}
	ezprof_why_root(c, root, blame, n);
}

/* Who waits for the same is found by the root, who has the longest way to it first. */
static void tell_roots(struct ezprof_why_context *c, struct ezprof_blame *blame)
{
	struct ezprof_lookup by_root = {0};
	int err = 0;
	size_t i;

	for (i = 0; i < blame->n && !err; i++) {
		const struct ezprof_blame_step *step = &blame->steps[i];

		if (step->root != EZPROF_NO_OBJECT)
			err = ezprof_lookup_add(&by_root, step->root, (double)step->depth,
						step->publisher);
	}
	ezprof_lookup_sort(&by_root);
	for (i = 0; i < blame->n && !err; i++) {
		if (blame->steps[i].root != EZPROF_NO_OBJECT && !blame->steps[i].told)
			tell_root(c, blame, &by_root, blame->steps[i].root);
	}
	c->findings->failed |= err != 0;
	ezprof_lookup_free(&by_root);
}

static void take_step(const struct ezprof_why_context *c, struct ezprof_blame_step *step, size_t p)
{
	const struct ezprof_model *model = c->model;

	*step = (struct ezprof_blame_step){.publisher = p,
					   .holder = EZPROF_NO_OBJECT,
					   .next = EZPROF_NO_OBJECT,
					   .root = EZPROF_NO_OBJECT};
	if (ezprof_blocked_share(&model->objects[p]) < EZPROF_BLOCKED_SHARE_MIN)
		return;
	step->holder = holder_of(model, p);
	/* The worst of those that are measured is not to blame for what others keep. */
	if (step->holder != EZPROF_NO_OBJECT &&
	    held_unmeasured(model, p) > ezprof_held(&model->objects[step->holder]))
		step->holder = EZPROF_NO_OBJECT;
	if (step->holder != EZPROF_NO_OBJECT)
		step->next = blocked_behind(c, step->holder);
	/* ezmsg tells of no buffers, so who is idle isn't the reason: somebody told nothing. */
	if (step->holder != EZPROF_NO_OBJECT && step->next == EZPROF_NO_OBJECT &&
	    ezprof_is_told_by_ezmsg(&model->objects[step->holder]) &&
	    ezprof_busy_share(&model->objects[step->holder]) < TOLD_BUSY_SHARE_MIN)
		step->holder = EZPROF_NO_OBJECT;
}

static void follow_all(struct ezprof_why_context *c, struct ezprof_blame *blame)
{
	const struct ezprof_model *model = c->model;
	size_t i;

	for (i = 0; i < blame->n; i++)
		take_step(c, &blame->steps[i], blame->first + i);
	for (i = 0; i < blame->n; i++) {
		if (blame->steps[i].holder != EZPROF_NO_OBJECT)
			find_end(blame, blame->first + i);
		else if (ezprof_blocked_share(&model->objects[blame->first + i]) >=
			 EZPROF_BLOCKED_SHARE_MIN)
			say_unknown_holder(c, blame->first + i);
	}
	tell_roots(c, blame);
}

void ezprof_why_blocked(struct ezprof_why_context *c)
{
	struct ezprof_blame blame = {.first = c->model->first[EZPROF_PUB]};

	blame.n = c->model->first[EZPROF_PUB + 1] - blame.first;
	blame.steps = calloc(blame.n + 1, sizeof(*blame.steps));
	blame.waiting = calloc(blame.n + 1, sizeof(*blame.waiting));
	if (blame.steps && blame.waiting)
		follow_all(c, &blame);
	else
		c->findings->failed = true;
	free(blame.steps);
	free(blame.waiting);
}
