/* SPDX-License-Identifier: MIT */
#include "agent.h"
#include "agent_socket.h"
#include "clock.h"
#include "cost_meter.h"
#include "fd.h"
#include "hello_json.h"
#include "report_json.h"
#include "snapshot.h"
#include "spans_feed.h"
#include "text.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <event2/event.h>

#define TICK_MS 500
#define PIDS_SHOWN 1024

/* One process to watch, until it ends. */
struct watch {
	struct watch *next;
	struct ezprof_agent *agent;
	struct ezprof_target *target;
	struct event *event;
};

struct ezprof_agent {
	struct ezprof_measurement *measurement;
	struct ezprof_agent_options options;
	struct event_base *base;
	struct event *signals, *tick, *duration, *opener;
	int signal_fd;
	struct ezprof_agent_socket *socket;
	struct ezprof_span_feed *feed;
	struct ezprof_graph_set *graphs;
	struct watch *watches;
	bool opener_gone;
	struct ezprof_snapshot *snapshot;
	struct ezprof_cost_meter cost, sched_cost;
	struct ezprof_sched_cost sched; /* as of the newest tick */
	bool ready;
	enum ezprof_agent_end end;
};

__attribute__((format(printf, 2, 3))) static void say(struct ezprof_agent *a, const char *format,
						      ...)
{
	char line[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	a->options.say(a->options.context, line);
}

static void end_loop(struct ezprof_agent *a, enum ezprof_agent_end end)
{
	a->end = end;
	event_base_loopbreak(a->base);
}

/* ---- profiles ---- */

static void tick_costs(struct ezprof_agent *a)
{
	ezprof_cost_meter_tick(&a->cost, a->measurement->maps);
	if (a->measurement->scheds)
		ezprof_cost_meter_tick_sched(&a->sched_cost, a->measurement->scheds, &a->sched);
}

static int take(struct ezprof_agent *a, const struct ezprof_snapshot_request *request,
		struct ezprof_profile **ret_profile)
{
	int err = ezprof_snapshot_take(a->snapshot, request, ret_profile);

	tick_costs(a);
	if (!err) {
		ezprof_cost_meter_fill(&a->cost, &(*ret_profile)->cost);
		(*ret_profile)->cost.sched = a->sched;
	}
	return err;
}

static uint64_t window_ns_of(uint64_t window_ms)
{
	return window_ms > UINT64_MAX / EZ_NS_PER_MS ? UINT64_MAX : window_ms * EZ_NS_PER_MS;
}

char *ezprof_agent_document(struct ezprof_agent *a, uint64_t window_ns, bool with_exited,
			    struct ezprof_profile *ret_summary)
{
	struct ezprof_snapshot_request request = {
		.window_ns = window_ns, .viewer = EZPROF_VIEWER_ALL, .with_exited = with_exited};
	struct ezprof_profile *profile;

	if (take(a, &request, &profile))
		return NULL;
	if (ret_summary)
		*ret_summary = *profile;
	return ezprof_report_document(profile);
}

static char *socket_profile(void *context, uint64_t window_ms, uid_t viewer, const char *graph)
{
	struct ezprof_agent *a = context;
	struct ezprof_snapshot_request request = {.window_ns = window_ns_of(window_ms),
						  .viewer = viewer};
	struct ezprof_profile *profile;

	if (*graph)
		request.graph = ezprof_graph_set_filter(a->graphs, graph);
	if (take(a, &request, &profile))
		return NULL;
	return ezprof_report_document(profile);
}

static void socket_record(void *context, struct bufferevent *events, uid_t viewer,
			  const char *graph, uint32_t flags)
{
	struct ezprof_agent *a = context;

	if (*graph)
		graph = ezprof_graph_set_filter(a->graphs, graph);
	ezprof_span_feed_add(a->feed, events, viewer, graph ? graph : "", flags);
}

static char *socket_hello(void *context, uid_t viewer)
{
	struct ezprof_agent *a = context;
	const struct ezprof_measurement *m = a->measurement;
	const char *graphs[EZPROF_GRAPHS_MAX];
	pid_t pids[PIDS_SHOWN];
	size_t graph_count = ezprof_graph_set_addresses(a->graphs, viewer, graphs), i, n = 0;

	for (i = 0; i < m->target_count && n < PIDS_SHOWN; i++) {
		const struct ezprof_target *target = m->targets[i];

		if (target->state == EZPROF_TARGET_ATTACHED &&
		    (viewer == EZPROF_VIEWER_ALL || viewer == target->process->uid))
			pids[n++] = target->process->pid;
	}
	return ezprof_hello_agent(graphs, graph_count, pids, n);
}

static char *graph_profile(void *context, const char *graph, uint64_t window_ms)
{
	struct ezprof_snapshot_request request = {
		.window_ns = window_ns_of(window_ms), .viewer = EZPROF_VIEWER_ALL, .graph = graph};
	struct ezprof_profile *profile;

	if (take(context, &request, &profile))
		return NULL;
	return ezprof_report_agent(profile);
}

/* ---- events ---- */

static void say_line(void *context, const char *line)
{
	struct ezprof_agent *a = context;

	a->options.say(a->options.context, line);
}

/* Ready once every graph server has answered or failed to: then `ezprof profile` finds us. */
static void update_links(struct ezprof_agent *a)
{
	const struct ezprof_graph_set_handler handler = {
		.profile = graph_profile, .say = say_line, .context = a};

	ezprof_graph_set_update(a->graphs, a->base, &handler);
	if (a->ready || !ezprof_graph_set_settled(a->graphs))
		return;
	a->ready = true;
	say(a, "ready");
}

static int watch_target(struct ezprof_agent *a, struct ezprof_target *target);

static void on_joined(void *context, struct ezprof_target *target)
{
	struct ezprof_agent *a = context;
	char *comm = ezprof_text_repair(target->process->comm, sizeof(target->process->comm), 0);

	say(a, "process %d (%s): measured from now on", (int)target->process->pid,
	    comm ? comm : "?");
	free(comm);
	watch_target(a, target);
}

/* Ended, or executed something else: nothing more is expected of it. */
static void drop_ended_watches(struct ezprof_agent *a)
{
	struct watch **at = &a->watches, *watch;

	while ((watch = *at)) {
		if (watch->target->state == EZPROF_TARGET_ATTACHED) {
			at = &watch->next;
			continue;
		}
		*at = watch->next;
		event_free(watch->event);
		free(watch);
	}
}

/* Whom else to measure; and is it worth going on? */
static void discover(struct ezprof_agent *a)
{
	struct ezprof_measurement *m = a->measurement;

	if (!a->opener_gone)
		ezprof_discovery_look(a->options.discovery, NULL);
	ezprof_span_feed_look(a->feed);
	drop_ended_watches(a);
	ezprof_measurement_forget(m);
	if (!ezprof_measurement_alive(m) &&
	    (a->opener_gone || !ezprof_discovery_goes_on(a->options.discovery)))
		end_loop(a, EZPROF_END_EXITED);
}

static void on_tick(evutil_socket_t fd, short what, void *context)
{
	struct ezprof_agent *a = context;

	(void)fd;
	(void)what;
	ezprof_measurement_refresh(a->measurement);
	discover(a);
	tick_costs(a);
	update_links(a);
}

static void on_target_exit(evutil_socket_t fd, short what, void *context)
{
	struct watch *watch = context;
	struct ezprof_agent *a = watch->agent;

	(void)fd;
	(void)what;
	ezprof_measurement_exited(a->measurement, watch->target);
	say(a, "process %d has exited; %zu left", (int)watch->target->process->pid,
	    ezprof_measurement_alive(a->measurement));
	discover(a);
}

static void on_signal(evutil_socket_t fd, short what, void *context)
{
	struct ezprof_agent *a = context;
	struct signalfd_siginfo info;

	(void)what;
	if (read((int)fd, &info, sizeof(info)) != sizeof(info))
		return;
#ifdef EZPROF_TEST_HOOKS
	if (info.ssi_signo == SIGUSR2) {
		ezprof_measurement_detach(a->measurement);
		say(a, "test hook: links closed");
		return;
	}
#endif
	end_loop(a, EZPROF_END_SIGNAL);
}

static void on_duration(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	end_loop(context, EZPROF_END_DURATION);
}

/* Measuring goes on: links and maps are ours. */
static void on_opener_gone(evutil_socket_t fd, short what, void *context)
{
	struct ezprof_agent *a = context;

	(void)fd;
	(void)what;
	event_del(a->opener);
	a->opener_gone = true;
	ezprof_opener_stop(a->measurement->opener);
	a->measurement->opener = NULL;
	say(a, "the privileged helper is gone; what is attached stays attached");
}

/* ---- life ---- */

static int add_event(struct ezprof_agent *a, struct event **ret_event, int fd, short what,
		     event_callback_fn callback, uint64_t timeout_ns)
{
	struct timeval timeout = {.tv_sec = (time_t)(timeout_ns / EZ_NS_PER_S),
				  .tv_usec = (suseconds_t)(timeout_ns % EZ_NS_PER_S / 1000)};

	*ret_event = event_new(a->base, fd, what, callback, a);
	return !*ret_event || event_add(*ret_event, timeout_ns ? &timeout : NULL) ? -ENOMEM : 0;
}

static int watch_signals(struct ezprof_agent *a)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
#ifdef EZPROF_TEST_HOOKS
	sigaddset(&signals, SIGUSR2);
#endif
	a->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (a->signal_fd < 0)
		return -errno;
	return add_event(a, &a->signals, a->signal_fd, EV_READ | EV_PERSIST, on_signal, 0);
}

static int watch_target(struct ezprof_agent *a, struct ezprof_target *target)
{
	struct watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return -ENOMEM;
	watch->agent = a;
	watch->target = target;
	watch->event = event_new(a->base, target->process->pid_fd, EV_READ | EV_PERSIST,
				 on_target_exit, watch);
	if (!watch->event || event_add(watch->event, NULL)) {
		free(watch);
		return -ENOMEM;
	}
	watch->next = a->watches;
	a->watches = watch;
	return 0;
}

static int watch_targets(struct ezprof_agent *a)
{
	const struct ezprof_measurement *m = a->measurement;
	const struct ezprof_discovery_options tell = {
		.joined = on_joined, .say = say_line, .context = a};
	size_t i;
	int err = 0;

	ezprof_discovery_tell(a->options.discovery, &tell);
	for (i = 0; !err && i < m->target_count; i++)
		err = watch_target(a, m->targets[i]);
	return err;
}

static void free_watches(struct ezprof_agent *a)
{
	struct watch *watch, *next;

	for (watch = a->watches; watch; watch = next) {
		next = watch->next;
		event_free(watch->event);
		free(watch);
	}
}

static int serve_socket(struct ezprof_agent *a)
{
	const struct ezprof_agent_socket_handler handler = {.profile = socket_profile,
							    .hello = socket_hello,
							    .record = socket_record,
							    .context = a};

	if (a->options.socket_fd < 0)
		return 0;
	return ezprof_agent_socket_new(a->base, a->options.socket_fd, a->options.socket_path,
				       a->options.owner, &handler, &a->socket);
}

static int set_up(struct ezprof_agent *a)
{
	int opener_fd = ezprof_opener_fd(a->measurement->opener);
	int err;

	a->base = event_base_new();
	if (!a->base)
		return -ENOMEM;
	err = ezprof_span_feed_new(a->measurement, a->base, say_line, a, &a->feed);
	if (!err)
		err = serve_socket(a);
	if (!err)
		err = watch_signals(a);
	if (!err)
		err = watch_targets(a);
	if (!err)
		err = add_event(a, &a->tick, -1, EV_PERSIST, on_tick, TICK_MS * EZ_NS_PER_MS);
	if (!err)
		err = add_event(a, &a->opener, opener_fd, EV_READ | EV_PERSIST, on_opener_gone, 0);
	if (!err && a->options.duration_ns)
		err = add_event(a, &a->duration, -1, 0, on_duration, a->options.duration_ns);
	a->snapshot = ezprof_snapshot_new(a->measurement);
	return err ? err : a->snapshot ? 0 : -ENOMEM;
}

int ezprof_agent_new(struct ezprof_measurement *measurement, struct ezprof_graph_set *graphs,
		     const struct ezprof_agent_options *options, struct ezprof_agent **ret_agent)
{
	struct ezprof_agent *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	a->measurement = measurement;
	a->graphs = graphs;
	a->options = *options;
	a->signal_fd = -1;
	err = set_up(a);
	if (err) {
		ezprof_agent_free(a);
		return err;
	}
	*ret_agent = a;
	return 0;
}

int ezprof_agent_run(struct ezprof_agent *a, enum ezprof_agent_end *ret_end)
{
	tick_costs(a);
	update_links(a);
	if (event_base_dispatch(a->base) < 0)
		return -EIO;
	*ret_end = a->end;
	return 0;
}

static void free_event(struct event *event)
{
	if (event)
		event_free(event);
}

void ezprof_agent_free(struct ezprof_agent *a)
{
	if (!a)
		return;
	ezprof_graph_set_unlink(a->graphs);
	free_watches(a);
	ezprof_agent_socket_free(a->socket);
	ezprof_span_feed_free(a->feed);
	free_event(a->signals);
	free_event(a->tick);
	free_event(a->duration);
	free_event(a->opener);
	ez_fd_close(a->signal_fd);
	ezprof_snapshot_free(a->snapshot);
	if (a->base)
		event_base_free(a->base);
	free(a);
}
