/* SPDX-License-Identifier: MIT */
#include "trace_model.h"
#include "registry_layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE EZPROF_MATCH_NONE
#define LANES_MAX 256u
#define RATE_NS 100000000ull

/* ---- slices ---- */

/* While they are sorted `track` holds the kind of track. */
static void add(struct ezprof_trace_model *m, uint32_t span, enum ezprof_slice_kind kind,
		enum ezprof_track_kind track, uint64_t begin_ns, uint64_t end_ns)
{
	if (!begin_ns || end_ns < begin_ns)
		return;
	m->slices[m->slice_count++] = (struct ezprof_slice){
		.span = span, .track = track, .kind = kind, .begin_ns = begin_ns, .end_ns = end_ns};
	if (!m->begin_ns || begin_ns < m->begin_ns)
		m->begin_ns = begin_ns;
	if (end_ns > m->end_ns)
		m->end_ns = end_ns;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a && a < b ? a : b;
}

static void add_span(struct ezprof_trace_model *m, size_t i)
{
	const struct ezprof_trace_span *s = ezprof_match_span(m->match, i);
	uint32_t kind = ezprof_match_endpoint(m->match, i)->kind, span = (uint32_t)i;

	if (kind == EZ_KIND_PUBLISHER) {
		uint64_t begin_ns = earlier(m->match->handed_ns[i], s->end_ns);

		add(m, span, EZPROF_SLICE_PUBLISH, EZPROF_TRACK_PUBLISH,
		    earlier(s->start_ns, begin_ns), s->end_ns);
	} else if (kind == EZ_KIND_CLIENT && !s->begin_ns) {
		add(m, span, EZPROF_SLICE_DROPPED, EZPROF_TRACK_QUEUE, s->start_ns, s->end_ns);
	} else if (kind == EZ_KIND_CLIENT) {
		add(m, span, EZPROF_SLICE_QUEUE, EZPROF_TRACK_QUEUE, s->start_ns, s->begin_ns);
		add(m, span, EZPROF_SLICE_PROCESS, EZPROF_TRACK_PROCESS, s->begin_ns,
		    s->finish_ns ? s->finish_ns : s->end_ns);
	}
}

/* For qsort(), which takes no context: one thread at a time builds a model. */
static _Thread_local const struct ezprof_match *sorted_match;

static uint32_t endpoint_of(const struct ezprof_slice *s)
{
	return ezprof_match_span(sorted_match, s->span)->endpoint;
}

static int by_place(const void *a, const void *b)
{
	const struct ezprof_slice *x = a, *y = b;
	uint32_t i = endpoint_of(x), j = endpoint_of(y);

	if (i != j)
		return i < j ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static int by_track(const void *a, const void *b)
{
	const struct ezprof_slice *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static int add_track(struct ezprof_trace_model *m, uint32_t endpoint, enum ezprof_track_kind kind,
		     uint32_t lane)
{
	struct ezprof_track *grown = reallocarray(m->tracks, m->track_count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	m->tracks = grown;
	m->tracks[m->track_count++] =
		(struct ezprof_track){.endpoint = endpoint, .kind = kind, .lane = lane};
	return 0;
}

/*
 * The slices of one endpoint and kind, in order of time, each into the first lane that is free.
 * What doesn't fit into the last one is pushed back in it: hardly anybody waits 256 deep.
 */
static int assign_lanes(struct ezprof_trace_model *m, size_t from, size_t to)
{
	enum ezprof_track_kind kind = m->slices[from].track;
	uint32_t endpoint = endpoint_of(&m->slices[from]), lanes = 0,
		 first = (uint32_t)m->track_count;
	uint64_t free_ns[LANES_MAX];

	for (size_t i = from; i < to; i++) {
		struct ezprof_slice *s = &m->slices[i];
		uint32_t lane = 0;

		while (lane < lanes && free_ns[lane] > s->begin_ns)
			lane++;
		if (lane == LANES_MAX) {
			lane = LANES_MAX - 1;
			s->begin_ns = free_ns[lane];
			if (s->end_ns < s->begin_ns)
				s->end_ns = s->begin_ns;
		} else if (lane == lanes) {
			if (add_track(m, endpoint, kind, lanes++))
				return -ENOMEM;
		}
		free_ns[lane] = s->end_ns;
		s->track = first + lane;
	}
	return 0;
}

static int make_tracks(struct ezprof_trace_model *m)
{
	size_t from = 0, to;
	int err = 0;

	sorted_match = m->match;
	if (m->slice_count)
		qsort(m->slices, m->slice_count, sizeof(*m->slices), by_place);
	for (; from < m->slice_count && !err; from = to) {
		for (to = from + 1; to < m->slice_count &&
				    m->slices[to].track == m->slices[from].track &&
				    endpoint_of(&m->slices[to]) == endpoint_of(&m->slices[from]);)
			to++;
		err = assign_lanes(m, from, to);
		/* What comes next has kinds in `track`, not tracks: it isn't looked at again. */
	}
	if (err)
		return err;
	if (m->slice_count)
		qsort(m->slices, m->slice_count, sizeof(*m->slices), by_track);
	for (size_t i = 0; i < m->slice_count; i++) {
		struct ezprof_track *t = &m->tracks[m->slices[i].track];

		if (!t->count++)
			t->first = i;
	}
	return 0;
}

/* ---- counters ---- */

static int by_endpoint_and_time(const void *a, const void *b)
{
	const struct ezprof_count *x = a, *y = b;

	if (x->endpoint != y->endpoint)
		return x->endpoint < y->endpoint ? -1 : 1;
	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

/* First as steps, then as values; steps at one moment become one value. */
static void sum_counts(struct ezprof_trace_model *m)
{
	size_t kept = 0;

	qsort(m->counts, m->count_count, sizeof(*m->counts), by_endpoint_and_time);
	for (size_t i = 0; i < m->count_count; i++) {
		struct ezprof_count c = m->counts[i];
		const struct ezprof_count *last = kept ? &m->counts[kept - 1] : NULL;

		if (last && last->endpoint == c.endpoint)
			c.value += last->value;
		if (last && last->endpoint == c.endpoint && last->at_ns == c.at_ns)
			kept--;
		m->counts[kept++] = c;
	}
	m->count_count = kept;
}

static int make_counts(struct ezprof_trace_model *m)
{
	const struct ezprof_match *match = m->match;

	m->counts = calloc(2 * match->count + 1, sizeof(*m->counts));
	if (!m->counts)
		return -ENOMEM;
	for (size_t i = 0; i < match->count; i++) {
		uint32_t endpoint = ezprof_match_span(match, i)->endpoint;

		if (!match->handed_ns[i] || match->freed_ns[i] < match->handed_ns[i] ||
		    ezprof_match_endpoint(match, i)->kind != EZ_KIND_PUBLISHER)
			continue;
		m->counts[m->count_count++] = (struct ezprof_count){
			.endpoint = endpoint, .value = 1, .at_ns = match->handed_ns[i]};
		m->counts[m->count_count++] = (struct ezprof_count){
			.endpoint = endpoint, .value = -1, .at_ns = match->freed_ns[i]};
	}
	sum_counts(m);
	return 0;
}

static int add_rate(struct ezprof_trace_model *m, uint32_t endpoint, uint64_t at_ns,
		    uint32_t messages)
{
	struct ezprof_rate *grown;

	/* By doubling. */
	if ((m->rate_count & (m->rate_count - 1)) == 0) {
		grown = reallocarray(m->rates, m->rate_count ? 2 * m->rate_count : 1,
				     sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		m->rates = grown;
	}
	m->rates[m->rate_count++] = (struct ezprof_rate){
		.endpoint = endpoint, .at_ns = at_ns, .per_s = messages * (1e9 / RATE_NS)};
	return 0;
}

/* Tenths of a second with something in them, and a 0 where one without follows. */
static int rate_of(struct ezprof_trace_model *m, const struct ezprof_count *messages, size_t n)
{
	size_t i = 0, j;
	int err = 0;

	for (; i < n && !err; i = j) {
		uint64_t bin = messages[i].at_ns / RATE_NS;

		for (j = i; j < n && messages[j].at_ns / RATE_NS == bin;)
			j++;
		err = add_rate(m, messages[i].endpoint, bin * RATE_NS, (uint32_t)(j - i));
		if (!err && (j == n || messages[j].at_ns / RATE_NS > bin + 1))
			err = add_rate(m, messages[i].endpoint, (bin + 1) * RATE_NS, 0);
	}
	return err;
}

static int make_rates(struct ezprof_trace_model *m)
{
	struct ezprof_count *published = calloc(m->match->count + 1, sizeof(*published));
	size_t n = 0, i = 0, j;
	int err = published ? 0 : -ENOMEM;

	for (size_t k = 0; k < m->match->count && !err; k++) {
		const struct ezprof_trace_span *s = ezprof_match_span(m->match, k);

		if (ezprof_match_endpoint(m->match, k)->kind == EZ_KIND_PUBLISHER)
			published[n++] =
				(struct ezprof_count){.endpoint = s->endpoint, .at_ns = s->end_ns};
	}
	if (n)
		qsort(published, n, sizeof(*published), by_endpoint_and_time);
	for (; i < n && !err; i = j) {
		for (j = i; j < n && published[j].endpoint == published[i].endpoint;)
			j++;
		err = rate_of(m, published + i, j - i);
	}
	free(published);
	return err;
}

/* ---- arrows ---- */

static int make_targets(struct ezprof_trace_model *m)
{
	const struct ezprof_match *match = m->match;
	size_t n = match->count;

	m->first_target = calloc(n + 2, sizeof(*m->first_target));
	m->targets = calloc(n + 1, sizeof(*m->targets));
	if (!m->first_target || !m->targets)
		return -ENOMEM;
	/* Counted one place further on, so that filling moves them to where they belong. */
	for (size_t i = 0; i < n; i++) {
		if (match->origin[i] != NONE)
			m->first_target[match->origin[i] + 2]++;
	}
	for (size_t i = 2; i < n + 2; i++)
		m->first_target[i] += m->first_target[i - 1];
	for (size_t i = 0; i < n; i++) {
		if (match->origin[i] != NONE)
			m->targets[m->first_target[match->origin[i] + 1]++] = (uint32_t)i;
	}
	return 0;
}

/* ---- all of it ---- */

static int build(struct ezprof_trace_model *m)
{
	int err;

	m->slices = calloc(2 * m->match->count + 1, sizeof(*m->slices));
	if (!m->slices)
		return -ENOMEM;
	for (size_t i = 0; i < m->match->count; i++)
		add_span(m, i);
	err = make_tracks(m);
	if (!err)
		err = make_counts(m);
	if (!err)
		err = make_rates(m);
	return err ? err : make_targets(m);
}

int ezprof_trace_model_new(const struct ezprof_match *match, struct ezprof_trace_model **ret_model)
{
	struct ezprof_trace_model *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return -ENOMEM;
	m->match = match;
	err = build(m);
	if (err)
		ezprof_trace_model_free(m);
	else
		*ret_model = m;
	return err;
}

void ezprof_trace_model_free(struct ezprof_trace_model *m)
{
	if (!m)
		return;
	free(m->tracks);
	free(m->slices);
	free(m->counts);
	free(m->rates);
	free(m->first_target);
	free(m->targets);
	free(m);
}

const char *ezprof_slice_text(enum ezprof_slice_kind kind)
{
	static const char *const texts[EZPROF_SLICE_KINDS] = {"publish", "queue", "process",
							      "dropped"};

	return texts[kind];
}

const char *ezprof_track_text(enum ezprof_track_kind kind)
{
	static const char *const texts[EZPROF_TRACK_KINDS] = {"publish", "queue", "process"};

	return texts[kind];
}

const char *ezprof_trace_name(const struct ezprof_trace_endpoint *endpoint)
{
	return *endpoint->handle ? endpoint->handle : endpoint->topic;
}
