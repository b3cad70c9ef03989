/* SPDX-License-Identifier: MIT */
/* What `ezprof doctor` looks at: a list of checks, each with its outcome and, if need be, its fix.
 */
#ifndef EZPROF_CHECKUP_H
#define EZPROF_CHECKUP_H

#include <stddef.h>

#define EZPROF_CHECKS_MAX 256u

enum ezprof_health {
	EZPROF_HEALTHY, /* nothing to do */
	EZPROF_AILING,	/* it works, with less than there could be */
	EZPROF_SICK	/* something does not work */
};

struct ezprof_check {
	const char *name; /* constant */
	enum ezprof_health health;
	char text[400], fix[400]; /* one line each; fix "": none */
};

struct ezprof_checkup {
	struct ezprof_check list[EZPROF_CHECKS_MAX];
	size_t count; /* what is beyond the room is left out */
};

/* fix may be NULL. */
__attribute__((format(printf, 5, 6))) void
ezprof_checkup_add(struct ezprof_checkup *checkup, const char *name, enum ezprof_health health,
		   const char *fix, const char *format, ...);

/* The kernel, and what this user may: changes nothing but for loading an empty BPF program. */
void ezprof_checkup_system(struct ezprof_checkup *checkup);

struct ezprof_census;

/* Parts of the next one: graph servers, which one is meant; what Python programs have installed. */
void ezprof_checkup_servers(struct ezprof_checkup *checkup, const struct ezprof_census *census);
void ezprof_checkup_python(struct ezprof_checkup *checkup, const struct ezprof_census *census);

/* Graph servers, processes, agents, shared memory. Negative errno: they could not be looked at. */
int ezprof_checkup_graphs(struct ezprof_checkup *checkup);

#endif
