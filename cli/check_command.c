/* SPDX-License-Identifier: MIT */
/* `ezprof check`: rules that a graph must keep, for CI and for those who watch. */
#include "check_command.h"
#include "document_file.h"
#include "exit_status.h"
#include "option_value.h"
#include "output.h"
#include "profile_source.h"
#include "rule_list.h"
#include "usual_options.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PROGRAM "ezprof check"
#define FILES_MAX 64u
#define COUNT_MAX 10000u

struct options {
	struct ezprof_usual_options usual;
	uint64_t count;
	const char *files[FILES_MAX], *baseline;
	size_t n_files;
	struct ezprof_rule_list rules;
};

enum { KEY_FAIL_IF = 256, KEY_BASELINE };

static const struct argp_option option_table[] = {
	{"fail-if", KEY_FAIL_IF, "RULE", 0,
	 "what must not be, such as 'sub.process_p99_ms > 5'; repeatable", 0},
	{"baseline", KEY_BASELINE, "FILE", 0,
	 "documents of an earlier run, for rules such as 'sub.process_p99_ms > +20%'", 0},
	EZPROF_OPTION_WINDOW,
	{"count", 'c', "N", 0, "take so many documents, a window apart, and judge the median", 0},
	EZPROF_OPTION_ADDRESS,
	EZPROF_OPTION_JSON,
	{0},
};

static const char doc[] =
	"\nJudges rules on a running graph, or on documents of `ezprof profile` in FILEs (\"-\": "
	"stdin), each of which may hold several, one behind the other. A rule is a metric "
	"(docs/metrics.md), perhaps labels in braces that say of which objects (patterns: "
	"'{handle=sink,topic=SYS/*}'), a comparison and a number; it is broken if one object "
	"breaks "
	"it. Of several documents the median counts, and the spread is shown.\n"
	"\nExamples:\n"
	"  ezprof check --fail-if 'sub.process_p99_ms > 5' --fail-if 'graph.lost_total > 0'\n"
	"  ezprof check --count 10 --fail-if 'pub.rate_hz{topic=SYS/OUT} < 95'\n"
	"  ezprof check --baseline old.json --fail-if 'sub.process_p50_ms > +20%' new.json\n"
	"\v"
	"Exit status: 0 all rules are kept; 1 nobody answers; 2 usage; 3 a rule is broken; 4 a "
	"rule "
	"could not be judged, since no object has the figure; 5 something was lost or somebody is "
	"silent.";

static void add_file(struct options *o, const char *path)
{
	if (o->n_files == FILES_MAX) {
		fprintf(stderr, "%s: at most %u files\n", PROGRAM, FILES_MAX);
		exit(EZPROF_EXIT_USAGE);
	}
	o->files[o->n_files++] = path;
}

static void check_usage(const struct options *o)
{
	size_t i;

	if (!o->rules.n) {
		fprintf(stderr, "%s: which rules? --fail-if 'sub.process_p99_ms > 5'\n", PROGRAM);
		exit(EZPROF_EXIT_USAGE);
	}
	for (i = 0; i < o->rules.n && !o->baseline; i++) {
		if (!o->rules.rules[i].relative)
			continue;
		fprintf(stderr, "%s: --fail-if '%.100s': a change needs a --baseline\n", PROGRAM,
			o->rules.rules[i].text);
		exit(EZPROF_EXIT_USAGE);
	}
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case KEY_FAIL_IF:
		ezprof_rule_list_add(&o->rules, PROGRAM, argument);
		return 0;
	case KEY_BASELINE:
		o->baseline = argument;
		return 0;
	case 'c':
		o->count = ezprof_option_count(PROGRAM, "--count", argument, COUNT_MAX);
		return 0;
	case ARGP_KEY_ARG:
		add_file(o, argument);
		return 0;
	case ARGP_KEY_END:
		check_usage(o);
		return 0;
	default:
		return ezprof_usual_option(key, argument, state, &o->usual);
	}
}

static int take(const struct options *o, struct ezprof_samples *samples)
{
	struct timespec window = {
		(time_t)o->usual.window_s,
		(long)((o->usual.window_s - (double)(time_t)o->usual.window_s) * 1e9)};
	struct ezprof_source_memory memory = {.have_graph = false};
	uint64_t i;

	for (i = 0; i < o->count; i++) {
		char *text = NULL;
		int status;

		if (i)
			nanosleep(&window, NULL);
		status = ezprof_profile_fetch(PROGRAM, ezprof_usual_address(&o->usual),
					      o->usual.window_s, &memory, &text);
		if (!status)
			status = ezprof_document_samples(PROGRAM, "the answer", text, samples);
		free(text);
		if (status)
			return status;
	}
	return EZPROF_EXIT_OK;
}

static int gather(const struct options *o, struct ezprof_samples *samples,
		  struct ezprof_samples *baseline)
{
	int status = EZPROF_EXIT_OK;
	size_t i;

	if (o->baseline)
		status = ezprof_document_file_samples(PROGRAM, o->baseline, baseline);
	for (i = 0; i < o->n_files && !status; i++)
		status = ezprof_document_file_samples(PROGRAM, o->files[i], samples);
	if (!status && !o->n_files)
		status = take(o, samples);
	return status;
}

static bool is_partial(const struct ezprof_samples *samples)
{
	size_t i;

	for (i = 0; i < samples->n_models; i++) {
		const struct ezprof_object *graph = &samples->models[i]->objects[0];

		if (ezprof_figure(graph, EZPROF_GRAPH_ERRORS, 0.0) > 0 ||
		    ezprof_figure(graph, EZPROF_GRAPH_LOST_TOTAL, 0.0) > 0)
			return true;
	}
	return false;
}

static int judge(const struct options *o, const struct ezprof_samples *samples,
		 const struct ezprof_samples *baseline)
{
	struct ez_buffer out;
	int verdict, status;

	ez_buffer_init(&out, SIZE_MAX / 2);
	verdict = ezprof_rule_list_judge(&out, &o->rules, samples, o->baseline ? baseline : NULL,
					 o->usual.json);
	status = ezprof_output_buffer(PROGRAM, &out);
	if (status || verdict)
		return status ? status : verdict;
	return is_partial(samples) ? EZPROF_EXIT_PARTIAL : EZPROF_EXIT_OK;
}

int ezprof_check_main(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "[FILE...]", doc,
					 NULL,	       NULL,	     NULL};
	static struct options o = {.usual = {.window_s = EZ_WINDOW_DEFAULT_S}, .count = 1};
	struct ezprof_samples samples = {0}, baseline = {0};
	int status;

	if (argp_parse(&argp, argc, argv, 0, NULL, &o))
		return EZPROF_EXIT_USAGE;
	status = gather(&o, &samples, &baseline);
	if (!status)
		status = judge(&o, &samples, &baseline);
	ezprof_samples_free(&samples);
	ezprof_samples_free(&baseline);
	ezprof_rule_list_free(&o.rules);
	return status;
}
