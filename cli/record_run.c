/* SPDX-License-Identifier: MIT */
#include "record_run.h"
#include "agent_client.h"
#include "clock.h"
#include "command.h"
#include "exit_status.h"
#include "fd.h"
#include "graph_address.h"
#include "graph_choice.h"
#include "output.h"
#include "output_file.h"
#include "record_file.h"
#include "text_width.h"
#include "trace_store.h"
#include "trace_summary.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define LOOK_MS 2500
#define BEGIN_MS 10000
#define SYNC_MS 30000
#define DUMPS_MAX 1000u
#define NAME_COLUMNS 120u
#define INPUT_BYTES (2u * EZPROF_STREAM_FRAME_MAX)

/* An agent that sends. */
struct feed {
	int fd; /* -1: it has ended */
	pid_t pid;
	bool ready, synced, refused;
	size_t bytes;
	unsigned char *input;
};

struct record {
	const struct ezprof_record_options *options;
	struct ezprof_trace *trace;
	struct feed feeds[EZPROF_TRACE_AGENTS_MAX];
	unsigned int feed_count;
	int signal_fd;
	bool partial; /* something could not be recorded */
	unsigned int dumps;
	uint64_t dumped_since_ns; /* beginning of the wait that was dumped last */
	bool end, dump;
	bool hurry; /* asked once more to end: for nobody is waited any longer */
};

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	char line[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	fprintf(stderr, EZPROF_RECORD_PROGRAM ": %s\n", line);
}

/* ---- frames ---- */

static void say_frame(struct record *r, const struct feed *f,
		      const struct ezprof_stream_frame *frame)
{
	char text[300];
	size_t n = frame->bytes < sizeof(text) - 1 ? frame->bytes : sizeof(text) - 1;

	for (size_t i = 0; i < n; i++)
		text[i] = frame->payload[i] < 0x20 || frame->payload[i] > 0x7e
				  ? '?'
				  : (char)frame->payload[i];
	text[n] = '\0';
	say("agent %d: %s", (int)f->pid, text);
	r->partial = true;
}

static void end_feed(struct feed *f)
{
	ez_fd_close(f->fd);
	f->fd = -1;
}

static int take_frame(struct record *r, unsigned int i, const struct ezprof_stream_frame *frame)
{
	struct feed *f = &r->feeds[i];

	if (frame->kind == EZPROF_STREAM_READY)
		f->ready = true;
	else if (frame->kind == EZPROF_STREAM_SYNCED)
		f->synced = true;
	f->refused |= frame->kind == EZPROF_STREAM_REFUSED;
	if (frame->kind == EZPROF_STREAM_NOTE || frame->kind == EZPROF_STREAM_REFUSED)
		say_frame(r, f, frame);
	return ezprof_trace_take(r->trace, i, frame);
}

static int take_frames(struct record *r, unsigned int i)
{
	struct feed *f = &r->feeds[i];
	struct ezprof_stream_frame frame;
	size_t at = 0;
	int err;

	while (!(err = ezprof_stream_next(f->input + at, f->bytes - at, &frame))) {
		err = take_frame(r, i, &frame);
		if (err)
			return err;
		at += frame.frame_bytes;
	}
	memmove(f->input, f->input + at, f->bytes - at);
	f->bytes -= at;
	return err == -EAGAIN ? 0 : err;
}

static void read_feed(struct record *r, unsigned int i)
{
	struct feed *f = &r->feeds[i];
	ssize_t n = read(f->fd, f->input + f->bytes, INPUT_BYTES - f->bytes);
	int err = 0;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		/* What it had to say before it left is in. */
		if (!f->synced && !f->refused) {
			say("agent %d is gone; what it had not sent yet is missing", (int)f->pid);
			r->partial = true;
		}
		end_feed(f);
		return;
	}
	f->bytes += (size_t)n;
	err = take_frames(r, i);
	if (!err)
		return;
	say("agent %d: %s", (int)f->pid,
	    err == -EPROTO ? "what it sends makes no sense" : strerror(-err));
	r->partial = true;
	end_feed(f);
}

/* ---- waiting ---- */

static void read_signal(struct record *r)
{
	struct signalfd_siginfo info;

	if (read(r->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGUSR1) {
		r->dump = true;
		return;
	}
	r->hurry = r->end;
	r->end = true;
}

/* Waits for something to come, until the deadline at most. False: nobody is left to wait for. */
static bool wait_for_more(struct record *r, ez_mono_ns_t deadline_ns)
{
	struct pollfd fds[EZPROF_TRACE_AGENTS_MAX + 1];
	unsigned int i, alive = 0;

	for (i = 0; i < r->feed_count; i++) {
		fds[i] = (struct pollfd){.fd = r->feeds[i].fd, .events = POLLIN};
		alive += r->feeds[i].fd >= 0;
	}
	fds[i] = (struct pollfd){.fd = r->signal_fd, .events = POLLIN};
	if (!alive)
		return false;
	if (poll(fds, i + 1, ez_clock_left_ms(deadline_ns, ez_clock_mono_ns())) <= 0)
		return true;
	if (fds[i].revents)
		read_signal(r);
	for (i = 0; i < r->feed_count; i++) {
		if (fds[i].revents && r->feeds[i].fd >= 0)
			read_feed(r, i);
	}
	return true;
}

static bool all_ready(const struct record *r)
{
	for (unsigned int i = 0; i < r->feed_count; i++) {
		if (r->feeds[i].fd >= 0 && !r->feeds[i].ready)
			return false;
	}
	return true;
}

static bool is_anybody_left(const struct record *r)
{
	for (unsigned int i = 0; i < r->feed_count; i++) {
		if (r->feeds[i].fd >= 0)
			return true;
	}
	return false;
}

static bool all_synced(const struct record *r)
{
	for (unsigned int i = 0; i < r->feed_count; i++) {
		if (r->feeds[i].fd >= 0 && !r->feeds[i].synced)
			return false;
	}
	return true;
}

/* Everything up to now. */
static void sync_feeds(struct record *r)
{
	static const unsigned char request = EZ_CMD_RECORD;
	ez_mono_ns_t deadline_ns = ez_clock_deadline_ns(SYNC_MS);
	unsigned int i;

	for (i = 0; i < r->feed_count; i++) {
		r->feeds[i].synced = false;
		/* One that has left says so, and all else that it had to say, to who reads. */
		if (r->feeds[i].fd >= 0)
			(void)!write(r->feeds[i].fd, &request, 1);
	}
	while (!all_synced(r) && !r->hurry && ez_clock_mono_ns() < deadline_ns) {
		if (!wait_for_more(r, deadline_ns))
			break;
	}
	if (!all_synced(r)) {
		say("an agent doesn't answer; its newest messages are missing");
		r->partial = true;
	}
	for (i = 0; i < r->feed_count; i++)
		r->feeds[i].synced = false;
}

/* ---- results ---- */

static uint64_t since_ns(const struct record *r)
{
	uint64_t now_ns = ez_clock_mono_ns(), flight_ns = (uint64_t)(r->options->flight_s * 1e9);

	return flight_ns && flight_ns < now_ns ? now_ns - flight_ns : 0;
}

static int write_file(struct record *r, const struct ezprof_match *match, unsigned int dump)
{
	char *path;
	int err = ezprof_record_file_write(r->options, match, dump, &path);

	if (err) {
		say("cannot write %s: %s", r->options->path, strerror(-err));
		return EZPROF_EXIT_FAILURE;
	}
	say("%s: %zu spans of %zu endpoints; lost %" PRIu64, path, match->count,
	    r->trace->endpoint_count, ezprof_trace_lost(r->trace));
	free(path);
	return EZPROF_EXIT_OK;
}

static int print_summary(struct record *r, const struct ezprof_match *match)
{
	struct ezprof_trace_summary *summary;

	if (ezprof_trace_summary_new(match, &summary)) {
		say("no memory");
		return EZPROF_EXIT_FAILURE;
	}
	ezprof_trace_summary_print(summary, r->trace, stdout);
	ezprof_trace_summary_free(summary);
	return ezprof_output_flush(EZPROF_RECORD_PROGRAM);
}

/* dump 0: the end. */
static int show(struct record *r, unsigned int dump)
{
	struct ezprof_match *match;
	int status = EZPROF_EXIT_OK;

	sync_feeds(r);
	if (ezprof_match_new(r->trace, since_ns(r), &match)) {
		say("no memory");
		return EZPROF_EXIT_FAILURE;
	}
	if (r->options->path)
		status = write_file(r, match, dump);
	if (!status && !dump && r->options->summary)
		status = print_summary(r, match);
	ezprof_match_free(match);
	return status;
}

/* ---- recording ---- */

static void say_blocked(const struct ezprof_trace_endpoint *publisher, uint64_t ns)
{
	struct ez_buffer name;

	ez_buffer_init(&name, SIZE_MAX / 2);
	ezprof_put_shortened(&name, publisher->topic, NAME_COLUMNS);
	say("%.*s (pid %" PRIu32 ") has waited for %.0f ms", name.err ? 0 : (int)name.len,
	    name.data ? (const char *)name.data : "", publisher->pid, (double)ns / 1e6);
	ez_buffer_free(&name);
}

/* A wait that is long enough and wasn't the reason for the last file. */
static bool is_blocked(struct record *r)
{
	uint64_t limit_ns = (uint64_t)(r->options->blocked_ms * 1e6), now_ns = ez_clock_mono_ns();
	uint32_t endpoint = r->trace->wait_endpoint;
	uint64_t since = r->trace->wait_since_ns, ns = r->trace->wait_ns;
	uint64_t open = ezprof_trace_waiting_since(r->trace, &endpoint);

	r->trace->wait_ns = 0;
	if (open && now_ns > open && now_ns - open >= ns) {
		since = open;
		ns = now_ns - open;
	} else {
		endpoint = r->trace->wait_endpoint;
	}
	if (ns < limit_ns || since <= r->dumped_since_ns)
		return false;
	r->dumped_since_ns = since;
	say_blocked(&r->trace->endpoints[endpoint], ns);
	return true;
}

static int dump_if_wanted(struct record *r)
{
	bool wanted = r->dump || (r->options->blocked_ms > 0 && is_blocked(r));

	r->dump = false;
	if (!wanted || r->dumps == DUMPS_MAX)
		return EZPROF_EXIT_OK;
	if (r->options->path)
		return show(r, ++r->dumps);
	return EZPROF_EXIT_OK;
}

static int record(struct record *r)
{
	ez_mono_ns_t deadline_ns = ez_clock_deadline_ns(BEGIN_MS);
	int status = EZPROF_EXIT_OK;

	while (!r->end && !all_ready(r) && ez_clock_mono_ns() < deadline_ns) {
		if (!wait_for_more(r, deadline_ns))
			return EZPROF_EXIT_NOTHING;
	}
	if (!is_anybody_left(r))
		return EZPROF_EXIT_NOTHING;
	if (!all_ready(r)) {
		say(r->end ? "ended before it began: nothing is recorded"
			   : "an agent doesn't begin");
		return EZPROF_EXIT_FAILURE;
	}
	say("recording%s", r->options->duration_s > 0 ? "" : "; Ctrl-C ends it");
	deadline_ns = r->options->duration_s > 0
			      ? ez_clock_mono_ns() + (uint64_t)(r->options->duration_s * 1e9)
			      : EZ_NEVER;
	while (!status && !r->end && ez_clock_mono_ns() < deadline_ns) {
		if (!wait_for_more(r, deadline_ns))
			break;
		status = dump_if_wanted(r);
	}
	if (!status)
		status = show(r, 0);
	if (!status && (r->partial || ezprof_trace_lost(r->trace)))
		status = EZPROF_EXIT_PARTIAL;
	return status;
}

/* ---- agents ---- */

static bool is_of_graph(const struct ezprof_agent_found *agent, const char *graph)
{
	for (size_t i = 0; i < agent->graph_count; i++) {
		if (ezprof_same_graph(agent->graphs[i], graph))
			return true;
	}
	return false;
}

static void add_feed(struct record *r, const struct ezprof_agent_found *agent, const char *graph)
{
	struct feed *f = &r->feeds[r->feed_count];
	int fd = ezprof_agent_record(agent, graph,
				     r->options->blocked_ms > 0 ? EZPROF_STREAM_WATCH : 0,
				     ez_clock_deadline_ns(LOOK_MS));

	if (fd < 0) {
		say("agent %d: %s", (int)agent->pid,
		    fd == -ENODATA || fd == -ECONNRESET ? "of a build that can't record"
							: strerror(-fd));
		r->partial = true;
		return;
	}
	*f = (struct feed){.fd = fd, .pid = agent->pid, .input = malloc(INPUT_BYTES)};
	if (!f->input) {
		end_feed(f);
		return;
	}
	r->feed_count++;
}

static int find_feeds(struct record *r)
{
	const struct ezprof_record_options *o = r->options;
	struct ezprof_graph_choice choice;
	const char *graph;
	int status;

	status = ezprof_graph_choose(EZPROF_RECORD_PROGRAM, ezprof_usual_address(&o->usual), false,
				     ez_clock_deadline_ns(LOOK_MS), &choice);
	graph = choice.have_address ? choice.text : NULL;
	for (size_t i = 0; !status && i < choice.agent_count; i++) {
		if ((!graph || is_of_graph(&choice.agents[i], graph)) &&
		    r->feed_count < EZPROF_TRACE_AGENTS_MAX)
			add_feed(r, &choice.agents[i], graph);
	}
	if (!status && !r->feed_count) {
		if (choice.is_default)
			graph = NULL;
		say("no agent measures processes of %s; type: sudo ezprof-bpf attach %s%s",
		    graph ? graph : "any graph", graph ? "--graph " : "--all", graph ? graph : "");
		status = EZPROF_EXIT_NOTHING;
	}
	ezprof_graph_choice_free(&choice);
	return status;
}

static int take_signals(struct record *r)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	r->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->signal_fd < 0 ? -errno : 0;
}

int ezprof_record_run(const struct ezprof_record_options *options)
{
	struct record r = {.options = options, .signal_fd = -1};
	int status = EZPROF_EXIT_FAILURE, err = take_signals(&r);

	if (!err && options->path)
		err = ezprof_output_file_try(options->path);
	if (err)
		say("cannot write %s: %s", options->path ? options->path : "", strerror(-err));
	if (!err) {
		err = ezprof_trace_new(options->spans_max, &r.trace);
		if (err)
			say("no memory");
	}
	if (!err)
		status = find_feeds(&r);
	if (!err && !status)
		status = record(&r);
	for (unsigned int i = 0; i < r.feed_count; i++) {
		end_feed(&r.feeds[i]);
		free(r.feeds[i].input);
	}
	ezprof_trace_free(r.trace);
	ez_fd_close(r.signal_fd);
	return status;
}
