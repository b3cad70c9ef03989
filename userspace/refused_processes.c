/* SPDX-License-Identifier: MIT */
#include "refused_processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* REASONS_MAX without room for another one. */
static size_t reason_of(struct ezprof_refused_processes *r, const struct ezprof_refusal *refusal)
{
	size_t i;

	for (i = 0; i < r->reason_count; i++) {
		if (strcmp(r->reasons[i].what, refusal->what) == 0 &&
		    strcmp(r->reasons[i].why, refusal->why) == 0)
			return i;
	}
	if (i < EZPROF_REFUSED_REASONS_MAX)
		r->reasons[r->reason_count++] = *refusal;
	return i;
}

void ezprof_refused_note(struct ezprof_refused_processes *r, pid_t pid, const char *comm,
			 const struct ezprof_refusal *refusal)
{
	size_t reason = reason_of(r, refusal);

	r->total++;
	if (reason == EZPROF_REFUSED_REASONS_MAX || r->count == EZPROF_REFUSED_MAX)
		return;
	if (r->count == r->room) {
		size_t room = r->room ? 2 * r->room : 32;
		void *grown = reallocarray(r->list, room, sizeof(r->list[0]));

		if (!grown)
			return;
		r->list = grown;
		r->room = room;
	}
	r->list[r->count] = (struct ezprof_refused){.pid = pid, .reason = reason};
	snprintf(r->list[r->count].comm, sizeof(r->list[r->count].comm), "%s", comm);
	r->count++;
}

size_t ezprof_refused_of(const struct ezprof_refused_processes *r, size_t reason)
{
	size_t n = 0;

	for (size_t i = 0; i < r->count; i++)
		n += r->list[i].reason == reason;
	return n;
}

void ezprof_refused_free(struct ezprof_refused_processes *r)
{
	free(r->list);
	*r = (struct ezprof_refused_processes){0};
}
