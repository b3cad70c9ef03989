/* SPDX-License-Identifier: MIT */
/* The parts of why.c: each looks for findings of some kinds. Private to them. */
#ifndef EZPROF_WHY_PART_H
#define EZPROF_WHY_PART_H

#include "finding.h"

struct ezprof_why_context {
	const struct ezprof_model *model, *before; /* before may be NULL */
	struct ezprof_findings *findings;
};

/* What counts as blocked: below that a wait now and then is no problem. */
#define EZPROF_BLOCKED_SHARE_MIN 0.05

#define EZPROF_EACH(model, scope, i) \
	for (size_t i = (model)->first[scope]; i < (model)->first[(scope) + 1]; i++)

/* " Of its processing time it spent 3 % on a CPU, ..."; nothing where it isn't known. */
void ezprof_say_time_spent(struct ez_buffer *out, struct ezprof_finding *finding,
			   const struct ezprof_model *model, size_t subscriber);

/* Is the publisher among those that a finding says are held up? */
bool ezprof_why_is_waiting(const struct ezprof_findings *findings, size_t publisher);

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
