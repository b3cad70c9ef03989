/* SPDX-License-Identifier: MIT */
/* `ezprof`: what a person types. Each command is in a file of its own. */
#include "check_command.h"
#include "command_table.h"
#include "doctor_command.h"
#include "exit_status.h"
#include "explain_command.h"
#include "export_command.h"
#include "graph_command.h"
#include "output.h"
#include "probes_command.h"
#include "profile_command.h"
#include "ps_command.h"
#include "record_command.h"
#include "report_command.h"
#include "run_command.h"
#include "server_command.h"
#include "top_command.h"
#include "why_command.h"

static const struct ezprof_command commands[] = {
	{"why", "say what holds a graph up, with the numbers", ezprof_why_main},
	{"top", "watch a graph on the terminal: rates, buffers, who holds it up", ezprof_top_main},
	{"profile", "print what a graph has done in the last seconds", ezprof_profile_main},
	{"graph", "print which topics are connected: text, dot, mermaid, json", ezprof_graph_main},
	{"check", "judge rules on a graph, for CI: exit 3 when one is broken", ezprof_check_main},
	{"diff", "compare the documents of two runs", ezprof_diff_main},
	{"doctor", "check what measuring wants, and say what to type", ezprof_doctor_main},
	{"ps", "which processes belong to graphs, what they have, whose server is gone",
	 ezprof_ps_main},
	{"probes", "the USDT probes of a process or file, and what they tell", ezprof_probes_main},
	{"explain", "say what a metric means: start, end, clock, unit", ezprof_explain_main},
	{"record", "record every message of a graph for a trace viewer, or sum its latencies up",
	 ezprof_record_main},
	{"export", "serve a graph's figures to Prometheus", ezprof_export_main},
	{"report", "write one HTML file that shows a graph: causes, drawing, figures, over time",
	 ezprof_report_main},
	{"run", "run a Python program with probes in its ezmsg graph", ezprof_run_main},
	{"serve", "run a graph server", ezprof_serve_main},
	{"shutdown", "end a graph server", ezprof_shutdown_main},
	{0},
};

int main(int argc, char **argv)
{
	static const struct ezprof_program program = {
		.name = "ezprof",
		.summary = "Profiles ezmsg graphs.",
		.examples =
			"  ezprof serve                    a graph server on the usual port\n"
			"  sudo ezprof-bpf attach 4242     measure a process of a graph\n"
			"  ezprof why                      what holds the graph up\n"
			"  ezprof top                      watch it\n"
			"  ezprof profile --window 2.0     what happened in the last 2 seconds\n"
			"  ezprof graph                    which topics are connected\n"
			"  ezprof shutdown                 end the graph server\n",
		.commands = commands,
		.sibling = "sudo ezprof-bpf",
		.sibling_commands = "attach status",
	};

	if (ezprof_output_init())
		return EZPROF_EXIT_FAILURE;
	return ezprof_command_main(&program, argc, argv);
}
