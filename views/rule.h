/* SPDX-License-Identifier: MIT */
/*
 * What must not be: "sub.process_p99_ms > 5", "sub.queue_avg_ms{handle=sink} >= 20",
 * "pub.rate_hz < -10%" (against a baseline). Over several documents the median is compared. Pure.
 */
#ifndef EZPROF_RULE_H
#define EZPROF_RULE_H

#include "samples.h"

#define EZPROF_RULE_LABELS_MAX 4u

enum ezprof_comparison {
	EZPROF_GREATER,
	EZPROF_GREATER_OR_SAME,
	EZPROF_LESS,
	EZPROF_LESS_OR_SAME,
	EZPROF_SAME,
	EZPROF_OTHER
};

struct ezprof_rule {
	const char *text; /* borrowed */
	enum ezprof_metric_id metric;
	enum ezprof_comparison comparison;
	double limit;	/* relative: a share, 0.2 for +20 % */
	bool relative;	/* to the same object's median in the baseline */
	char *patterns; /* owned; what the labels point into */
	struct {
		int label;	     /* an ezprof_label; -1: the publisher's topic; -2: the pid */
		const char *pattern; /* as of fnmatch(3) */
	} labels[EZPROF_RULE_LABELS_MAX];
	size_t n_labels;
};

/*
 * 0; -EINVAL and in `fault` what is wrong with it, in words; -ENOMEM. ezprof_rule_free() it.
 */
int ezprof_rule_parse(const char *text, struct ezprof_rule *ret_rule, char *fault,
		      size_t fault_bytes);
void ezprof_rule_free(struct ezprof_rule *rule);

struct ezprof_rule_result {
	size_t judged; /* objects that match and have a figure (and, if relative, a baseline) */
	size_t broken;
	const struct ezprof_subject *worst; /* farthest towards breaking it; NULL = none judged */
	struct ezprof_spread spread;	    /* of the worst */
	double compared;		    /* its figure, or its share of change */
	struct ezprof_spread baseline;	    /* relative: of the worst */
};

/* baseline: NULL = none; a relative rule then judges nothing. */
void ezprof_rule_judge(const struct ezprof_rule *rule, const struct ezprof_samples *samples,
		       const struct ezprof_samples *baseline,
		       struct ezprof_rule_result *ret_result);

/* "broken: sub.process_p99_ms > 5: 7.2 for sink (pid 4), 6.8 to 7.4 in 3 documents" */
void ezprof_rule_say(struct ez_buffer *out, const struct ezprof_rule *rule,
		     const struct ezprof_samples *samples, const struct ezprof_rule_result *result);

#endif
