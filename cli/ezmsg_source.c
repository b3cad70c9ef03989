/* SPDX-License-Identifier: MIT */
#include "ezmsg_source.h"
#include "client.h"
#include "clock.h"
#include "ezmsg_document.h"
#include "fd.h"
#include "request.h"
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define PING_MS 2000
#define ANSWER_MS 3500
/* Is somebody tracing already? Longer where samples of late say that somebody was. */
#define LISTEN_NS (300 * EZ_NS_PER_MS)
#define LISTEN_LONG_NS (2 * EZ_NS_PER_S)
/* Processes push every 20 ms, the server passes on at this interval. */
#define STREAM_INTERVAL_S 0.05
#define STREAM_MAX_SAMPLES 50000
#define TAIL_NS (200 * EZ_NS_PER_MS)
#define TTL_MARGIN_S 0.1
#define ERRORS_MAX 64u

#define ADDS \
	"instrumenting (EZPROF_USDT=1 when it starts, then sudo ezprof-bpf attach PID) adds " \
	"bytes, " \
	"leases in flight, queue time apart from processing, drops, percentiles and losses"
static const char traced_hint[] = "No agent is attached: this is what ezmsg tells by itself; " ADDS;
static const char graph_hint[] =
	"No agent is attached, and this ezmsg tells its graph and no more (3.9.0 and later tell "
	"times); " ADDS;
static const char unreachable_hint[] =
	"No agent is attached, and no process of this graph can be asked (only those that ez.run "
	"started can): this is the graph alone; " ADDS;

struct source {
	const struct ez_address *address;
	int session, stream;
	struct ez_snapshot *snapshot;
	struct ezprof_traces traces;
	struct ezprof_ezmsg_error errors[ERRORS_MAX];
	char details[ERRORS_MAX][200];
	size_t n_errors;
};

static void note_error(struct source *s, const struct ez_session_process *process, const char *why)
{
	size_t i = s->n_errors;

	if (i == ERRORS_MAX)
		return;
	snprintf(s->details[i], sizeof(s->details[i]), "%s", why);
	s->errors[i] = (struct ezprof_ezmsg_error){process->pid, process->host, s->details[i]};
	s->n_errors++;
}

/* Reads batches until until_ns. 0, or why the stream is over. */
static int listen_until(struct source *s, ez_mono_ns_t until_ns)
{
	int err;

	do {
		err = ez_trace_stream_next(s->stream, until_ns, until_ns + ANSWER_MS * EZ_NS_PER_MS,
					   ezprof_traces_add, &s->traces);
		s->traces.batches += !err;
		/* A stream that never pauses must not keep us. */
		if (!err && ez_clock_mono_ns() >= until_ns)
			err = -ETIMEDOUT;
	} while (!err);
	return err == -ETIMEDOUT ? 0 : err;
}

/* Whether somebody traces: true where samples of now arrive without our doing. */
static int look_for_others(struct source *s, bool *ret_by_other)
{
	uint64_t begin_ns = ez_clock_mono_ns();
	int err = listen_until(s, begin_ns + LISTEN_NS);

	/* Somebody was tracing a moment ago: a slow topic may have its next message later. */
	if (!err && !s->traces.noticed &&
	    s->traces.newest_ns > (double)begin_ns - (double)LISTEN_LONG_NS)
		err = listen_until(s, begin_ns + LISTEN_LONG_NS);
	if (!err)
		*ret_by_other = s->traces.noticed > 0;
	return err;
}

static void trace_process(struct source *s, const struct ez_session_process *process, double ttl_s)
{
	struct ez_process_answer answer;
	int err;

	if (!process->n_units) {
		note_error(s, process, "it has no unit to reach it by");
		return;
	}
	err = ez_session_trace(s->session, process->units[0], ttl_s,
			       ez_clock_deadline_ns(ANSWER_MS), &answer);
	if (err) {
		note_error(s, process, strerror(-err));
		/* Its answer may still come: the next one must not be taken for it. */
		ez_fd_close(s->session);
		s->session = ez_session_open(s->address, ez_clock_deadline_ns(ANSWER_MS));
	} else if (!answer.ok) {
		note_error(s, process, answer.error);
	}
}

/*
 * Takes the window from what somebody else traces, unless that dries up: then it was what an
 * observer who has gone had asked for, and the window's figures would be too small.
 */
static int follow_other(struct source *s, double window_s, bool *ret_by_other)
{
	uint64_t window_ns = (uint64_t)(window_s * 1e9), begin_ns = ez_clock_mono_ns(), seen;
	uint64_t end_ns = begin_ns + window_ns + TAIL_NS;
	int err;

	ezprof_traces_start(&s->traces, begin_ns, window_ns);
	err = window_ns > LISTEN_NS ? listen_until(s, begin_ns + window_ns - LISTEN_NS) : 0;
	seen = s->traces.seen;
	if (!err)
		err = listen_until(s, end_ns);
	if (!err && s->traces.seen == seen)
		err = listen_until(s, end_ns + LISTEN_LONG_NS);
	if (err)
		return err;
	*ret_by_other = s->traces.seen != seen;
	if (!*ret_by_other) {
		const char *host = s->traces.host;

		ezprof_traces_free(&s->traces);
		ezprof_traces_init(&s->traces, host, ez_clock_mono_ns());
	}
	return 0;
}

/*
 * Tracing of the process that was asked first ends first: where asking the others took long, the
 * window that all cover is shorter than the wanted one.
 */
static int trace_all(struct source *s, double window_s, double *ret_covered_s)
{
	double ttl_s = window_s + TTL_MARGIN_S, covered_s = window_s;
	uint64_t asked_ns = ez_clock_mono_ns(), begin_ns, covered_ns;
	size_t i;
	int err;

	for (i = 0; i < s->snapshot->n_processes; i++)
		trace_process(s, &s->snapshot->processes[i], ttl_s);
	begin_ns = ez_clock_mono_ns();
	if (ttl_s - (double)(begin_ns - asked_ns) / 1e9 < covered_s)
		covered_s = ttl_s - (double)(begin_ns - asked_ns) / 1e9;
	if (covered_s <= 0.0)
		return -ETIMEDOUT;
	covered_ns = (uint64_t)(covered_s * 1e9);
	ezprof_traces_start(&s->traces, begin_ns, covered_ns);
	err = listen_until(s, begin_ns + covered_ns + TAIL_NS);
	*ret_covered_s = covered_s;
	return err;
}

static int trace(struct source *s, double window_s, bool *ret_by_other, double *ret_covered_s)
{
	int err = look_for_others(s, ret_by_other);

	if (!err && *ret_by_other) {
		*ret_covered_s = window_s;
		err = follow_other(s, window_s, ret_by_other);
	}
	if (!err && !*ret_by_other)
		err = trace_all(s, window_s, ret_covered_s);
	return err;
}

static int open_source(struct source *s)
{
	ez_mono_ns_t deadline_ns = ez_clock_deadline_ns(ANSWER_MS);
	int err;

	s->session = ez_session_open(s->address, deadline_ns);
	if (s->session < 0)
		return s->session;
	err = ez_session_snapshot(s->session, deadline_ns, &s->snapshot);
	if (err)
		return err;
	s->stream = ez_trace_stream_open(s->address, STREAM_INTERVAL_S, STREAM_MAX_SAMPLES,
					 deadline_ns);
	return s->stream < 0 ? s->stream : 0;
}

static void close_source(struct source *s)
{
	ez_fd_close(s->stream);
	ez_fd_close(s->session);
	ez_snapshot_free(s->snapshot);
	ezprof_traces_free(&s->traces);
}

static int traced_document(const struct ez_address *address, double window_s, char **ret_text,
			   struct ezprof_ezmsg_told *told)
{
	struct source s = {.address = address, .session = -1, .stream = -1};
	struct ezprof_ezmsg_facts facts = {.window_s = window_s, .hint = told->hint};
	struct utsname machine;
	int err;

	if (uname(&machine))
		machine.nodename[0] = '\0';
	ezprof_traces_init(&s.traces, machine.nodename, ez_clock_mono_ns());
	err = open_source(&s);
	told->graph_only = !err && !s.snapshot->n_processes;
	if (told->graph_only)
		facts.hint = told->hint = unreachable_hint;
	else if (!err)
		err = trace(&s, window_s, &told->by_other, &facts.covered_s);
	if (!err) {
		facts.by_other = told->by_other;
		facts.graph_source = "snapshot";
		facts.graph = s.snapshot->graph;
		facts.snapshot = s.snapshot;
		facts.traces = &s.traces;
		facts.errors = s.errors;
		facts.n_errors = s.n_errors;
		err = ezprof_ezmsg_document(&facts, ret_text);
	}
	close_source(&s);
	return err;
}

static int graph_document(const struct ez_address *address, double window_s, char **ret_text,
			  const struct ezprof_ezmsg_told *told)
{
	struct ezprof_ezmsg_facts facts = {
		.window_s = window_s, .graph_source = "dag", .hint = told->hint};
	struct ez_dag *dag;
	int err = ez_client_dag(address, ez_clock_deadline_ns(ANSWER_MS), &dag);

	if (err)
		return err;
	facts.graph = dag;
	err = ezprof_ezmsg_document(&facts, ret_text);
	ez_dag_free(dag);
	return err;
}

/* Sessions came with 3.9.0; to older servers their bytes mean nothing, or PROFILE. */
static bool knows_sessions(const char *version)
{
	int major, minor;

	return sscanf(version, "%d.%d", &major, &minor) == 2 &&
	       (major > 3 || (major == 3 && minor >= 9));
}

int ezprof_ezmsg_source(const struct ez_address *address, double window_s, char **ret_text,
			struct ezprof_ezmsg_told *ret_told)
{
	struct ezprof_ezmsg_told told = {.hint = traced_hint};
	char version[EZ_VERSION_BYTES];
	int err = ez_client_ping(address, ez_clock_deadline_ns(PING_MS), version);

	if (err)
		return err;
	told.graph_only = !knows_sessions(version);
	if (told.graph_only)
		told.hint = graph_hint;
	err = told.graph_only ? graph_document(address, window_s, ret_text, &told)
			      : traced_document(address, window_s, ret_text, &told);
	if (!err && ret_told)
		*ret_told = told;
	return err;
}
