/* SPDX-License-Identifier: MIT */
#include "command_table.h"
#include "exit_status.h"
#include "output.h"

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A name that is this close to what was typed is suggested. */
#define SUGGEST_DISTANCE_MAX 2u
#define NAME_BYTES_MAX 32u

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int m = a < b ? a : b;

	return m < c ? m : c;
}

/* Insertions, deletions and changes between two short words. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[NAME_BYTES_MAX + 1], i, j, diagonal, above;
	size_t n = strlen(a), m = strlen(b);

	if (n > NAME_BYTES_MAX || m > NAME_BYTES_MAX)
		return NAME_BYTES_MAX;
	for (j = 0; j <= m; j++)
		row[j] = j;
	for (i = 1; i <= n; i++) {
		diagonal = row[0];
		row[0] = i;
		for (j = 1; j <= m; j++) {
			above = row[j];
			row[j] = min3(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[m];
}

static const struct ezprof_command *nearest(const struct ezprof_program *program, const char *typed)
{
	const struct ezprof_command *c, *best = NULL;
	unsigned int best_distance = SUGGEST_DISTANCE_MAX + 1;

	for (c = program->commands; c->name; c++) {
		unsigned int d = distance(typed, c->name);

		/* An abbreviation is as good as a typing error. */
		if (strlen(typed) > 2 && strncmp(typed, c->name, strlen(typed)) == 0)
			d = 1;
		if (d < best_distance) {
			best = c;
			best_distance = d;
		}
	}
	return best;
}

static int help(const struct ezprof_program *program)
{
	const struct ezprof_command *c;

	printf("Usage: %s COMMAND [OPTION...]\n%s\n\nExamples:\n%s\nCommands:\n", program->name,
	       program->summary, program->examples);
	for (c = program->commands; c->name; c++)
		printf("  %-10s %s\n", c->name, c->summary);
	printf("\nOptions:\n  -?, --help     this text\n  -V, --version\n"
	       "\n`%s COMMAND --help` tells the options of a command.\n",
	       program->name);
	return ezprof_output_flush(program->name);
}

/* A command of the program beside this one. */
static bool is_sibling(const struct ezprof_program *program, const char *typed)
{
	const char *at = program->sibling_commands;
	size_t n = strlen(typed);

	while (n && (at = strstr(at, typed))) {
		if ((at == program->sibling_commands || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return true;
		at += n;
	}
	return false;
}

static int unknown(const struct ezprof_program *program, const char *typed)
{
	const struct ezprof_command *best = nearest(program, typed);

	fprintf(stderr, "%s: no command '%.40s'", program->name, typed);
	if (is_sibling(program, typed))
		fprintf(stderr, "; did you mean '%s %s'?", program->sibling, typed);
	else if (best)
		fprintf(stderr, "; did you mean '%s'?", best->name);
	fprintf(stderr, " (%s --help lists them)\n", program->name);
	return EZPROF_EXIT_USAGE;
}

static int run(const struct ezprof_program *program, const struct ezprof_command *command, int argc,
	       char **argv)
{
	static char name[2 * NAME_BYTES_MAX];

	snprintf(name, sizeof(name), "%s %s", program->name, command->name);
	argv[0] = name;
	return command->run(argc, argv);
}

int ezprof_command_main(const struct ezprof_program *program, int argc, char **argv)
{
	const struct ezprof_command *c;
	const char *typed = argc > 1 ? argv[1] : NULL;

	argp_err_exit_status = EZPROF_EXIT_USAGE;
	if (!typed) {
		fprintf(stderr, "%s: which command? (%s --help lists them)\n", program->name,
			program->name);
		return EZPROF_EXIT_USAGE;
	}
	if (strcmp(typed, "--help") == 0 || strcmp(typed, "-?") == 0)
		return help(program);
	if (strcmp(typed, "--version") == 0 || strcmp(typed, "-V") == 0) {
		printf("%s %s\n", program->name, EZPROF_VERSION);
		return ezprof_output_flush(program->name);
	}
	for (c = program->commands; c->name; c++) {
		if (strcmp(typed, c->name) == 0)
			return run(program, c, argc - 1, argv + 1);
	}
	return unknown(program, typed);
}
