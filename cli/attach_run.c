/* SPDX-License-Identifier: MIT */
#include "attach_run.h"
#include "agent.h"
#include "agent_socket.h"
#include "clock.h"
#include "complaints.h"
#include "discovery.h"
#include "exit_status.h"
#include "fd_limit.h"
#include "graph_set.h"
#include "measurement.h"
#include "output.h"
#include "privileges.h"
#include "sandbox.h"
#include "visible_name.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The last bucket of --once is closed a little after its window. */
#define ONCE_SLACK_NS 50000000ull
/* Without sudo the agent of root becomes this user, who owns nothing. */
#define NOBODY 65534
#define LINKS_WORTH_A_WORD 8u

struct attach {
	const struct ezprof_attach_options *options;
	struct ezprof_measurement *measurement;
	struct ezprof_discovery *discovery;
	struct ezprof_graph_set *graphs;
	struct ezprof_agent *agent;
	struct ezprof_refusal refusal; /* of the last process that was refused */
	bool refused;
	size_t failed;			     /* processes that are not measured, */
	struct ezprof_complaints complaints; /* and why not */
	struct ezprof_complaints unprobed;   /* of --children: their descendants count as well */
};

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	char line[1024];
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	/* One write: lines of several programs on one terminal don't mix. */
	if (n >= 0)
		fprintf(stderr, EZPROF_ATTACH_PROGRAM ": %s\n", line);
}

static void say_line(void *context, const char *line)
{
	(void)context;
	say("%s", line);
}

static void complain_among(struct ezprof_complaints *complaints, pid_t pid, const char *sentence)
{
	if (!ezprof_complaints_note(complaints, pid, sentence))
		say("process %d: %s", (int)pid, sentence);
}

static void complain(struct attach *a, pid_t pid, const char *sentence)
{
	complain_among(&a->complaints, pid, sentence);
}

static int not_permitted(const struct ezprof_refusal *refusal)
{
	say("%s", refusal->what);
	fprintf(stderr, "  why: %s\n  now: %s\n  for good: %s\n", refusal->why, refusal->now,
		refusal->forever);
	return EZPROF_EXIT_NOPERM;
}

static void block_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGUSR2);
	sigprocmask(SIG_BLOCK, &signals, NULL);
}

static void add_processes(struct attach *a)
{
	char sentence[EZPROF_SENTENCE_BYTES];
	struct ezprof_refusal refusal;
	size_t i;
	int err;

	for (i = 0; i < a->options->pid_count; i++) {
		pid_t pid = a->options->pids[i];

		memset(&refusal, 0, sizeof(refusal));
		err = ezprof_measurement_add(a->measurement, pid, &refusal, sentence);
		/* With --children it need not have probes itself. */
		if (!err || err == -EEXIST || (err == -ENOENT && a->options->children)) {
			ezprof_discovery_name(a->discovery, pid);
			if (err == -ENOENT)
				complain_among(&a->unprobed, pid, sentence);
			continue;
		}
		a->failed++;
		if (err == -ENOMEM)
			strcpy(sentence, "no memory");
		complain(a, pid, sentence);
		if (err == -EPERM || err == -EACCES) {
			a->refused = true;
			a->refusal = refusal;
		}
	}
}

static void link_failed(void *context, const struct ezprof_target *target, int err,
			const char *sentence)
{
	struct attach *a = context;

	a->failed++;
	a->refused = a->refused || err == -EPERM || err == -EACCES;
	complain(a, target->process->pid, sentence);
}

static void joined(void *context, struct ezprof_target *target)
{
	(void)context;
	(void)target;
}

/* Who is there besides the named ones. */
static int discover(struct attach *a)
{
	const struct ezprof_discovery_options options = {.children = a->options->children,
							 .all = a->options->all,
							 .graph = a->options->graph,
							 .joined = joined,
							 .say = say_line,
							 .context = a};
	struct ezprof_refusal refusal = {0};

	a->discovery = ezprof_discovery_new(a->measurement, &options);
	if (!a->discovery)
		return -ENOMEM;
	add_processes(a);
	ezprof_complaints_tell(&a->complaints, say_line, NULL);
	ezprof_discovery_look(a->discovery, &refusal);
	/* Somewhere there is always a process that nobody may look into. */
	if (refusal.missing && !a->refused) {
		a->refused = true;
		a->refusal = refusal;
	}
	return 0;
}

/* Is there, or may there come, anything to measure? */
static bool is_worth_starting(const struct attach *a)
{
	if (a->measurement->target_count)
		return true;
	return !a->options->once && !a->refused && !a->failed &&
	       ezprof_discovery_goes_on(a->discovery);
}

static int nothing_left(const struct attach *a)
{
	if (a->refused && a->refusal.what[0])
		return not_permitted(&a->refusal);
	if (a->options->graph)
		say("nothing to measure: no process with probes uses the graph server %s",
		    a->options->graph);
	else if (a->options->all || a->options->children)
		say("nothing to measure: no process with probes was found");
	else
		say("nothing to measure; `ezprof ps` lists the processes that have probes");
	return EZPROF_EXIT_NOTHING;
}

static int start(struct attach *a)
{
	const struct ezprof_measurement_options options = {
		.endpoints_max = a->options->endpoints_max,
		.perf_event = a->options->perf_event,
		.paths = a->options->paths,
		.span_ring_bytes = a->options->once ? 0 : a->options->record_mib << 20,
		.shared = a->options->children || a->options->all || a->options->graph,
		.run_stats = a->options->once,
		.sched = a->options->sched,
		.kept_ns = (uint64_t)(a->options->window_s * 1e9),
		.failed = link_failed,
		.context = a};
	struct ezprof_refusal refusal = {0};
	int err = ezprof_measurement_new(&a->measurement);

	if (err) {
		say("cannot start: %s", strerror(-err));
		return EZPROF_EXIT_FAILURE;
	}
	if (discover(a)) {
		say("no memory");
		return EZPROF_EXIT_FAILURE;
	}
	if (!is_worth_starting(a))
		return nothing_left(a);
	err = ezprof_measurement_start(a->measurement, &options, &refusal);
	ezprof_complaints_tell(&a->complaints, say_line, NULL);
	if (!err)
		return EZPROF_EXIT_OK;
	if (refusal.what[0] && (err == -EPERM || err == -EACCES))
		return not_permitted(&refusal);
	if (err == -ESRCH || (err == -ENOENT && !refusal.what[0]))
		return nothing_left(a);
	if (refusal.what[0])
		say("%s: %s", refusal.what, refusal.why);
	else
		say("cannot attach: %s", strerror(-err));
	return EZPROF_EXIT_FAILURE;
}

/* A name that a process has given itself or a file; NULL without memory. */
static char *visible(const char *name)
{
	struct ez_buffer out;
	size_t len;

	ez_buffer_init(&out, SIZE_MAX / 2);
	ez_visible_name(&out, name);
	return ez_buffer_steal(&out, &len);
}

static void describe_object(const struct ezprof_measurement *m, const struct ezprof_object *object,
			    const struct ezprof_target_object *registry)
{
	char *path = visible(object->path ? object->path : "?");
	char names[160];
	size_t endpoints = registry->endpoints ? registry->endpoints->count : 0;

	say("  %s: %u probes, %zu endpoint%s", path ? path : "?", object->elf.site_count, endpoints,
	    endpoints == 1 ? "" : "s");
	if (ezprof_measurement_missing(m, &object->elf, names, sizeof(names)))
		say("  it lacks the probes %s: what they tell is not measured", names);
	if (object->elf.foreign)
		say("  its notes have arguments in places of their own: libbpf reads them there");
	free(path);
}

/* It may be for ever: what keeps the named ones from being measured is worth a word. */
static void say_waiting(struct attach *a)
{
	ezprof_complaints_tell(&a->unprobed, say_line, NULL);
	say("no process with probes is there yet: waiting for one%s",
	    a->unprobed.count ? "" : ". " EZPROF_PROBES_HINT);
}

static void describe(struct attach *a, const char *socket_path)
{
	const struct ezprof_measurement *m = a->measurement;
	size_t i, j;

	for (i = 0; i < m->target_count; i++) {
		const struct ezprof_target *t = m->targets[i];
		char *comm = visible(t->process->comm);

		say("process %d (%s)", (int)t->process->pid, comm ? comm : "?");
		free(comm);
		for (j = 0; j < t->object_count; j++)
			describe_object(m, &t->process->objects[j], &t->objects[j]);
	}
	say("attached to %zu %s by %s; room for %u endpoints, %" PRIu64 " KiB of maps",
	    m->target_count, m->target_count == 1 ? "process" : "processes",
	    ezprof_bpf_uprobe_multi(m->bpf) ? "uprobe_multi" : "perf_event",
	    ezprof_bpf_endpoints_max(m->bpf), ezprof_bpf_map_bytes(m->bpf) / 1024);
	if (!m->target_count)
		say_waiting(a);
	if (!m->filtered)
		say("other processes that map these files pay for the probes as well");
	if (socket_path)
		say("socket %s", socket_path);
}

static uint64_t running_time_ns(const struct ezprof_attach_options *o)
{
	if (o->duration_s > 0)
		return (uint64_t)(o->duration_s * 1e9);
	return o->once ? (uint64_t)(o->window_s * 1e9) + ONCE_SLACK_NS : 0;
}

/* From here on without rights. */
static int become_agent(struct attach *a)
{
	struct ezprof_agent_options options = {.duration_ns = running_time_ns(a->options),
					       .socket_fd = -1,
					       .discovery = a->discovery,
					       .say = say_line};
	uid_t uid;
	gid_t gid;
	int err;

	a->graphs = ezprof_graph_set_new(a->measurement, a->options->address);
	if (!a->graphs)
		return -ENOMEM;
	ezprof_privileges_user(&uid, &gid);
	options.owner = uid == NOBODY ? geteuid() : uid;
	err = ezprof_agent_socket_open(uid, gid, &options.socket_fd, &options.socket_path);
	if (err)
		say("no socket: %s; `ezprof profile` can reach this agent only through a graph "
		    "server",
		    strerror(-err));
	describe(a, options.socket_path);
	err = ezprof_privileges_drop(uid, gid);
	if (!err)
		err = ezprof_sandbox_agent();
	if (err) {
		say("cannot give up rights: %s", strerror(-err));
		if (options.socket_path)
			unlink(options.socket_path);
		free(options.socket_path);
		return err;
	}
	return ezprof_agent_new(a->measurement, a->graphs, &options, &a->agent);
}

static void sum_up(const struct ezprof_profile *profile, const struct ezprof_loss *lost)
{
	uint64_t published = 0, released = 0;
	size_t i;

	for (i = 0; i < profile->row_count; i++) {
		const struct ezprof_row *row = &profile->rows[i];

		if (row->endpoint.kind == EZ_KIND_PUBLISHER)
			published += row->window.measured_messages;
		else if (row->endpoint.kind == EZ_KIND_CLIENT)
			released += row->window.measured_messages;
	}
	if (lost->known)
		say("measured %" PRIu64 " messages published, %" PRIu64 " released; lost %" PRIu64,
		    published, released, lost->lost);
	else
		say("measured %" PRIu64 " messages published, %" PRIu64
		    " released; lost: not known for all endpoints",
		    published, released);
}

static int print_document(const char *document)
{
	struct ez_buffer out;

	ez_buffer_init(&out, SIZE_MAX / 2);
	ez_visible_json(&out, document);
	ez_buffer_append_text(&out, "\n");
	return ezprof_output_buffer(EZPROF_ATTACH_PROGRAM, &out);
}

static int finish(struct attach *a, enum ezprof_agent_end end)
{
	uint64_t window_ns = (uint64_t)(a->options->window_s * 1e9);
	bool interrupted = end == EZPROF_END_SIGNAL;
	int status = a->failed ? EZPROF_EXIT_PARTIAL : EZPROF_EXIT_OK;
	struct ezprof_profile profile;
	struct ezprof_loss lost;
	char *document = ezprof_agent_document(a->agent, window_ns, true, &profile);

	if (!document) {
		say("no memory");
		return EZPROF_EXIT_FAILURE;
	}
	if (end == EZPROF_END_EXITED)
		say("no process is left");
	ezprof_profile_lost(&profile, &lost);
	if (a->options->once) {
		int output = print_document(document);

		status = output ? output : status;
	}
	sum_up(&profile, &lost);
	free(document);
	if (status == EZPROF_EXIT_OK && !interrupted && lost.lost)
		status = EZPROF_EXIT_PARTIAL;
	if (status == EZPROF_EXIT_OK && a->options->once && profile.row_count == 0) {
		say("nothing to measure: no endpoint is there");
		status = EZPROF_EXIT_NOTHING;
	}
	return status;
}

/* Some kernels take their time, and whoever pressed Ctrl-C wants to know what for. */
static void say_what_takes_time(const struct attach *a)
{
	size_t links = a->measurement ? ezprof_measurement_links(a->measurement) : 0;

	if (links > LINKS_WORTH_A_WORD)
		say("waiting for the kernel to detach %zu probe links, at most 0.1 s for each",
		    links);
}

int ezprof_attach_run(const struct ezprof_attach_options *options)
{
	struct attach a = {.options = options};
	enum ezprof_agent_end end = EZPROF_END_SIGNAL;
	int status, err;

	block_signals();
	ez_fd_limit_raise();
	status = start(&a);
	if (!status) {
		err = become_agent(&a);
		if (!err)
			err = ezprof_agent_run(a.agent, &end);
		if (err)
			say("cannot go on: %s", strerror(-err));
		status = err ? EZPROF_EXIT_FAILURE : finish(&a, end);
	}
	say_what_takes_time(&a);
	ezprof_agent_free(a.agent);
	ezprof_graph_set_free(a.graphs);
	ezprof_discovery_free(a.discovery);
	ezprof_measurement_free(a.measurement);
	return status;
}
