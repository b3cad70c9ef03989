/* SPDX-License-Identifier: MIT */
#include "trace_summary.h"
#include "registry_layout.h"
#include "trace_model.h"
#include "visible_name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NONE EZPROF_MATCH_NONE
/* More kinds of ways through a graph than anybody reads; what is beyond is left out. */
#define PATHS_MAX 1024u
/* Two threads' readings of the clock may be so far off each other. */
#define CLOCK_NS 1000u
#define UNKNOWN UINT64_MAX

/* One arrival: which path it came by, and how long that took. */
struct sample {
	uint32_t path;
	uint64_t arrival_ns; /* UNKNOWN: it was there before its hand-over was noted */
	uint64_t done_ns;    /* 0: not known */
};

struct building {
	const struct ezprof_match *match;
	struct ezprof_trace_summary *summary;
	struct sample *samples;
	size_t sample_count, sample_room;
};

static struct ezprof_trace_path *find_path(struct building *b, const struct ezprof_trace_path *like)
{
	struct ezprof_trace_summary *s = b->summary;
	struct ezprof_trace_path *grown;

	for (size_t i = 0; i < s->count; i++) {
		if (s->paths[i].hops == like->hops &&
		    memcmp(s->paths[i].endpoints, like->endpoints,
			   (like->hops + 1) * sizeof(like->endpoints[0])) == 0)
			return &s->paths[i];
	}
	if (s->count == PATHS_MAX)
		return NULL;
	grown = reallocarray(s->paths, s->count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	s->paths = grown;
	s->paths[s->count] = *like;
	return &s->paths[s->count++];
}

static uint64_t arrival_of(uint64_t from_ns, uint64_t start_ns)
{
	if (start_ns + CLOCK_NS < from_ns)
		return UNKNOWN;
	return start_ns > from_ns ? start_ns - from_ns : 0;
}

static int add_sample(struct building *b, const struct ezprof_trace_path *path, uint64_t from_ns,
		      const struct ezprof_trace_span *end)
{
	size_t room = b->sample_room * 2 + 1024;
	struct sample *grown;

	if (b->sample_count == b->sample_room) {
		grown = reallocarray(b->samples, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		b->samples = grown;
		b->sample_room = room;
	}
	b->samples[b->sample_count++] =
		(struct sample){.path = (uint32_t)(path - b->summary->paths),
				.arrival_ns = arrival_of(from_ns, end->start_ns)};
	if (end->start_ns < from_ns)
		from_ns = end->start_ns;
	if (end->finish_ns > from_ns)
		b->samples[b->sample_count - 1].done_ns = end->finish_ns - from_ns;
	return 0;
}

/* The hop itself. */
static int add_edge(struct building *b, size_t i)
{
	const struct ezprof_trace_span *s = ezprof_match_span(b->match, i);
	struct ezprof_trace_path like = {
		.hops = 1, .endpoints = {b->match->publisher_of[s->endpoint], s->endpoint}};
	struct ezprof_trace_path *path;

	if (like.endpoints[0] == NONE || !s->start_ns)
		return 0;
	path = find_path(b, &like);
	if (!path)
		return 0;
	if (b->match->handed_ns[i])
		return add_sample(b, path, b->match->handed_ns[i], s);
	path->unmatched++;
	return 0;
}

/*
 * Back to where the message began: its source's span and hand-over, or its arrival at the first
 * relay where that was noted before. Endpoints end up reversed.
 */
static uint64_t walk_back(const struct ezprof_match *m, size_t i, struct ezprof_trace_path *like)
{
	uint64_t handed_ns = 0;
	uint32_t at = (uint32_t)i;

	like->hops = 0;
	while (at != NONE && like->hops < EZPROF_PATH_HOPS_MAX) {
		uint32_t publish = m->origin[at];

		like->endpoints[like->hops++] = ezprof_match_span(m, at)->endpoint;
		handed_ns = m->handed_ns[at];
		if (handed_ns > ezprof_match_span(m, at)->start_ns)
			handed_ns = ezprof_match_span(m, at)->start_ns;
		if (publish == NONE || !handed_ns)
			return 0;
		like->endpoints[like->hops] = ezprof_match_span(m, publish)->endpoint;
		at = m->origin[publish];
	}
	return at == NONE ? handed_ns : 0;
}

static void turn_round(struct ezprof_trace_path *path)
{
	for (size_t i = 0, j = path->hops; i < j; i++, j--) {
		uint32_t e = path->endpoints[i];

		path->endpoints[i] = path->endpoints[j];
		path->endpoints[j] = e;
	}
}

/* Only what reaches a sink: a subscriber whose processing leads to nothing that is recorded. */
static int add_path(struct building *b, size_t i, const bool *leads_on)
{
	const struct ezprof_trace_span *s = ezprof_match_span(b->match, i);
	struct ezprof_trace_path like = {0}, *path;
	uint64_t handed_ns;

	if (leads_on[s->endpoint] || !s->start_ns)
		return 0;
	handed_ns = walk_back(b->match, i, &like);
	if (!handed_ns || like.hops < 2)
		return 0;
	turn_round(&like);
	path = find_path(b, &like);
	return path ? add_sample(b, path, handed_ns, s) : 0;
}

static bool *list_leading_on(const struct ezprof_match *m)
{
	bool *leads_on = calloc(m->trace->endpoint_count + 1, sizeof(*leads_on));

	for (size_t i = 0; leads_on && i < m->count; i++) {
		if (ezprof_match_endpoint(m, i)->kind == EZ_KIND_PUBLISHER && m->origin[i] != NONE)
			leads_on[ezprof_match_span(m, m->origin[i])->endpoint] = true;
	}
	return leads_on;
}

static int collect(struct building *b)
{
	bool *leads_on = list_leading_on(b->match);
	int err = leads_on ? 0 : -ENOMEM;

	for (size_t i = 0; i < b->match->count && !err; i++) {
		if (ezprof_match_endpoint(b->match, i)->kind != EZ_KIND_CLIENT)
			continue;
		err = add_edge(b, i);
		if (!err)
			err = add_path(b, i, leads_on);
	}
	free(leads_on);
	return err;
}

/* ---- ranks ---- */

static int by_path_and_arrival(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->path != y->path)
		return x->path < y->path ? -1 : 1;
	return (x->arrival_ns > y->arrival_ns) - (x->arrival_ns < y->arrival_ns);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t rank(const uint64_t *sorted, size_t n, unsigned int percent)
{
	return sorted[(n * percent + 99) / 100 - 1];
}

static struct ezprof_latency latency_of(uint64_t *values, size_t n)
{
	if (!n)
		return (struct ezprof_latency){0};
	qsort(values, n, sizeof(*values), by_value);
	return (struct ezprof_latency){.samples = n,
				       .p50_ns = rank(values, n, 50),
				       .p90_ns = rank(values, n, 90),
				       .p99_ns = rank(values, n, 99),
				       .max_ns = values[n - 1]};
}

static void rank_path(struct ezprof_trace_path *path, const struct sample *samples, size_t n,
		      uint64_t *values)
{
	size_t arrived = 0, done = 0;

	for (size_t i = 0; i < n; i++) {
		if (samples[i].arrival_ns != UNKNOWN)
			values[arrived++] = samples[i].arrival_ns;
	}
	path->early = n - arrived;
	path->arrival = latency_of(values, arrived);
	for (size_t i = 0; i < n; i++) {
		if (samples[i].done_ns)
			values[done++] = samples[i].done_ns;
	}
	path->done = latency_of(values, done);
}

static int rank_all(struct building *b)
{
	uint64_t *values = calloc(b->sample_count + 1, sizeof(*values));
	size_t from = 0, to;

	if (!values)
		return -ENOMEM;
	if (b->sample_count)
		qsort(b->samples, b->sample_count, sizeof(*b->samples), by_path_and_arrival);
	for (; from < b->sample_count; from = to) {
		for (to = from;
		     to < b->sample_count && b->samples[to].path == b->samples[from].path;)
			to++;
		rank_path(&b->summary->paths[b->samples[from].path], b->samples + from, to - from,
			  values);
	}
	free(values);
	return 0;
}

int ezprof_trace_summary_new(const struct ezprof_match *match,
			     struct ezprof_trace_summary **ret_summary)
{
	struct building b = {.match = match, .summary = calloc(1, sizeof(*b.summary))};
	int err = b.summary ? collect(&b) : -ENOMEM;

	if (!err)
		err = rank_all(&b);
	free(b.samples);
	if (err)
		ezprof_trace_summary_free(b.summary);
	else
		*ret_summary = b.summary;
	return err;
}

void ezprof_trace_summary_free(struct ezprof_trace_summary *summary)
{
	if (!summary)
		return;
	free(summary->paths);
	free(summary);
}

/* ---- text ---- */

static void print_name(const struct ezprof_trace_endpoint *e, FILE *to)
{
	struct ez_buffer name;

	ez_buffer_init(&name, SIZE_MAX / 2);
	ez_visible_name(&name, ezprof_trace_name(e));
	if (!name.err && name.len)
		fwrite(name.data, 1, name.len, to);
	fprintf(to, " (%" PRIu32 ")", e->pid);
	ez_buffer_free(&name);
}

static void print_latency(const char *what, const struct ezprof_latency *l, FILE *to)
{
	if (!l->samples)
		return;
	fprintf(to, "  %-8s %8" PRIu64 " %11.3f %11.3f %11.3f %11.3f\n", what, l->samples,
		(double)l->p50_ns / 1e6, (double)l->p90_ns / 1e6, (double)l->p99_ns / 1e6,
		(double)l->max_ns / 1e6);
}

static void print_path(const struct ezprof_trace_path *path, const struct ezprof_trace *trace,
		       FILE *to)
{
	for (size_t i = 0; i <= path->hops; i++) {
		fputs(i ? " -> " : "", to);
		print_name(&trace->endpoints[path->endpoints[i]], to);
	}
	fputc('\n', to);
	print_latency("arrival", &path->arrival, to);
	print_latency("done", &path->done, to);
	if (path->early)
		fprintf(to,
			"  %" PRIu64 " more that had arrived before their hand-over was noted\n",
			path->early);
	if (path->unmatched)
		fprintf(to, "  %" PRIu64 " more whose hand-over was not recorded\n",
			path->unmatched);
}

static void print_part(const struct ezprof_trace_summary *s, const struct ezprof_trace *trace,
		       bool edges, FILE *to)
{
	for (size_t i = 0; i < s->count; i++) {
		if ((s->paths[i].hops == 1) == edges)
			print_path(&s->paths[i], trace, to);
	}
}

void ezprof_trace_summary_print(const struct ezprof_trace_summary *s,
				const struct ezprof_trace *trace, FILE *to)
{
	fprintf(to, "%-10s %8s %11s %11s %11s %11s\n", "from hand-over, ms", "n", "p50", "p90",
		"p99", "max");
	print_part(s, trace, true, to);
	print_part(s, trace, false, to);
}
