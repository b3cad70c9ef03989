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

/* Of one object: what findings say of it, else how far it can be trusted. */
struct ezprof_top_state ezprof_top_state_of(const struct ezprof_model *model,
					    const struct ezprof_findings *findings, size_t object);

/* Of a process, by itself: ended, silent; host "" = the document's. */
struct ezprof_top_state ezprof_top_state_of_process(const struct ezprof_model *model, int64_t pid,
						    const char *host);

/* The worse of two. */
struct ezprof_top_state ezprof_top_state_worse(struct ezprof_top_state a,
					       struct ezprof_top_state b);

/* The i-th state's word and what it means, for the help; false: there are no more. */
bool ezprof_top_state_word(size_t i, const char **ret_word, char *ret_mark, const char **ret_what);

#endif
