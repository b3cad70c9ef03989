/* SPDX-License-Identifier: MIT */
/* The root of a chain while its sentence is made: root.c, and root_cause.c. Private to them. */
#ifndef EZPROF_ROOT_PART_H
#define EZPROF_ROOT_PART_H

#include "why_part.h"

/* Of a blocked publisher: who keeps its buffers, and who comes next in the chain. */
struct ezprof_blame_step {
	size_t publisher;
	size_t holder; /* the subscriber; EZPROF_NO_OBJECT: not blocked, or nobody that is measured
			*/
	size_t next;   /* the blocked publisher that the holder feeds; EZPROF_NO_OBJECT: the end */
	size_t root;   /* the holder at the end of the chain */
	size_t depth;  /* steps to there; 0: not known yet */
	struct ezprof_blame_step *end, *before; /* of the chain; in a circle: the one before */
	bool told;				/* in a finding */
};

struct ezprof_blame {
	size_t first, n; /* publishers of the model */
	struct ezprof_blame_step *steps, **waiting;
};

static inline struct ezprof_blame_step *ezprof_blame_of(const struct ezprof_blame *blame,
							size_t publisher)
{
	return &blame->steps[publisher - blame->first];
}

struct ezprof_root {
	struct ezprof_why_context *c;
	size_t at; /* the subscriber */
	const struct ezprof_object *s;
	struct ezprof_blame_step *const *waiting; /* who waits for it, from the source on */
	size_t n_waiting;
	size_t holder; /* a task that holds its event loop, or EZPROF_NO_OBJECT */
	size_t link;   /* its connection, or EZPROF_NO_OBJECT */
	struct ezprof_finding *finding;
	struct ez_buffer text;
};

/* The root of chains, what it suffers from, in a sentence; the first n of blame->waiting wait. */
void ezprof_why_root(struct ezprof_why_context *c, size_t subscriber,
		     const struct ezprof_blame *blame, size_t n);

enum ezprof_finding_kind ezprof_root_classify(const struct ezprof_root *r);

/* Appends the sentences on the cause, and says on which figures they rest. */
void ezprof_root_say_cause(struct ezprof_root *r, enum ezprof_finding_kind kind);

#endif
