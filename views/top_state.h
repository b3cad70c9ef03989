/* SPDX-License-Identifier: MIT */
/* What is wrong with an object, in a word and a mark, by what `why` found. Pure. */
#ifndef EZPROF_TOP_STATE_H
#define EZPROF_TOP_STATE_H

#include "finding.h"

struct ezprof_top_state {
	const char *word; /* "" = nothing to say */
	char mark;	  /* '!' problem, '-' it only waits, '>' advice, '~' don't trust it, ' ' */
	double severity;  /* the more the worse */
};

/* Those of all objects and processes of a model. */
struct ezprof_top_states {
	const struct ezprof_model *model;
	struct ezprof_top_state *list;	/* per object */
	struct ezprof_lookup processes; /* the mentions that say something of one */
};

/* findings: NULL = none. ezprof_top_states_free() them in any case. -ENOMEM. */
int ezprof_top_states_find(const struct ezprof_model *model, const struct ezprof_findings *findings,
			   struct ezprof_top_states *ret_states);
void ezprof_top_states_free(struct ezprof_top_states *states);

/* Of one object: what findings say of it, else how far it can be trusted. */
struct ezprof_top_state ezprof_top_state_of(const struct ezprof_top_states *states, size_t object);

/* Of a process, by itself: ended, silent; host "" = the document's. */
struct ezprof_top_state ezprof_top_state_of_process(const struct ezprof_top_states *states,
						    int64_t pid, const char *host);

/* The worse of two. */
struct ezprof_top_state ezprof_top_state_worse(struct ezprof_top_state a,
					       struct ezprof_top_state b);

/* The i-th state's word and what it means, for the help; false: there are no more. */
bool ezprof_top_state_word(size_t i, const char **ret_word, char *ret_mark, const char **ret_what);

#endif
