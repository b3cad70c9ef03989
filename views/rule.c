/* SPDX-License-Identifier: MIT */
#include "rule.h"
#include "parse.h"
#include "phrase.h"
#include "view.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t"
#define LABEL_PUBLISHER (-1)
#define LABEL_PID (-2)

/* Longer signs first, so that ">" isn't seen in ">=". */
static const struct {
	const char *sign;
	enum ezprof_comparison comparison;
} signs[] = {
	{">=", EZPROF_GREATER_OR_SAME}, {"<=", EZPROF_LESS_OR_SAME}, {"==", EZPROF_SAME},
	{"!=", EZPROF_OTHER},		{">", EZPROF_GREATER},	     {"<", EZPROF_LESS},
};

__attribute__((format(printf, 3, 4))) static int refuse(char *fault, size_t bytes,
							const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(fault, bytes, format, arguments);
	va_end(arguments);
	return -EINVAL;
}

static int find_label(const char *name, int *ret_label)
{
	int i;

	if (strcmp(name, "publisher") == 0 || strcmp(name, "pid") == 0) {
		*ret_label = name[1] == 'u' ? LABEL_PUBLISHER : LABEL_PID;
		return 0;
	}
	for (i = 0; i < EZPROF_LABEL_COUNT; i++) {
		if (strcmp(ezprof_label_key((enum ezprof_label)i), name) == 0) {
			*ret_label = i;
			return 0;
		}
	}
	return -ENOENT;
}

/* "handle=sink,topic=A*" in rule->patterns, taken apart in place. */
static int parse_labels(struct ezprof_rule *rule, char *fault, size_t bytes)
{
	char *rest = rule->patterns, *one;

	while ((one = strsep(&rest, ","))) {
		char *value = strchr(one, '=');

		if (!value || rule->n_labels == EZPROF_RULE_LABELS_MAX)
			return refuse(fault, bytes,
				      "in braces up to %u of label=pattern are wanted",
				      EZPROF_RULE_LABELS_MAX);
		*value++ = '\0';
		if (find_label(one, &rule->labels[rule->n_labels].label))
			return refuse(fault, bytes, "there is no label '%.40s'", one);
		rule->labels[rule->n_labels++].pattern = value;
	}
	return 0;
}

/* "5", "0.2", "-3" or "+20%" */
static int parse_limit(const char *text, struct ezprof_rule *rule, char *fault, size_t bytes)
{
	bool minus = *text == '-', sign = minus || *text == '+';
	size_t n = strlen(text);
	char number[64];

	rule->relative = n && text[n - 1] == '%';
	if (rule->relative)
		n--;
	if (n - sign >= sizeof(number) || n < sign)
		return refuse(fault, bytes, "'%.40s' is no number", text);
	memcpy(number, text + sign, n - sign);
	number[n - sign] = '\0';
	if (ez_parse_double(number, &rule->limit))
		return refuse(fault, bytes, "'%.40s' is no number", text);
	if (minus)
		rule->limit = -rule->limit;
	if (rule->relative)
		rule->limit /= 100.0;
	if (rule->relative && !sign)
		return refuse(fault, bytes, "a change is wanted: +%s or -%s", text, text);
	return 0;
}

static int parse_metric(const char *text, size_t len, struct ezprof_rule *rule, char *fault,
			size_t bytes)
{
	char typed[96], near[96];
	const char *meant;

	if (ezprof_metric_find(text, len, &rule->metric) == 0)
		return 0;
	snprintf(typed, sizeof(typed), "%.*s", (int)(len < 90 ? len : 90), text);
	meant = ezprof_metric_nearest(typed, near, sizeof(near));
	return refuse(fault, bytes,
		      "there is no metric '%.60s'%s%s%s (`ezprof explain` lists them)", typed,
		      meant ? "; did you mean '" : "", meant ? near : "", meant ? "'?" : "");
}

static int parse(const char *text, struct ezprof_rule *rule, char *fault, size_t bytes)
{
	const char *end = text + strspn(text, BLANKS), *brace;
	size_t len = strcspn(end, BLANKS "{<>=!"), i;
	int err = parse_metric(end, len, rule, fault, bytes);

	if (err)
		return err;
	end += len;
	if (*end == '{') {
		brace = strchr(end, '}');
		if (!brace)
			return refuse(fault, bytes, "a closing brace is missing");
		rule->patterns = strndup(end + 1, (size_t)(brace - end - 1));
		if (!rule->patterns)
			return -ENOMEM;
		err = parse_labels(rule, fault, bytes);
		if (err)
			return err;
		end = brace + 1;
	}
	end += strspn(end, BLANKS);
	for (i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (strncmp(end, signs[i].sign, strlen(signs[i].sign)) == 0)
			break;
	}
	if (i == sizeof(signs) / sizeof(signs[0]))
		return refuse(fault, bytes, "one of > >= < <= == != is wanted behind the metric");
	rule->comparison = signs[i].comparison;
	end += strlen(signs[i].sign);
	return parse_limit(end + strspn(end, BLANKS), rule, fault, bytes);
}

int ezprof_rule_parse(const char *text, struct ezprof_rule *ret_rule, char *fault,
		      size_t fault_bytes)
{
	struct ezprof_rule rule = {.text = text};
	int err = parse(text, &rule, fault, fault_bytes);

	if (err)
		ezprof_rule_free(&rule);
	else
		*ret_rule = rule;
	return err;
}

void ezprof_rule_free(struct ezprof_rule *rule)
{
	free(rule->patterns);
	rule->patterns = NULL;
}

static bool matches(const struct ezprof_rule *rule, const struct ezprof_samples *samples,
		    const struct ezprof_subject *subject)
{
	const struct ezprof_model *model;
	const struct ezprof_object *object = ezprof_samples_latest(samples, subject, &model);
	char pid[24];
	size_t i;

	if (!object || object->scope != ezprof_metric(rule->metric)->scope)
		return false;
	snprintf(pid, sizeof(pid), "%lld", (long long)object->pid);
	for (i = 0; i < rule->n_labels; i++) {
		int label = rule->labels[i].label;
		const char *value = label == LABEL_PID ? pid
				    : label == LABEL_PUBLISHER
					    ? ezprof_from_topic(model, object)
					    : ezprof_label(object, (enum ezprof_label)label);

		if (fnmatch(rule->labels[i].pattern, value, 0) != 0)
			return false;
	}
	return true;
}

static bool holds(enum ezprof_comparison comparison, double value, double limit)
{
	switch (comparison) {
	case EZPROF_GREATER:
		return value > limit;
	case EZPROF_GREATER_OR_SAME:
		return value >= limit;
	case EZPROF_LESS:
		return value < limit;
	case EZPROF_LESS_OR_SAME:
		return value <= limit;
	case EZPROF_SAME:
		return value <= limit && value >= limit;
	default:
		return value < limit || value > limit;
	}
}

/* Is `a` farther towards breaking the rule than `b`? */
static bool is_worse(const struct ezprof_rule *rule, double a, double b)
{
	bool low = rule->comparison == EZPROF_LESS || rule->comparison == EZPROF_LESS_OR_SAME;

	return low ? a < b : a > b;
}

/* The share by which the figure has changed; false: there is nothing to compare with. */
static bool change_of(const struct ezprof_rule *rule, const struct ezprof_subject *subject,
		      const struct ezprof_samples *baseline, double median,
		      struct ezprof_spread *ret_before, double *ret_change)
{
	const struct ezprof_subject *before =
		baseline ? ezprof_samples_find(baseline, subject->key) : NULL;

	if (!before)
		return false;
	*ret_before = ezprof_samples_spread(baseline, before, rule->metric);
	if (!ret_before->n || ret_before->median <= 0)
		return false;
	*ret_change = median / ret_before->median - 1.0;
	return true;
}

void ezprof_rule_judge(const struct ezprof_rule *rule, const struct ezprof_samples *samples,
		       const struct ezprof_samples *baseline, struct ezprof_rule_result *ret_result)
{
	struct ezprof_rule_result result = {0};
	size_t i;

	for (i = 0; i < samples->n_subjects; i++) {
		const struct ezprof_subject *subject = &samples->subjects[i];
		struct ezprof_spread spread, before = {0};
		double compared;

		if (!matches(rule, samples, subject))
			continue;
		spread = ezprof_samples_spread(samples, subject, rule->metric);
		compared = spread.median;
		if (!spread.n || (rule->relative && !change_of(rule, subject, baseline,
							       spread.median, &before, &compared)))
			continue;
		result.judged++;
		result.broken += holds(rule->comparison, compared, rule->limit);
		if (result.worst && !is_worse(rule, compared, result.compared))
			continue;
		result.worst = subject;
		result.spread = spread;
		result.compared = compared;
		result.baseline = before;
	}
	*ret_result = result;
}

static void say_spread(struct ez_buffer *out, const struct ezprof_spread *spread)
{
	ezprof_put(out, "%.4g", spread->median);
	if (spread->n > 1)
		ezprof_put(out, " (%.4g to %.4g in %zu documents)", spread->min, spread->max,
			   spread->n);
}

void ezprof_rule_say(struct ez_buffer *out, const struct ezprof_rule *rule,
		     const struct ezprof_samples *samples, const struct ezprof_rule_result *result)
{
	const char *verdict = result->broken   ? "broken: "
			      : result->judged ? "kept: "
					       : "not judged: ";

	ez_buffer_append_text(out, verdict);
	ezprof_say_name(out, rule->text);
	if (!result->judged) {
		ez_buffer_append_text(out, rule->relative
						   ? ": no object has the figure here and in the "
						     "baseline"
						   : ": no object has the figure");
		return;
	}
	ez_buffer_append_text(out, ": ");
	say_spread(out, &result->spread);
	if (rule->relative) {
		ezprof_put(out, ", %+.1f %% from ", 100.0 * result->compared);
		say_spread(out, &result->baseline);
	}
	ez_buffer_append_text(out, ", ");
	ezprof_say_subject(out, samples, result->worst);
	if (result->judged > 1)
		ezprof_put(out, "; %zu of %zu %s it",
			   result->broken ? result->broken : result->judged, result->judged,
			   result->broken ? "break" : "keep");
}
