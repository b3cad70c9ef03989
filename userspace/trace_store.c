/* SPDX-License-Identifier: MIT */
#include "trace_store.h"
#include "registry_layout.h"
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 4096u

int ezprof_trace_new(size_t spans_max, struct ezprof_trace **ret_trace)
{
	struct ezprof_trace *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->room_max = spans_max ? spans_max : 1;
	t->room = t->room_max < ROOM_FIRST ? t->room_max : ROOM_FIRST;
	t->ring = calloc(t->room, sizeof(*t->ring));
	t->holes = calloc(EZPROF_TRACE_HOLES_MAX, sizeof(*t->holes));
	if (!t->ring || !t->holes) {
		ezprof_trace_free(t);
		return -ENOMEM;
	}
	*ret_trace = t;
	return 0;
}

static void free_strings(struct ezprof_trace_endpoint *e)
{
	free(e->topic);
	free(e->handle);
	free(e->task);
	free(e->comm);
}

void ezprof_trace_free(struct ezprof_trace *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->endpoint_count; i++)
		free_strings(&t->endpoints[i]);
	for (unsigned int i = 0; i < EZPROF_TRACE_AGENTS_MAX; i++)
		free(t->numbers[i].places);
	free(t->endpoints);
	free(t->ring);
	free(t->holes);
	free(t);
}

/* ---- endpoints ---- */

static uint32_t *place_of(struct ezprof_trace *t, unsigned int agent, uint32_t number)
{
	struct ezprof_trace_numbers *n = &t->numbers[agent];

	return number < n->count ? &n->places[number] : NULL;
}

/* The endpoint by its agent's number; NULL: nobody told of it. */
static struct ezprof_trace_endpoint *endpoint_of(struct ezprof_trace *t, unsigned int agent,
						 uint32_t number)
{
	const uint32_t *place = place_of(t, agent, number);

	return place && *place ? &t->endpoints[*place - 1] : NULL;
}

static int make_number(struct ezprof_trace *t, unsigned int agent, uint32_t number)
{
	struct ezprof_trace_numbers *n = &t->numbers[agent];
	size_t count = n->count ? n->count : 64;
	uint32_t *grown;

	if (number >= EZPROF_TRACE_ENDPOINTS_MAX)
		return -EPROTO;
	while (count <= number)
		count *= 2;
	if (count == n->count)
		return 0;
	grown = reallocarray(n->places, count, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + n->count, 0, (count - n->count) * sizeof(*grown));
	n->places = grown;
	n->count = count;
	return 0;
}

static int make_endpoint_room(struct ezprof_trace *t)
{
	size_t room = t->endpoint_room * 2 + 64;
	struct ezprof_trace_endpoint *grown;

	if (t->endpoint_count < t->endpoint_room)
		return 0;
	if (t->endpoint_count >= EZPROF_TRACE_ENDPOINTS_MAX)
		return -EPROTO;
	grown = reallocarray(t->endpoints, room, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	t->endpoints = grown;
	t->endpoint_room = room;
	return 0;
}

/* Two agents may measure the same process. */
static bool is_twice(const struct ezprof_trace *t, const struct ezprof_trace_endpoint *e)
{
	for (size_t i = 0; e->kind && i < t->endpoint_count; i++) {
		const struct ezprof_trace_endpoint *o = &t->endpoints[i];

		if (o->pid == e->pid && o->kind == e->kind && o->opened_ns == e->opened_ns &&
		    memcmp(o->id, e->id, sizeof(e->id)) == 0 &&
		    memcmp(o->channel_id, e->channel_id, sizeof(e->channel_id)) == 0)
			return true;
	}
	return false;
}

static int fill_endpoint(const struct ezprof_stream_frame *frame, struct ezprof_trace_endpoint *e)
{
	struct ezprof_stream_endpoint fixed;
	const char *texts[EZPROF_STREAM_STRINGS];
	int err = ezprof_stream_fixed(frame, &fixed, sizeof(fixed));

	if (!err)
		err = ezprof_stream_strings(frame, &fixed, texts);
	if (err)
		return err;
	*e = (struct ezprof_trace_endpoint){.pid = fixed.pid,
					    .kind = fixed.kind <= EZ_KIND_TASK ? fixed.kind : 0,
					    .transport = fixed.transport,
					    .opened_ns = fixed.opened_ns};
	memcpy(e->id, fixed.id, sizeof(e->id));
	memcpy(e->publisher_id, fixed.publisher_id, sizeof(e->publisher_id));
	memcpy(e->channel_id, fixed.channel_id, sizeof(e->channel_id));
	e->topic = ezprof_text_repair(texts[0], fixed.string_bytes[0], 0);
	e->handle = ezprof_text_repair(texts[1], fixed.string_bytes[1], 0);
	e->task = ezprof_text_repair(texts[2], fixed.string_bytes[2], 0);
	e->comm = ezprof_text_repair(texts[3], fixed.string_bytes[3], 0);
	if (e->topic && e->handle && e->task && e->comm)
		return 0;
	free_strings(e);
	return -ENOMEM;
}

static int take_endpoint(struct ezprof_trace *t, unsigned int agent,
			 const struct ezprof_stream_frame *frame)
{
	struct ezprof_trace_endpoint e;
	struct ezprof_stream_endpoint fixed;
	int err = ezprof_stream_fixed(frame, &fixed, sizeof(fixed));

	if (!err)
		err = make_number(t, agent, fixed.number);
	if (!err && *place_of(t, agent, fixed.number))
		err = -EPROTO;
	if (!err)
		err = make_endpoint_room(t);
	if (!err)
		err = fill_endpoint(frame, &e);
	if (err)
		return err;
	e.twice = is_twice(t, &e);
	t->endpoints[t->endpoint_count++] = e;
	*place_of(t, agent, fixed.number) = (uint32_t)t->endpoint_count;
	return 0;
}

/* ---- spans ---- */

/* Grows to what is allowed, then overwrites the oldest. */
static int make_span_room(struct ezprof_trace *t)
{
	size_t room = t->room * 2 < t->room_max ? t->room * 2 : t->room_max;
	struct ezprof_trace_span *grown;

	if (t->count < t->room)
		return 0;
	if (t->room == t->room_max) {
		t->first = (t->first + 1) % t->room;
		t->count--;
		t->overwritten++;
		return 0;
	}
	/* Nothing was overwritten yet, so the oldest stands first. */
	grown = reallocarray(t->ring, room, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	t->ring = grown;
	t->room = room;
	return 0;
}

static void note_wait(struct ezprof_trace *t, uint32_t endpoint, const struct ez_span *span)
{
	if (t->endpoints[endpoint].kind != EZ_KIND_PUBLISHER || !span->start_ns ||
	    span->begin_ns < span->start_ns || span->begin_ns - span->start_ns <= t->wait_ns)
		return;
	t->wait_ns = span->begin_ns - span->start_ns;
	t->wait_since_ns = span->start_ns;
	t->wait_endpoint = endpoint;
}

static int add_span(struct ezprof_trace *t, uint32_t endpoint, const struct ez_span *span)
{
	int err = make_span_room(t);

	if (err)
		return err;
	note_wait(t, endpoint, span);
	t->ring[(t->first + t->count++) % t->room] =
		(struct ezprof_trace_span){.endpoint = endpoint,
					   .tid = span->tid,
					   .message_id = span->message_id,
					   .bytes = span->bytes,
					   .start_ns = span->start_ns,
					   .begin_ns = span->begin_ns,
					   .finish_ns = span->finish_ns,
					   .end_ns = span->end_ns};
	return 0;
}

static void note_hole(struct ezprof_trace *t, uint32_t endpoint, uint64_t count, uint64_t at_ns)
{
	if (count && t->hole_count < EZPROF_TRACE_HOLES_MAX)
		t->holes[t->hole_count++] = (struct ezprof_trace_hole){
			.endpoint = endpoint, .count = count, .at_ns = at_ns};
}

static int take_batch(struct ezprof_trace *t, unsigned int agent,
		      const struct ezprof_stream_frame *frame)
{
	struct ez_span spans[EZ_SPANS_PER_PAGE];
	struct ezprof_stream_batch fixed;
	struct ezprof_span_batch batch;
	struct ezprof_trace_endpoint *e;
	uint64_t lost;
	int err = ezprof_stream_fixed(frame, &fixed, sizeof(fixed));

	if (!err)
		err = ezprof_stream_spans(frame, &fixed, spans);
	if (err)
		return err;
	e = endpoint_of(t, agent, fixed.number);
	if (!e || e->twice || !fixed.count) {
		t->unnumbered += e ? 0 : fixed.count;
		return 0;
	}
	batch = (struct ezprof_span_batch){
		.first_total = fixed.first_total, .count = fixed.count, .spans = spans};
	lost = e->account.lost;
	ezprof_span_account_take(&e->account, &batch);
	note_hole(t, (uint32_t)(e - t->endpoints), e->account.lost - lost,
		  batch.count ? batch.spans[0].end_ns : 0);
	if (batch.count && spans[fixed.count - 1].end_ns > e->waiting_since_ns)
		e->waiting_since_ns = 0;
	for (uint32_t i = 0; i < batch.count && !err; i++)
		err = add_span(t, (uint32_t)(e - t->endpoints), &batch.spans[i]);
	return err;
}

static int take_total(struct ezprof_trace *t, unsigned int agent,
		      const struct ezprof_stream_frame *frame)
{
	struct ezprof_stream_total fixed;
	struct ezprof_trace_endpoint *e;
	int err = ezprof_stream_fixed(frame, &fixed, sizeof(fixed));

	if (err)
		return err;
	e = endpoint_of(t, agent, fixed.number);
	if (!e)
		return -EPROTO;
	if (!e->account.begun)
		ezprof_span_account_begin(&e->account, fixed.total);
	else
		ezprof_span_account_end(&e->account, fixed.total);
	return 0;
}

static int take_waiting(struct ezprof_trace *t, unsigned int agent,
			const struct ezprof_stream_frame *frame)
{
	struct ezprof_stream_waiting fixed;
	struct ezprof_trace_endpoint *e;
	int err = ezprof_stream_fixed(frame, &fixed, sizeof(fixed));

	if (err)
		return err;
	e = endpoint_of(t, agent, fixed.number);
	if (!e || (e->waiting_since_ns && e->waiting_total == fixed.total))
		return 0;
	e->waiting_since_ns = fixed.since_ns;
	e->waiting_total = fixed.total;
	return 0;
}

int ezprof_trace_take(struct ezprof_trace *t, unsigned int agent,
		      const struct ezprof_stream_frame *frame)
{
	switch (frame->kind) {
	case EZPROF_STREAM_ENDPOINT:
		return take_endpoint(t, agent, frame);
	case EZPROF_STREAM_TOTAL:
		return take_total(t, agent, frame);
	case EZPROF_STREAM_BATCH:
		return take_batch(t, agent, frame);
	case EZPROF_STREAM_WAITING:
		return take_waiting(t, agent, frame);
	case EZPROF_STREAM_SYNCED:
		return ezprof_stream_fixed(frame, &t->losses[agent], sizeof(t->losses[agent]));
	default:
		return 0;
	}
}

uint64_t ezprof_trace_lost(const struct ezprof_trace *t)
{
	uint64_t lost = t->unnumbered;

	for (size_t i = 0; i < t->endpoint_count; i++)
		lost += t->endpoints[i].account.lost;
	return lost;
}

struct ezprof_stream_losses ezprof_trace_losses(const struct ezprof_trace *t)
{
	struct ezprof_stream_losses sum = {0};

	for (unsigned int i = 0; i < EZPROF_TRACE_AGENTS_MAX; i++) {
		sum.no_room += t->losses[i].no_room;
		sum.unreadable += t->losses[i].unreadable;
		sum.malformed += t->losses[i].malformed;
		sum.not_sent += t->losses[i].not_sent;
	}
	return sum;
}

uint64_t ezprof_trace_waiting_since(const struct ezprof_trace *t, uint32_t *ret_endpoint)
{
	uint64_t since_ns = 0;

	for (size_t i = 0; i < t->endpoint_count; i++) {
		uint64_t ns = t->endpoints[i].waiting_since_ns;

		if (ns && (!since_ns || ns < since_ns)) {
			since_ns = ns;
			*ret_endpoint = (uint32_t)i;
		}
	}
	return since_ns;
}
