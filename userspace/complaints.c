/* SPDX-License-Identifier: MIT */
#include "complaints.h"

#include <stdio.h>
#include <string.h>

/* " 12, 13, 14, 15, 16, 17, 18, 19 and 1234 more (4321 in all)" */
#define LINE_BYTES (EZPROF_SENTENCE_BYTES + 200u)

/* A new one takes a free place, else that of the first that has been told; NULL: there is none. */
static struct ezprof_complaint *place_for(struct ezprof_complaints *c, const char *sentence)
{
	struct ezprof_complaint *at = NULL;

	for (size_t i = 0; i < c->count; i++) {
		if (strcmp(c->list[i].sentence, sentence) == 0)
			return &c->list[i];
		if (!at && !c->list[i].untold)
			at = &c->list[i];
	}
	if (c->count < EZPROF_COMPLAINTS_MAX)
		at = &c->list[c->count++];
	if (!at)
		return NULL;
	*at = (struct ezprof_complaint){.untold = 0};
	snprintf(at->sentence, sizeof(at->sentence), "%s", sentence);
	return at;
}

bool ezprof_complaints_note(struct ezprof_complaints *c, pid_t pid, const char *sentence)
{
	struct ezprof_complaint *complaint = place_for(c, sentence);

	if (!complaint)
		return false;
	/* Somebody may have named it twice. */
	for (size_t i = 0; i < complaint->untold && i < EZPROF_COMPLAINT_PIDS; i++) {
		if (complaint->pids[i] == pid)
			return true;
	}
	if (complaint->untold < EZPROF_COMPLAINT_PIDS)
		complaint->pids[complaint->untold] = pid;
	complaint->untold++;
	return true;
}

static void put_line(const struct ezprof_complaint *c, char line[LINE_BYTES])
{
	size_t shown = c->untold < EZPROF_COMPLAINT_PIDS ? c->untold : EZPROF_COMPLAINT_PIDS;
	size_t n = (size_t)snprintf(line, LINE_BYTES, "process%s", c->untold == 1 ? "" : "es");

	for (size_t i = 0; i < shown; i++)
		n += (size_t)snprintf(line + n, LINE_BYTES - n, "%s %d", i ? "," : "",
				      (int)c->pids[i]);
	if (c->untold > shown)
		n += (size_t)snprintf(line + n, LINE_BYTES - n, " and %zu more", c->untold - shown);
	if (c->told)
		n += (size_t)snprintf(line + n, LINE_BYTES - n, " (%zu in all)",
				      c->told + c->untold);
	snprintf(line + n, LINE_BYTES - n, ": %s", c->sentence);
}

void ezprof_complaints_tell(struct ezprof_complaints *complaints,
			    void (*say)(void *context, const char *line), void *context)
{
	char line[LINE_BYTES];

	for (size_t i = 0; i < complaints->count; i++) {
		struct ezprof_complaint *c = &complaints->list[i];

		if (!c->untold || c->untold < c->told)
			continue;
		put_line(c, line);
		say(context, line);
		c->told += c->untold;
		c->untold = 0;
	}
}
