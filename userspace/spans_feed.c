/* SPDX-License-Identifier: MIT */
#include "spans_feed.h"
#include "clock.h"
#include "command.h"
#include "snapshot.h"
#include "spans_client.h"
#include "spans_frames.h"
#include "spans_reader.h"
#include "spans_sources.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>

#define CLIENTS_MAX 4u
/* Every so often the ring is emptied, also if it isn't a quarter full. */
#define TICK_US 50000
#define WATCH_TICKS 4u
/* Others aren't waited for longer than that. */
#define READY_NS_MAX 1000000000ull
#define STUCK_S 30
#define BUSY_TRIES 3
/* For one who doesn't take the end of a recording. */
#define FLUSH_MS 2000

struct ezprof_span_feed {
	struct ezprof_measurement *measurement;
	struct event_base *base;
	struct event *tick, *full;
	unsigned int ticks;
	struct ezprof_span_ring *ring;
	struct ezprof_span_sources sources;
	struct ezprof_span_client *clients[CLIENTS_MAX];
	uint64_t malformed;
	ezprof_span_feed_say *say;
	void *context;
};

static void on_batch(void *context, const struct ezprof_span_batch *batch)
{
	struct ezprof_span_feed *f = context;
	struct ezprof_span_source *source =
		ezprof_span_source_find(&f->sources, (pid_t)batch->tgid, batch->file);
	struct ezprof_target *target;
	uint32_t number;

	if (!source || !source->ready_ns)
		return;
	target = ezprof_span_source_target(&f->sources, source);
	if (!target || ezprof_span_source_number(&f->sources, source, batch->index,
						 batch->generation, &number))
		return;
	if (!ezprof_span_source_endpoint(target, source, batch->index, batch->generation) &&
	    target->state == EZPROF_TARGET_ATTACHED && number + 1 == f->sources.next_number)
		ezprof_target_refresh(target, ez_clock_mono_ns());
	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		struct ezprof_span_client *c = f->clients[i];

		if (c && c->ready && !c->broken && ezprof_span_client_sees(c, target, source))
			ezprof_span_client_batch(c, number, target, source, batch);
	}
}

/* ---- everything up to now ---- */

/* What an endpoint had when its page was read: the page, and the total if both are of one moment.
 */
struct rest {
	const struct ezprof_endpoint *endpoint;
	uint32_t number;
	bool have_total;
	uint64_t total;
	struct ez_span_page page;
};

static bool total_now(const struct ezprof_target_object *object, const struct ezprof_endpoint *e,
		      uint64_t *ret_total)
{
	struct ezprof_totals totals;

	for (int i = 0; i < BUSY_TRIES; i++) {
		if (ezprof_registry_reread(object->reader, e, &totals, NULL))
			return false;
		if (totals.stable) {
			*ret_total = ezprof_span_total(&totals);
			return true;
		}
	}
	return false;
}

/* The total before the page: then nothing that it counts can be missing from page and ring. */
static void read_rest(struct ezprof_span_feed *f, struct ezprof_target *target,
		      struct ezprof_span_source *source, const struct ezprof_endpoint *e,
		      struct rest *r)
{
	struct ezprof_memory memory = {ezprof_memory_read_fd, &target->process->mem_fd};

	r->endpoint = e;
	r->page.count = 0;
	r->have_total = total_now(&target->objects[source->object], e, &r->total);
	if (ezprof_span_page_read(&memory, e->page, &r->page)) {
		r->have_total = false;
		r->page.count = 0;
	}
	if (ezprof_span_source_number(&f->sources, source, e->index, e->generation, &r->number))
		r->endpoint = NULL;
}

static void send_rest(struct ezprof_span_client *c, const struct ezprof_target *target,
		      const struct ezprof_span_source *source, const struct rest *r)
{
	struct ezprof_span_batch batch;

	if (!r->endpoint || c->broken)
		return;
	if (!ezprof_span_page_decode(&r->page, &batch) && batch.count) {
		batch.index = r->endpoint->index;
		batch.generation = r->endpoint->generation;
		ezprof_span_client_batch(c, r->number, target, source, &batch);
	}
	if (r->have_total && ezprof_span_client_is_told(c, r->number))
		ezprof_span_client_total(c, r->number, r->total);
}

static void drain(struct ezprof_span_feed *f)
{
	ezprof_span_ring_drain(f->ring, &f->malformed);
}

static void sync_source(struct ezprof_span_feed *f, struct ezprof_span_client *c,
			struct ezprof_target *target, struct ezprof_span_source *source)
{
	const struct ezprof_endpoints *all;
	struct rest *rest;
	size_t n = 0, i;

	ezprof_target_refresh(target, ez_clock_mono_ns());
	all = target->objects[source->object].endpoints;
	rest = all ? calloc(all->count + 1, sizeof(*rest)) : NULL;
	c->broken |= all && !rest;
	for (i = 0; rest && i < all->count; i++) {
		if (ezprof_span_endpoint_counts(&all->list[i]))
			read_rest(f, target, source, &all->list[i], &rest[n++]);
	}
	drain(f);
	for (i = 0; i < n; i++)
		send_rest(c, target, source, &rest[i]);
	free(rest);
}

static struct ezprof_stream_losses losses_now(const struct ezprof_span_feed *f)
{
	struct ez_span_counters counters = {0};

	ezprof_span_ring_counters(f->ring, &counters);
	return (struct ezprof_stream_losses){.no_room = counters.no_room,
					     .unreadable = counters.unreadable,
					     .malformed = f->malformed};
}

static void sync_client(struct ezprof_span_feed *f, struct ezprof_span_client *c)
{
	struct ezprof_stream_losses losses;

	drain(f);
	for (size_t i = 0; i < f->sources.count && !c->broken; i++) {
		struct ezprof_span_source *source = f->sources.list[i];
		struct ezprof_target *target = ezprof_span_source_target(&f->sources, source);

		if (target && source->ready_ns && target->state == EZPROF_TARGET_ATTACHED &&
		    ezprof_span_client_sees(c, target, source))
			sync_source(f, c, target, source);
	}
	losses = losses_now(f);
	losses.no_room -= c->before.no_room;
	losses.unreadable -= c->before.unreadable;
	losses.malformed -= c->before.malformed;
	losses.not_sent = c->not_sent;
	c->broken |= !ezprof_frame_plain(ezprof_span_client_out(c), EZPROF_STREAM_SYNCED, &losses,
					 sizeof(losses));
}

/* ---- time ---- */

/* Sources whose calls have settled begin now, for those who are waiting for nothing else. */
static void begin_sources(struct ezprof_span_feed *f, uint64_t now_ns)
{
	for (size_t i = 0; i < f->sources.count; i++) {
		struct ezprof_span_source *source = f->sources.list[i];
		struct ezprof_target *target;

		if (source->ready_ns || now_ns - source->linked_ns < EZPROF_SPAN_SETTLE_NS)
			continue;
		target = ezprof_span_source_target(&f->sources, source);
		if (!target)
			continue;
		ezprof_target_refresh(target, now_ns);
		source->ready_ns = now_ns;
		for (unsigned int j = 0; j < CLIENTS_MAX; j++) {
			if (f->clients[j] && f->clients[j]->ready &&
			    ezprof_span_client_sees(f->clients[j], target, source))
				ezprof_span_client_begin(f->clients[j], &f->sources, target,
							 source);
		}
	}
}

static bool all_ready(const struct ezprof_span_feed *f)
{
	for (size_t i = 0; i < f->sources.count; i++) {
		if (!f->sources.list[i]->ready_ns)
			return false;
	}
	return true;
}

static void begin_client(struct ezprof_span_feed *f, struct ezprof_span_client *c, uint64_t now_ns)
{
	for (size_t i = 0; i < f->sources.count; i++) {
		struct ezprof_span_source *source = f->sources.list[i];
		struct ezprof_target *target = ezprof_span_source_target(&f->sources, source);

		if (!target || !source->ready_ns)
			continue;
		ezprof_target_refresh(target, now_ns);
		if (ezprof_span_client_sees(c, target, source))
			ezprof_span_client_begin(c, &f->sources, target, source);
	}
	c->before = losses_now(f);
	c->ready = true;
	c->broken |= !ezprof_frame_plain(ezprof_span_client_out(c), EZPROF_STREAM_READY, NULL, 0);
}

/* Who waits right now: a span tells of a wait only after its end. */
static void watch(struct ezprof_span_feed *f, uint64_t now_ns)
{
	bool wanted = false;

	for (unsigned int j = 0; j < CLIENTS_MAX; j++)
		wanted |= f->clients[j] && f->clients[j]->flags & EZPROF_STREAM_WATCH;
	for (size_t i = 0; wanted && i < f->sources.count; i++) {
		struct ezprof_span_source *source = f->sources.list[i];
		struct ezprof_target *target = ezprof_span_source_target(&f->sources, source);

		if (!target || target->state != EZPROF_TARGET_ATTACHED)
			continue;
		ezprof_target_refresh(target, now_ns);
		for (unsigned int j = 0; j < CLIENTS_MAX; j++) {
			struct ezprof_span_client *c = f->clients[j];

			if (c && c->ready && c->flags & EZPROF_STREAM_WATCH &&
			    ezprof_span_client_sees(c, target, source))
				ezprof_span_client_waiting(c, &f->sources, target, source);
		}
	}
}

/* ---- clients ---- */

static void stop_if_alone(struct ezprof_span_feed *f)
{
	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		if (f->clients[i])
			return;
	}
	if (f->tick)
		event_free(f->tick);
	if (f->full)
		event_free(f->full);
	f->tick = f->full = NULL;
	ezprof_span_sources_clear(&f->sources);
	ezprof_span_ring_close(f->ring);
	f->ring = NULL;
}

static void remove_client(struct ezprof_span_client *c)
{
	struct ezprof_span_feed *f = c->feed;

	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		if (f->clients[i] == c)
			f->clients[i] = NULL;
	}
	bufferevent_free(c->events);
	free(c);
}

static void drop_broken(struct ezprof_span_feed *f)
{
	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		if (f->clients[i] && f->clients[i]->broken)
			remove_client(f->clients[i]);
	}
	stop_if_alone(f);
}

static void on_tick(evutil_socket_t fd, short what, void *context)
{
	struct ezprof_span_feed *f = context;
	uint64_t now_ns = ez_clock_mono_ns();

	(void)fd;
	(void)what;
	drain(f);
	begin_sources(f, now_ns);
	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		struct ezprof_span_client *c = f->clients[i];

		if (c && !c->ready && (all_ready(f) || now_ns - c->since_ns > READY_NS_MAX))
			begin_client(f, c, now_ns);
	}
	if (++f->ticks % WATCH_TICKS == 0)
		watch(f, now_ns);
	drop_broken(f);
}

static void on_full(evutil_socket_t fd, short what, void *context)
{
	struct ezprof_span_feed *f = context;

	(void)fd;
	(void)what;
	drain(f);
	drop_broken(f);
}

static void on_data(struct bufferevent *events, void *context)
{
	struct ezprof_span_client *c = context;
	struct ezprof_span_feed *f = c->feed;
	struct evbuffer *in = bufferevent_get_input(events);
	unsigned char command;

	while (!c->broken && evbuffer_remove(in, &command, 1) == 1) {
		c->broken |= command != EZ_CMD_RECORD || !c->ready;
		if (!c->broken)
			sync_client(f, c);
	}
	drop_broken(f);
}

static void on_event(struct bufferevent *events, short what, void *context)
{
	struct ezprof_span_feed *f = ((struct ezprof_span_client *)context)->feed;

	(void)events;
	(void)what;
	remove_client(context);
	stop_if_alone(f);
}

static void on_refused(void *context, const struct ezprof_target *target, const char *sentence)
{
	struct ezprof_span_feed *f = context;
	char line[256];

	snprintf(line, sizeof(line), "process %d can't be recorded: %s", (int)target->process->pid,
		 sentence);
	f->say(f->context, line);
	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		struct ezprof_span_client *c = f->clients[i];

		if (c && (c->viewer == EZPROF_VIEWER_ALL || c->viewer == target->process->uid))
			c->broken |= !ezprof_frame_text(ezprof_span_client_out(c),
							EZPROF_STREAM_NOTE, line);
	}
}

static int start(struct ezprof_span_feed *f)
{
	const struct timeval period = {.tv_usec = TICK_US};
	int err;

	if (f->ring)
		return 0;
	err = ezprof_span_ring_open(f->measurement->bpf, on_batch, f, &f->ring);
	if (err)
		return err;
	f->tick = event_new(f->base, -1, EV_PERSIST, on_tick, f);
	f->full =
		event_new(f->base, ezprof_span_ring_fd(f->ring), EV_READ | EV_PERSIST, on_full, f);
	if (!f->tick || !f->full || event_add(f->tick, &period) || event_add(f->full, NULL))
		return -ENOMEM;
	return 0;
}

static struct ezprof_span_client **free_place(struct ezprof_span_feed *f)
{
	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		if (!f->clients[i])
			return &f->clients[i];
	}
	return NULL;
}

void ezprof_span_feed_add(struct ezprof_span_feed *f, struct bufferevent *events, uid_t viewer,
			  const char *graph, uint32_t flags)
{
	struct ezprof_span_client **place = free_place(f),
				  *c = place ? calloc(1, sizeof(*c)) : NULL;
	struct timeval stuck = {.tv_sec = STUCK_S};
	unsigned char accepted = EZ_CMD_RECORD;

	if (!(ezprof_bpf_paths(f->measurement->bpf) & EZPROF_PATH_SPANS)) {
		ezprof_span_client_refuse(events,
					  "it has no room for recordings: --record-buffer was 0");
		free(c);
		return;
	}
	if (!c || start(f)) {
		ezprof_span_client_refuse(events, place ? "it can't begin a recording"
							: "it is recording for four");
		free(c);
		stop_if_alone(f);
		return;
	}
	c->feed = f;
	c->events = events;
	c->viewer = viewer;
	c->flags = flags;
	c->since_ns = ez_clock_mono_ns();
	snprintf(c->graph, sizeof(c->graph), "%s", graph);
	*place = c;
	bufferevent_setcb(events, on_data, NULL, on_event, c);
	bufferevent_set_timeouts(events, NULL, &stuck);
	bufferevent_enable(events, EV_READ | EV_WRITE);
	c->broken |= evbuffer_add(ezprof_span_client_out(c), &accepted, 1) != 0;
	ezprof_span_feed_look(f);
}

/* ---- life ---- */

void ezprof_span_feed_look(struct ezprof_span_feed *f)
{
	if (!f->ring)
		return;
	/* What those who are gone have left is in the ring. */
	drain(f);
	ezprof_span_sources_sweep(&f->sources);
	if (ezprof_span_sources_look(&f->sources, on_refused, f))
		f->say(f->context, "no memory to record a process");
	drop_broken(f);
}

int ezprof_span_feed_new(struct ezprof_measurement *measurement, struct event_base *base,
			 ezprof_span_feed_say *say, void *context,
			 struct ezprof_span_feed **ret_feed)
{
	struct ezprof_span_feed *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->measurement = measurement;
	f->base = base;
	f->say = say;
	f->context = context;
	f->sources.measurement = measurement;
	*ret_feed = f;
	return 0;
}

void ezprof_span_feed_free(struct ezprof_span_feed *f)
{
	if (!f)
		return;
	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		if (!f->clients[i])
			continue;
		if (f->clients[i]->ready)
			sync_client(f, f->clients[i]);
		ezprof_span_client_flush(f->clients[i], FLUSH_MS);
		remove_client(f->clients[i]);
	}
	stop_if_alone(f);
	free(f);
}
