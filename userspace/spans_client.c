/* SPDX-License-Identifier: MIT */
#include "spans_client.h"
#include "clock.h"
#include "command.h"
#include "snapshot.h"
#include "spans_frames.h"

#include <poll.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>

/* What waits for a client; more is dropped, and counted. */
#define CLIENT_BYTES_MAX (16u << 20)

struct evbuffer *ezprof_span_client_out(const struct ezprof_span_client *c)
{
	return bufferevent_get_output(c->events);
}

bool ezprof_span_client_sees(const struct ezprof_span_client *c, const struct ezprof_target *target,
			     const struct ezprof_span_source *source)
{
	if (c->viewer != EZPROF_VIEWER_ALL && c->viewer != source->uid)
		return false;
	return !*c->graph || ezprof_target_uses(target, source->object, c->graph);
}

uint64_t ezprof_span_total(const struct ezprof_totals *t)
{
	return t->messages + t->frees - t->disconnect_frees;
}

static void tell_endpoint(struct ezprof_span_client *c, uint32_t number,
			  const struct ezprof_target *target,
			  const struct ezprof_endpoint *endpoint,
			  const unsigned char publisher_id[16])
{
	const struct ezprof_process *p = target->process;

	if (c->told[number / 8] & 1u << number % 8)
		return;
	c->told[number / 8] |= (unsigned char)(1u << number % 8);
	c->broken |= !ezprof_frame_endpoint(ezprof_span_client_out(c), number, p->pid, p->comm,
					    endpoint, publisher_id);
}

bool ezprof_span_endpoint_counts(const struct ezprof_endpoint *e)
{
	return e->page && e->kind != EZ_KIND_CHANNEL && e->kind != EZ_KIND_TASK;
}

/* Endpoints that are there, and where they begin. */
void ezprof_span_client_begin(struct ezprof_span_client *c, struct ezprof_span_sources *sources,
			      const struct ezprof_target *target, struct ezprof_span_source *source)
{
	const struct ezprof_endpoints *all = target->objects[source->object].endpoints;
	uint32_t number;

	for (size_t i = 0; all && i < all->count && !c->broken; i++) {
		const struct ezprof_endpoint *e = &all->list[i];

		if (!ezprof_span_endpoint_counts(e) ||
		    ezprof_span_source_number(sources, source, e->index, e->generation, &number))
			continue;
		tell_endpoint(c, number, target, e, (const unsigned char *)&e->publisher_id);
		c->broken |= !ezprof_frame_total(ezprof_span_client_out(c), number,
						 ezprof_span_total(&e->totals));
	}
}

/* One that appears with its first batch: all of it is wanted if it is younger than the link. */
static void tell_newcomer(struct ezprof_span_client *c, uint32_t number,
			  const struct ezprof_target *target,
			  const struct ezprof_span_source *source,
			  const struct ezprof_span_batch *batch)
{
	const struct ezprof_endpoint *e =
		ezprof_span_source_endpoint(target, source, batch->index, batch->generation);

	tell_endpoint(c, number, target, e, batch->publisher_id);
	if (e && e->opened_ns > source->ready_ns)
		c->broken |= !ezprof_frame_total(ezprof_span_client_out(c), number, 0);
}

bool ezprof_span_client_is_told(const struct ezprof_span_client *c, uint32_t number)
{
	return c->told[number / 8] & 1u << number % 8;
}

void ezprof_span_client_batch(struct ezprof_span_client *c, uint32_t number,
			      const struct ezprof_target *target,
			      const struct ezprof_span_source *source,
			      const struct ezprof_span_batch *batch)
{
	if (!ezprof_span_client_is_told(c, number))
		tell_newcomer(c, number, target, source, batch);
	if (evbuffer_get_length(ezprof_span_client_out(c)) > CLIENT_BYTES_MAX)
		c->not_sent += batch->count;
	else
		c->broken |= !ezprof_frame_batch(ezprof_span_client_out(c), number,
						 source->clock_offset_ns, batch);
}

void ezprof_span_client_waiting(struct ezprof_span_client *c, struct ezprof_span_sources *sources,
				const struct ezprof_target *target,
				struct ezprof_span_source *source)
{
	const struct ezprof_endpoints *all = target->objects[source->object].endpoints;
	struct ezprof_stream_waiting waiting = {0};

	for (size_t i = 0; all && i < all->count; i++) {
		const struct ezprof_endpoint *e = &all->list[i];

		waiting.since_ns = e->totals.blocked_since_ns;
		waiting.total = e->totals.messages;
		if (e->kind != EZ_KIND_PUBLISHER || !waiting.since_ns ||
		    ezprof_span_source_number(sources, source, e->index, e->generation,
					      &waiting.number) ||
		    !ezprof_span_client_is_told(c, waiting.number))
			continue;
		c->broken |= !ezprof_frame_plain(ezprof_span_client_out(c), EZPROF_STREAM_WAITING,
						 &waiting, sizeof(waiting));
	}
}

/* Sent as far as the socket takes it, which is enough for one sentence. */
void ezprof_span_client_refuse(struct bufferevent *events, const char *why)
{
	unsigned char accepted = EZ_CMD_RECORD;
	struct evbuffer *out = bufferevent_get_output(events);

	evbuffer_add(out, &accepted, 1);
	ezprof_frame_text(out, EZPROF_STREAM_REFUSED, why);
	bufferevent_setcb(events, NULL, NULL, NULL, NULL);
	evbuffer_unfreeze(out, 1);
	evbuffer_write(out, bufferevent_getfd(events));
	bufferevent_free(events);
}

void ezprof_span_client_total(struct ezprof_span_client *c, uint32_t number, uint64_t total)
{
	c->broken |= !ezprof_frame_total(ezprof_span_client_out(c), number, total);
}

void ezprof_span_client_flush(struct ezprof_span_client *c, int timeout_ms)
{
	struct pollfd wait = {.fd = bufferevent_getfd(c->events), .events = POLLOUT};
	ez_mono_ns_t deadline_ns = ez_clock_deadline_ns(timeout_ms);
	struct evbuffer *out = ezprof_span_client_out(c);

	bufferevent_disable(c->events, EV_READ | EV_WRITE);
	evbuffer_unfreeze(out, 1);
	while (evbuffer_get_length(out) && ez_clock_mono_ns() < deadline_ns) {
		if (poll(&wait, 1, ez_clock_left_ms(deadline_ns, ez_clock_mono_ns())) <= 0 ||
		    wait.revents & POLLERR || evbuffer_write(out, wait.fd) < 0)
			return;
	}
}
