/* SPDX-License-Identifier: MIT */
/* `ezprof-bpf`: what needs rights. Reports are the business of `ezprof`. */
#include "attach_command.h"
#include "command_table.h"
#include "exit_status.h"
#include "output.h"
#include "status_command.h"

static const struct ezprof_command commands[] = {
	{"attach", "measure processes until interrupted", ezprof_attach_main},
	{"status", "which agents are at work, their rights and their cost", ezprof_status_main},
	{0},
};

int main(int argc, char **argv)
{
	static const struct ezprof_program program = {
		.name = "ezprof-bpf",
		.summary = "Measures processes of ezmsg graphs from the kernel side.",
		.examples =
			"  sudo ezprof-bpf attach 4242 4243              until Ctrl-C; ask with "
			"`ezprof profile`\n"
			"  sudo ezprof-bpf attach 4242 --once             one document after 2 "
			"seconds\n"
			"  sudo ezprof-bpf attach 4242 --duration 60      for a minute\n"
			"  sudo ezprof-bpf status                         what that costs\n",
		.commands = commands,
		.sibling = "ezprof",
		.sibling_commands =
			"why profile top graph check diff doctor ps probes explain record report "
			"export run serve shutdown",
	};

	if (ezprof_output_init())
		return EZPROF_EXIT_FAILURE;
	return ezprof_command_main(&program, argc, argv);
}
