/* SPDX-License-Identifier: MIT */
/* The root of a chain while its sentence is made: root.c, and root_cause.c. Private to them. */
#ifndef EZPROF_ROOT_PART_H
#define EZPROF_ROOT_PART_H

#include "why_part.h"

struct ezprof_root {
	struct ezprof_why_context *c;
	size_t at; /* the subscriber */
	const struct ezprof_object *s;
	const size_t *publishers; /* who waits for it */
	size_t n_publishers;
	size_t holder; /* a task that holds its event loop, or EZPROF_NO_OBJECT */
	size_t link;   /* its connection, or EZPROF_NO_OBJECT */
	struct ezprof_finding *finding;
	struct ez_buffer text;
};

enum ezprof_finding_kind ezprof_root_classify(const struct ezprof_root *r);

/* Appends the sentences on the cause, and says on which figures they rest. */
void ezprof_root_say_cause(struct ezprof_root *r, enum ezprof_finding_kind kind);

#endif
