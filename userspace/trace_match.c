/* SPDX-License-Identifier: MIT */
#include "trace_match.h"
#include "registry_layout.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NONE EZPROF_MATCH_NONE
/* Tasks that may be at work on one thread at a time. */
#define LOOK_BACK 64u
/* A relay that gives its message back first publishes right after that. */
#define AFTER_NS 50000000u

/* ---- endpoints ---- */

struct named {
	const unsigned char *id;
	uint32_t place;
};

static int by_id(const void *a, const void *b)
{
	return memcmp(((const struct named *)a)->id, ((const struct named *)b)->id, 16);
}

static uint32_t find_id(const struct named *list, size_t n, const unsigned char *id)
{
	struct named key = {.id = id};
	const struct named *found = bsearch(&key, list, n, sizeof(*list), by_id);

	return found ? found->place : NONE;
}

static size_t list_kind(const struct ezprof_trace *t, uint32_t kind, struct named *list)
{
	size_t n = 0;

	for (size_t i = 0; i < t->endpoint_count; i++) {
		const struct ezprof_trace_endpoint *e = &t->endpoints[i];

		if (e->kind == kind && !e->twice)
			list[n++] = (struct named){.id = kind == EZ_KIND_LINK ? e->channel_id
									      : e->publisher_id,
						   .place = (uint32_t)i};
	}
	qsort(list, n, sizeof(*list), by_id);
	return n;
}

static int match_endpoints(struct ezprof_match *m)
{
	const struct ezprof_trace *t = m->trace;
	struct named *list = calloc(t->endpoint_count + 1, sizeof(*list));
	size_t n;

	m->publisher_of = calloc(t->endpoint_count + 1, sizeof(*m->publisher_of));
	m->link_of = calloc(t->endpoint_count + 1, sizeof(*m->link_of));
	if (!list || !m->publisher_of || !m->link_of) {
		free(list);
		return -ENOMEM;
	}
	n = list_kind(t, EZ_KIND_PUBLISHER, list);
	for (size_t i = 0; i < t->endpoint_count; i++)
		m->publisher_of[i] = find_id(list, n, t->endpoints[i].publisher_id);
	n = list_kind(t, EZ_KIND_LINK, list);
	for (size_t i = 0; i < t->endpoint_count; i++)
		m->link_of[i] = find_id(list, n, t->endpoints[i].channel_id);
	free(list);
	return 0;
}

/* ---- messages ---- */

/* (endpoint, message) -> place of its span; open addressing, at most half full. */
struct messages {
	uint32_t *places;
	size_t mask;
};

static size_t hash_of(uint32_t endpoint, uint64_t message_id)
{
	uint64_t h = (message_id + 1) * 0x9e3779b97f4a7c15ull ^ endpoint * 0xc2b2ae3d27d4eb4full;

	return (size_t)(h ^ h >> 29);
}

static uint32_t *message_slot(const struct messages *all, const struct ezprof_match *m,
			      uint32_t endpoint, uint64_t message_id)
{
	size_t at = hash_of(endpoint, message_id) & all->mask;

	for (;; at = (at + 1) & all->mask) {
		const struct ezprof_trace_span *s;

		if (all->places[at] == NONE)
			return &all->places[at];
		s = ezprof_match_span(m, all->places[at]);
		if (s->endpoint == endpoint && s->message_id == message_id)
			return &all->places[at];
	}
}

static uint32_t find_message(const struct messages *all, const struct ezprof_match *m,
			     uint32_t endpoint, uint64_t message_id)
{
	return endpoint == NONE ? NONE : *message_slot(all, m, endpoint, message_id);
}

static int list_messages(const struct ezprof_match *m, struct messages *all)
{
	size_t room = 16;

	while (room < 2 * m->count)
		room *= 2;
	all->mask = room - 1;
	all->places = malloc(room * sizeof(*all->places));
	if (!all->places)
		return -ENOMEM;
	memset(all->places, 0xff, room * sizeof(*all->places));
	for (size_t i = 0; i < m->count; i++) {
		const struct ezprof_trace_span *s = ezprof_match_span(m, i);
		uint32_t kind = ezprof_match_endpoint(m, i)->kind;

		if (kind == EZ_KIND_PUBLISHER || kind == EZ_KIND_LINK)
			*message_slot(all, m, s->endpoint, s->message_id) = (uint32_t)i;
	}
	return 0;
}

static void match_link(struct ezprof_match *m, const struct messages *all, size_t i)
{
	const struct ezprof_trace_span *s = ezprof_match_span(m, i);
	uint32_t p = find_message(all, m, m->publisher_of[s->endpoint], s->message_id);

	if (p == NONE)
		return;
	if (s->start_ns && (!m->handed_ns[p] || s->start_ns < m->handed_ns[p]))
		m->handed_ns[p] = s->start_ns;
	if (s->end_ns > m->freed_ns[p])
		m->freed_ns[p] = s->end_ns;
}

/*
 * What has arrived was handed over by then: a link's lease may be unknown, and Python's ezmsg notes
 * it after it has written the message, when its reader may have it already.
 */
static void bound_hand_over(struct ezprof_match *m, uint32_t publish, uint64_t arrival_ns)
{
	if (publish == NONE || !arrival_ns)
		return;
	if (!m->handed_ns[publish] || arrival_ns < m->handed_ns[publish])
		m->handed_ns[publish] = arrival_ns;
}

static void match_client(struct ezprof_match *m, const struct messages *all, size_t i)
{
	const struct ezprof_trace_span *s = ezprof_match_span(m, i);
	uint32_t link = find_message(all, m, m->link_of[s->endpoint], s->message_id);

	m->origin[i] = find_message(all, m, m->publisher_of[s->endpoint], s->message_id);
	if (link != NONE)
		m->handed_ns[i] = ezprof_match_span(m, link)->start_ns;
	bound_hand_over(m, m->origin[i], s->start_ns);
}

static void match_messages(struct ezprof_match *m, const struct messages *all)
{
	for (size_t i = 0; i < m->count; i++) {
		uint32_t kind = ezprof_match_endpoint(m, i)->kind;

		if (kind == EZ_KIND_LINK)
			match_link(m, all, i);
		else if (kind == EZ_KIND_CLIENT)
			match_client(m, all, i);
	}
}

/* ---- causes ---- */

struct work {
	uint32_t pid, tid;
	uint64_t begin_ns;
	uint32_t place;
};

static int by_thread(const void *a, const void *b)
{
	const struct work *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* What subscribers' threads were at, by thread and beginning. */
static struct work *list_work(const struct ezprof_match *m, size_t *ret_count)
{
	struct work *list = calloc(m->count + 1, sizeof(*list));
	size_t n = 0;

	for (size_t i = 0; list && i < m->count; i++) {
		const struct ezprof_trace_span *s = ezprof_match_span(m, i);

		if (ezprof_match_endpoint(m, i)->kind == EZ_KIND_CLIENT && s->begin_ns)
			list[n++] = (struct work){.pid = ezprof_match_endpoint(m, i)->pid,
						  .tid = s->tid,
						  .begin_ns = s->begin_ns,
						  .place = (uint32_t)i};
	}
	if (list)
		qsort(list, n, sizeof(*list), by_thread);
	*ret_count = n;
	return list;
}

/* How many of the list come before that moment of that thread. */
static size_t work_before(const struct work *list, size_t n, const struct work *moment)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (by_thread(&list[middle], moment) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at_it(const struct ezprof_trace_span *s, uint64_t at_ns, uint64_t slack_ns)
{
	uint64_t finish_ns = s->finish_ns ? s->finish_ns : s->end_ns;

	return finish_ns + slack_ns >= at_ns;
}

static uint32_t cause_of(const struct ezprof_match *m, const struct work *list, size_t n, size_t i)
{
	const struct ezprof_trace_span *p = ezprof_match_span(m, i);
	const struct ezprof_trace_endpoint *publisher = ezprof_match_endpoint(m, i);
	uint64_t at_ns = m->handed_ns[i] ? m->handed_ns[i] : p->end_ns;
	struct work moment = {.pid = publisher->pid, .tid = p->tid};
	size_t before, back;

	/* It may have waited a long time between giving its message back and publishing, and others
	   on its thread may have worked meanwhile. */
	if (p->start_ns && p->start_ns < at_ns)
		at_ns = p->start_ns;
	moment.begin_ns = at_ns;
	before = work_before(list, n, &moment);
	for (back = 0; back < before && back < LOOK_BACK; back++) {
		const struct work *w = &list[before - 1 - back];
		const struct ezprof_trace_endpoint *e = ezprof_match_endpoint(m, w->place);

		if (w->pid != moment.pid || w->tid != moment.tid)
			break;
		if (!is_at_it(ezprof_match_span(m, w->place), at_ns, back ? 0 : AFTER_NS))
			continue;
		/* Tasks of one event loop take turns on its thread. */
		if (!*publisher->task || !*e->task || strcmp(publisher->task, e->task) == 0)
			return w->place;
	}
	return NONE;
}

static int match_causes(struct ezprof_match *m)
{
	size_t n;
	struct work *list = list_work(m, &n);

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < m->count; i++) {
		if (ezprof_match_endpoint(m, i)->kind == EZ_KIND_PUBLISHER)
			m->origin[i] = cause_of(m, list, n, i);
	}
	free(list);
	return 0;
}

static int match_all(struct ezprof_match *m)
{
	struct messages all = {0};
	int err;

	m->origin = malloc((m->count + 1) * sizeof(*m->origin));
	m->handed_ns = calloc(m->count + 1, sizeof(*m->handed_ns));
	m->freed_ns = calloc(m->count + 1, sizeof(*m->freed_ns));
	if (!m->origin || !m->handed_ns || !m->freed_ns)
		return -ENOMEM;
	memset(m->origin, 0xff, (m->count + 1) * sizeof(*m->origin));
	err = match_endpoints(m);
	if (!err)
		err = list_messages(m, &all);
	if (!err) {
		match_messages(m, &all);
		err = match_causes(m);
	}
	free(all.places);
	return err;
}

int ezprof_match_new(const struct ezprof_trace *trace, uint64_t since_ns,
		     struct ezprof_match **ret_match)
{
	struct ezprof_match *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return -ENOMEM;
	m->trace = trace;
	/* Spans came in order but for batches that were late: those are kept. */
	while (m->first < trace->count && ezprof_trace_span(trace, m->first)->end_ns < since_ns)
		m->first++;
	m->count = trace->count - m->first;
	err = match_all(m);
	if (err)
		ezprof_match_free(m);
	else
		*ret_match = m;
	return err;
}

void ezprof_match_free(struct ezprof_match *m)
{
	if (!m)
		return;
	free(m->origin);
	free(m->handed_ns);
	free(m->freed_ns);
	free(m->publisher_of);
	free(m->link_of);
	free(m);
}
