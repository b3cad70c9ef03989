/* SPDX-License-Identifier: MIT */
/* The parts of why.c: each looks for findings of some kinds. Private to them. */
#ifndef EZPROF_WHY_PART_H
#define EZPROF_WHY_PART_H

#include "finding.h"
#include "flow.h"

struct ezprof_why_context {
	const struct ezprof_model *model, *before; /* before may be NULL */
	struct ezprof_findings *findings;
	/* Lookups of flow.h: the weightiest one found is what is asked for. */
	struct ezprof_lookup blocked; /* publishers that are blocked, by share */
	struct ezprof_lookup feeders; /* all subscribers */
	struct ezprof_lookup gaps;    /* subscribers of publishers with a gap, by its length */
	struct ezprof_lookup limits;  /* subscribers as their publishers: those that can take least,
					 before all those that nobody measures */
	struct ezprof_lookup holds;   /* of ezprof_loop_holds() */
};

/* What counts as blocked: below that a wait now and then is no problem. */
#define EZPROF_BLOCKED_SHARE_MIN 0.05

#define EZPROF_EACH(model, scope, i) \
	for (size_t i = (model)->first[scope]; i < (model)->first[(scope) + 1]; i++)

/* " Of its processing time it spent 3 % on a CPU, ..."; nothing where it isn't known. */
void ezprof_say_time_spent(struct ez_buffer *out, struct ezprof_finding *finding,
			   const struct ezprof_model *model, size_t subscriber);

/* Is the object among those that a finding says are held up? */
static inline bool ezprof_why_is_waiting(const struct ezprof_findings *findings, size_t object)
{
	return findings->marks[object] & EZPROF_MARK_WAITING;
}

/* Does nobody that is measured feed the publisher? */
static inline bool ezprof_is_source(const struct ezprof_why_context *c, size_t publisher)
{
	return !ezprof_flow_best(&c->feeders, c->model, publisher);
}

/* Did the publisher's stream stop for much longer than usual (stream.c)? */
bool ezprof_has_gap(const struct ezprof_object *publisher);

/* Publishers that are blocked, and whom they wait for (blame.c). */
void ezprof_why_blocked(struct ezprof_why_context *c);
/* Subscribers whose messages wait although no publisher is blocked (late.c). */
void ezprof_why_late(struct ezprof_why_context *c);
/* Tasks that hold their event loop most of the time (loop.c). */
void ezprof_why_loops(struct ezprof_why_context *c);
/* Leases that stay, drops, gaps in a stream (stream.c). */
void ezprof_why_streams(struct ezprof_why_context *c);
/* Advice: what could be cheaper (advice.c). */
void ezprof_why_advice(struct ezprof_why_context *c);
/* How far the document can be trusted: who died, was silent, was not measured (trust.c). */
void ezprof_why_trust(struct ezprof_why_context *c);
/* Idle, or fine, and what sets the pace (pace.c). After all others. */
void ezprof_why_pace(struct ezprof_why_context *c);

#endif
