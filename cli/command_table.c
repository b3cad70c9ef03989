/* SPDX-License-Identifier: MIT */
#include "command_table.h"
#include "exit_status.h"
#include "nearest.h"
#include "output.h"

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES_MAX 32u

/* The command that was meant, of this program or (is_sibling) of the one beside it. */
struct suggestion {
	char name[NAME_BYTES_MAX];
	unsigned int far;
	bool is_sibling;
};

static void consider(struct suggestion *best, const char *typed, const char *name, size_t bytes,
		     bool is_sibling)
{
	struct suggestion s = {.is_sibling = is_sibling};

	snprintf(s.name, sizeof(s.name), "%.*s", (int)bytes, name);
	s.far = ez_nearness(typed, s.name);
	if (s.far < best->far)
		*best = s;
}

static struct suggestion nearest(const struct ezprof_program *program, const char *typed)
{
	struct suggestion best = {.far = EZ_FAR};
	const char *name = program->sibling_commands;

	for (const struct ezprof_command *c = program->commands; c->name; c++)
		consider(&best, typed, c->name, strlen(c->name), false);
	while (*name) {
		size_t n = strcspn(name, " ");

		consider(&best, typed, name, n, true);
		name += n + (name[n] == ' ');
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

static int unknown(const struct ezprof_program *program, const char *typed)
{
	struct suggestion best = nearest(program, typed);

	fprintf(stderr, "%s: no command '%.40s'", program->name, typed);
	if (best.far < EZ_FAR)
		fprintf(stderr, "; did you mean '%s%s%s'?", best.is_sibling ? program->sibling : "",
			best.is_sibling ? " " : "", best.name);
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
