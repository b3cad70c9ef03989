/* SPDX-License-Identifier: MIT */
/* Which agents are at work, what they may do and what they cost. */
#include "status_command.h"
#include "agent_client.h"
#include "agent_status.h"
#include "clock.h"
#include "exit_status.h"
#include "output.h"
#include "visible_name.h"
#include "usual_options.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cap-ng.h>

#define PROGRAM "ezprof-bpf status"
#define AGENTS_MAX 64
#define LOOK_MS 3000
#define ANSWER_MS 5000
#define WINDOW_MS 500
/* So long hits are measured before they are shown. */
#define MEASURE_MS 1000

static const struct argp_option option_table[] = {
	EZPROF_OPTION_JSON,
	{0},
};

static const char doc[] =
	"\nShows the agents of this machine: their rights, what they measure, and what it costs. "
	"As "
	"root it has the kernel measure for a second how long a hit takes.\n"
	"\v"
	"Exit status: 0; 1 failure; 2 usage; 4 no agent is there; 5 some agents did not answer.";

static void print_rights(const char *who, pid_t pid, const struct ezprof_rights *r)
{
	bool any = false;

	if (!r->known) {
		printf("  %-7s gone\n", who);
		return;
	}
	printf("  %-7s pid %d, user %u, capabilities", who, (int)pid, r->uid);
	for (unsigned int i = 0; i < 64; i++) {
		const char *name = r->permitted >> i & 1 ? capng_capability_to_name(i) : NULL;

		if (!name)
			continue;
		printf("%s %s", any ? "," : "", name);
		any = true;
	}
	printf("%s, bounding set %s, no_new_privs %s, seccomp %s\n", any ? "" : " none",
	       r->bounding ? "not empty" : "empty", r->no_new_privs ? "yes" : "no",
	       r->seccomp == 2 ? "yes" : "no");
}

static void print_if_known(const char *name, double value, double unit, const char *unit_name)
{
	if (value < 0)
		printf(", %s not known", name);
	else
		printf(", %s %.4g%s", name, value * unit, unit_name);
}

/* What an agent says: it may be another user's. */
static void print_visible(const char *text)
{
	struct ez_buffer out;

	ez_buffer_init(&out, SIZE_MAX / 2);
	ez_visible_name(&out, text);
	if (!out.err && out.len)
		fwrite(out.data, 1, out.len, stdout);
	ez_buffer_free(&out);
}

static void print_status(const struct ezprof_agent_status *s)
{
	printf("agent %d: ", (int)s->pid);
	if (s->shown)
		printf("%zu process%s, %zu endpoints", s->process_count,
		       s->process_count == 1 ? "" : "es", s->endpoint_count);
	else
		printf("no process that it shows to this user");
	printf("; probes ");
	print_visible(s->probes);
	printf(" by ");
	print_visible(s->link);
	printf("\n");
	print_rights("agent", s->pid, &s->agent);
	print_rights("opener", s->opener_pid, &s->opener);
	printf("  cost    %" PRIu64 " hits", s->hits);
	print_if_known("hits/s", s->hits_per_s, 1, "");
	print_if_known("ns/hit", s->ns_per_hit, 1, "");
	print_if_known("CPU of probes", s->probes_cpu_share, 100, " %");
	print_if_known("CPU of agent", s->agent_cpu_share, 100, " %");
	printf(", maps %.1f MiB\n", (double)s->map_bytes / (1 << 20));
	if (s->sched) {
		printf("  sched   %" PRIu64 " hits", s->sched_hits);
		print_if_known("hits/s", s->sched_hits_per_s, 1, "");
		print_if_known("ns/hit", s->sched_ns_per_hit, 1, "");
		print_if_known("CPU", s->sched_cpu_share, 100, " %");
		printf("\n");
	}
	if (s->lost >= 0)
		printf("  lost    %" PRId64 "\n", s->lost);
	else
		printf("  lost    not known for all endpoints\n");
}

static int ask(const struct ezprof_agent_found *agent, struct ezprof_agent_status *ret_status)
{
	char *text;
	size_t n;
	int err = ezprof_agent_ask(agent, NULL, WINDOW_MS, ez_clock_deadline_ns(ANSWER_MS), &text,
				   &n);

	if (err)
		return err;
	err = ezprof_agent_status_read(text, n, ret_status);
	free(text);
	return err;
}

/* Run statistics cost a little with every hit: they are on only while they are looked at. */
static void let_measure(void)
{
	usleep(MEASURE_MS * 1000);
}

/* Agents come and go: one that ended since it was found is not one that doesn't answer. */
static bool has_ended(const struct ezprof_agent_found *agent, int err)
{
	return err == -ENOENT || (kill(agent->pid, 0) && errno == ESRCH);
}

/* *present is lowered by those that have ended. */
static size_t ask_all(const struct ezprof_agent_found *agents, size_t *present,
		      struct ezprof_agent_status *list)
{
	size_t i, n = *present, answered = 0;
	int err, stats = ezprof_run_stats_enable();

	if (stats >= 0)
		let_measure();
	for (i = 0; i < n; i++) {
		err = ask(&agents[i], &list[answered]);
		if (!err)
			answered++;
		else if (has_ended(&agents[i], err))
			(*present)--;
		else
			fprintf(stderr, "%s: agent %d: %s\n", PROGRAM, (int)agents[i].pid,
				strerror(-err));
	}
	if (stats >= 0)
		close(stats);
	return answered;
}

static int show(const struct ezprof_agent_status *list, size_t n, bool json)
{
	char *text;
	int status;

	if (!json) {
		for (size_t i = 0; i < n; i++)
			print_status(&list[i]);
		return ezprof_output_flush(PROGRAM);
	}
	text = ezprof_agent_status_json(list, n);
	if (!text)
		return EZPROF_EXIT_FAILURE;
	status = ezprof_output_line(PROGRAM, text);
	free(text);
	return status;
}

static int run(struct ezprof_agent_found *agents, struct ezprof_agent_status *list, bool json)
{
	size_t n = ezprof_agent_find(agents, AGENTS_MAX, ez_clock_deadline_ns(LOOK_MS)), answered;
	int status;

	answered = n ? ask_all(agents, &n, list) : 0;
	if (!n) {
		fprintf(stderr,
			"%s: no agent is there%s; one is started by: sudo ezprof-bpf attach PID\n",
			PROGRAM, geteuid() ? ", or none that this user may ask" : "");
		return EZPROF_EXIT_NOTHING;
	}
	status = show(list, answered, json);
	if (status)
		return status;
	return answered == n ? EZPROF_EXIT_OK : EZPROF_EXIT_PARTIAL;
}

int ezprof_status_main(int argc, char **argv)
{
	static const struct argp argp = {option_table, ezprof_usual_parser, NULL, doc, NULL, NULL,
					 NULL};
	struct ezprof_agent_found *agents;
	struct ezprof_agent_status *list;
	struct ezprof_usual_options options = {0};
	int status = EZPROF_EXIT_FAILURE;

	if (argp_parse(&argp, argc, argv, 0, NULL, &options))
		return EZPROF_EXIT_USAGE;
	agents = calloc(AGENTS_MAX, sizeof(*agents));
	list = calloc(AGENTS_MAX, sizeof(*list));
	if (agents && list)
		status = run(agents, list, options.json);
	free(agents);
	free(list);
	return status;
}
