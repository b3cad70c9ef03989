/* SPDX-License-Identifier: MIT */
/* Programs with commands (`ezprof profile`): a table of them, their help, and typing errors. */
#ifndef EZPROF_COMMAND_TABLE_H
#define EZPROF_COMMAND_TABLE_H

struct ezprof_command {
	const char *name;
	const char *summary;
	/* argv[0] is "program command"; returns the exit status. */
	int (*run)(int argc, char **argv);
};

struct ezprof_program {
	const char *name;
	const char *summary;
	const char *examples;		       /* lines, indented by two blanks */
	const struct ezprof_command *commands; /* ends with a NULL name */
	const char *sibling;		       /* another program, and its commands, by blanks */
	const char *sibling_commands;
};

/* Runs the command that argv names, or answers --help and --version. Returns the exit status. */
int ezprof_command_main(const struct ezprof_program *program, int argc, char **argv);

#endif
