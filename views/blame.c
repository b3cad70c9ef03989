/* SPDX-License-Identifier: MIT */
/* Follows blocked publishers down to the subscriber that all of them wait for. */
#include "flow.h"
#include "load.h"
#include "phrase.h"
#include "root_part.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKED_BEHIND_SHARE 0.1
/* Below that a subscriber of which buffers are not known is no reason to be blocked. */
#define TOLD_BUSY_SHARE_MIN 0.3

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

/*
 * Of the publishers that a subscriber feeds the one that is blocked most, if it is what holds it.
 * In a steady stream a publisher is blocked only where what comes behind is slower still, so a
 * tenth is enough, however busy the subscriber itself is.
 */
static size_t blocked_behind(const struct ezprof_model *model, size_t publisher, size_t subscriber)
{
	double busy = ezprof_busy_share(&model->objects[subscriber]);
	double most = busy < BLOCKED_BEHIND_SHARE ? busy : BLOCKED_BEHIND_SHARE;
	size_t best = EZPROF_NO_OBJECT;

	EZPROF_EACH (model, EZPROF_PUB, i) {
		double share = ezprof_blocked_share(&model->objects[i]);

		if (share >= EZPROF_BLOCKED_SHARE_MIN && share > most && i != publisher &&
		    ezprof_flow(model, subscriber, i)) {
			most = share;
			best = i;
		}
	}
	return best;
}

/* Follows the steps; a circle ends where it was found to be one. */
static void find_end(struct ezprof_blame *blame, size_t publisher)
{
	struct ezprof_blame_step *first = ezprof_blame_of(blame, publisher), *step = first;

	first->depth = 1;
	while (step->next != EZPROF_NO_OBJECT && first->depth <= blame->n) {
		step = ezprof_blame_of(blame, step->next);
		first->depth++;
	}
	first->root = step->holder;
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

/* Does any measured subscriber read what goes by this link? */
static bool is_measured(const struct ezprof_model *model, const struct ezprof_object *link)
{
	const char *id = ezprof_label(link, EZPROF_LABEL_CHANNEL_ID);

	EZPROF_EACH (model, EZPROF_SUB, i) {
		if (model->objects[i].from == link->parent &&
		    strcmp(ezprof_label(&model->objects[i], EZPROF_LABEL_CHANNEL_ID), id) == 0)
			return true;
	}
	return false;
}

/* Buffers that the publisher's links to subscribers nobody measures hold, the most of one. */
static double held_unmeasured(const struct ezprof_model *model, size_t publisher)
{
	double most = 0.0;

	EZPROF_EACH (model, EZPROF_LINK, i) {
		const struct ezprof_object *link = &model->objects[i];
		double held = ezprof_figure(link, EZPROF_LINK_IN_FLIGHT, 0.0);

		if (link->parent == publisher && held > most && !is_measured(model, link))
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
	EZPROF_EACH (c->model, EZPROF_LINK, i) {
		const struct ezprof_object *link = &c->model->objects[i];

		if (link->parent != publisher ||
		    ezprof_figure(link, EZPROF_LINK_IN_FLIGHT, 0) < 1 ||
		    (elsewhere && is_measured(c->model, link)))
			continue;
		ezprof_put(&text, "%s pid %lld holds %.0f of its %.0f buffers", any ? "," : ";",
			   (long long)link->pid, ezprof_figure(link, EZPROF_LINK_IN_FLIGHT, 0),
			   ezprof_figure(p, EZPROF_PUB_NUM_BUFFERS, 0));
		ezprof_finding_rests_on(finding, i, EZPROF_LINK_IN_FLIGHT);
		any = true;
		if (reader == EZPROF_NO_OBJECT && !elsewhere)
			reader = reader_of(c->model, link);
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

static int by_depth(const void *a, const void *b)
{
	const struct ezprof_blame_step *x = *(const struct ezprof_blame_step *const *)a;
	const struct ezprof_blame_step *y = *(const struct ezprof_blame_step *const *)b;

	if (x->depth != y->depth)
		return x->depth > y->depth ? -1 : 1;
	return x->publisher < y->publisher ? -1 : x->publisher > y->publisher;
}

/* One finding for each root, with all that wait for it, from the source on. */
static void tell_root(struct ezprof_why_context *c, struct ezprof_blame *blame, size_t first)
{
	size_t root = blame->steps[first].root, i, n = 0;

	for (i = 0; i < first; i++) {
		if (blame->steps[i].root == root)
			return;
	}
	for (i = first; i < blame->n; i++) {
		if (blame->steps[i].root == root)
			blame->waiting[n++] = &blame->steps[i];
	}
	qsort(blame->waiting, n, sizeof(blame->waiting[0]), by_depth);
	ezprof_why_root(c, root, blame, n);
}

static void take_step(const struct ezprof_model *model, struct ezprof_blame_step *step, size_t p)
{
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
		step->next = blocked_behind(model, p, step->holder);
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
		take_step(model, &blame->steps[i], blame->first + i);
	for (i = 0; i < blame->n; i++) {
		if (blame->steps[i].holder != EZPROF_NO_OBJECT)
			find_end(blame, blame->first + i);
		else if (ezprof_blocked_share(&model->objects[blame->first + i]) >=
			 EZPROF_BLOCKED_SHARE_MIN)
			say_unknown_holder(c, blame->first + i);
	}
	for (i = 0; i < blame->n; i++) {
		if (blame->steps[i].root != EZPROF_NO_OBJECT)
			tell_root(c, blame, i);
	}
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
