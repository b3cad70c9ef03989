/* SPDX-License-Identifier: MIT */
/* The rules of a command line: --fail-if, as often as one likes. */
#ifndef EZPROF_RULE_LIST_H
#define EZPROF_RULE_LIST_H

#include "rule.h"

#define EZPROF_RULES_MAX 256u

struct ezprof_rule_list {
	struct ezprof_rule rules[EZPROF_RULES_MAX];
	size_t n;
};

/* For argp's parsers: ends the program with status 2, and the reason, if the text is no rule. */
void ezprof_rule_list_add(struct ezprof_rule_list *list, const char *program, const char *text);
void ezprof_rule_list_free(struct ezprof_rule_list *list);

/*
 * Judges all, and appends a line for each, or one JSON object. Returns an exit status: a broken
 * rule's, else that of one that could not be judged, else 0. baseline may be NULL.
 */
int ezprof_rule_list_judge(struct ez_buffer *out, const struct ezprof_rule_list *list,
			   const struct ezprof_samples *samples,
			   const struct ezprof_samples *baseline, bool json);

#endif
