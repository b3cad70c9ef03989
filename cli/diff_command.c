/* SPDX-License-Identifier: MIT */
/* `ezprof diff`: what has changed between two runs, and whether it may. */
#include "check_command.h"
#include "diff_view.h"
#include "document_file.h"
#include "exit_status.h"
#include "output.h"
#include "parse.h"
#include "rule_list.h"
#include "usual_options.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#define PROGRAM "ezprof diff"
#define CHANGE_SHOWN 0.05

struct options {
	const char *files[2];
	size_t n_files;
	struct ezprof_usual_options usual;
	struct ezprof_diff_options how;
	struct ezprof_rule_list rules;
};

enum { KEY_FAIL_IF = 256, KEY_ALL, KEY_MIN };

static const struct argp_option option_table[] = {
	{"fail-if", KEY_FAIL_IF, "RULE", 0,
	 "what must not be of the later run, such as 'sub.process_p99_ms > +20%'; repeatable", 0},
	{"min-change", KEY_MIN, "PERCENT", 0, "leave out what has changed by less; default 5", 0},
	{"all", KEY_ALL, NULL, 0, "all figures, not only the usual ones", 0},
	EZPROF_OPTION_JSON,
	{0},
};

static const char doc[] =
	"\nPrints what has changed from BEFORE to AFTER, files with documents of `ezprof profile`. "
	"Each may hold several, one behind the other: then medians are compared and the spread is "
	"shown. Objects are the same when their names are, whatever their pids.\n"
	"\nExamples:\n"
	"  ezprof profile --count 10 > new.json\n"
	"  ezprof diff old.json new.json\n"
	"  ezprof diff --fail-if 'sub.process_p50_ms > +20%' old.json new.json\n"
	"\v"
	"Exit status: 0; 1 a file can't be read; 2 usage; 3 a rule is broken; 4 a rule could not "
	"be "
	"judged, since no object has the figure.";

static void change_min(struct options *o, const char *argument)
{
	if (ez_parse_double(argument, &o->how.change_min)) {
		fprintf(stderr, "%s: --min-change '%.60s': a number is wanted\n", PROGRAM,
			argument);
		exit(EZPROF_EXIT_USAGE);
	}
	o->how.change_min /= 100.0;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case KEY_FAIL_IF:
		ezprof_rule_list_add(&o->rules, PROGRAM, argument);
		return 0;
	case KEY_MIN:
		change_min(o, argument);
		return 0;
	case KEY_ALL:
		o->how.all = true;
		return 0;
	case ARGP_KEY_ARG:
		if (o->n_files < 2) {
			o->files[o->n_files++] = argument;
			return 0;
		}
		/* fall through */
	case ARGP_KEY_END:
		if (key == ARGP_KEY_END && o->n_files == 2)
			return 0;
		fprintf(stderr, "%s: two files are wanted: BEFORE AFTER\n", PROGRAM);
		exit(EZPROF_EXIT_USAGE);
	default:
		return ezprof_usual_option(key, argument, state, &o->usual);
	}
}

static int print(const struct options *o, const struct ezprof_samples *before,
		 const struct ezprof_samples *after)
{
	struct ez_buffer out, verdicts;
	int verdict, status;

	ez_buffer_init(&out, SIZE_MAX / 2);
	ez_buffer_init(&verdicts, SIZE_MAX / 2);
	if (o->usual.json)
		ezprof_diff_json(&out, before, after, &o->how);
	else
		ezprof_diff_text(&out, before, after, &o->how);
	verdict = ezprof_rule_list_judge(&verdicts, &o->rules, after, before, false);
	/* JSON alone is on stdout; the verdicts are for people then. */
	if (!o->usual.json && verdicts.len)
		ez_buffer_append(&out, verdicts.data, verdicts.len);
	else if (verdicts.len)
		fprintf(stderr, "%.*s", (int)verdicts.len, (const char *)verdicts.data);
	status = ezprof_output_buffer(PROGRAM, &out);
	ez_buffer_free(&verdicts);
	return status ? status : verdict;
}

int ezprof_diff_main(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "BEFORE AFTER", doc, NULL,
					 NULL,	       NULL};
	static struct options o = {.how = {.change_min = CHANGE_SHOWN}};
	struct ezprof_samples before = {0}, after = {0};
	int status;

	if (argp_parse(&argp, argc, argv, 0, NULL, &o))
		return EZPROF_EXIT_USAGE;
	status = ezprof_document_file_samples(PROGRAM, o.files[0], &before);
	if (!status)
		status = ezprof_document_file_samples(PROGRAM, o.files[1], &after);
	if (!status)
		status = print(&o, &before, &after);
	ezprof_samples_free(&before);
	ezprof_samples_free(&after);
	ezprof_rule_list_free(&o.rules);
	return status;
}
