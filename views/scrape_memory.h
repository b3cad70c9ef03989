/* SPDX-License-Identifier: MIT */
/*
 * What an exporter keeps from one scrape to the next, so that series go on. An object's labels are
 * its names, which a restart of its process doesn't change: no pid, no id. Where several objects
 * have the same ones, numbers keep them apart, and each keeps its number for as long as it is
 * there. Totals of one and the same object never go down: readings of a running process may be
 * a little off, and a reader takes a step back for a restart and counts everything anew.
 * Pure; one thread.
 */
#ifndef EZPROF_SCRAPE_MEMORY_H
#define EZPROF_SCRAPE_MEMORY_H

#include "model.h"

struct ezprof_remembered {
	enum ezprof_scope scope;
	size_t object;		      /* of the model that was shown last */
	char *names;		      /* what it is called: `{topic="A",handle="A"`, not closed */
	char *labels;		      /* the same with its number, closed; "" = none */
	char *uid;		      /* which one it is: ids, process */
	unsigned int number;	      /* 0 = the only or first one of its names */
	bool is_double;		      /* another one has the same uid: not to be shown */
	struct ezprof_number *values; /* its figures; totals at least what they were */
};

/* By scope, then by names: an order that only changes with who is there. */
struct ezprof_scrape_memory {
	struct ezprof_remembered *list; /* grouped by scope */
	size_t n;
	size_t first[EZPROF_SCOPE_COUNT + 1]; /* as in a model */
};

/*
 * Takes over what the model shows; of objects that it doesn't show nothing is kept.
 * Zero-initialised at first. -ENOMEM: the memory is as it was.
 */
int ezprof_scrape_memory_renew(struct ezprof_scrape_memory *memory,
			       const struct ezprof_model *model);

void ezprof_scrape_memory_free(struct ezprof_scrape_memory *memory);

#endif
