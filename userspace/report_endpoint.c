/* SPDX-License-Identifier: MIT */
#include "report_endpoint.h"
#include "histogram.h"
#include "json_value.h"
#include "window_fold.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define REPORT_TRANSPORT(name, value, text) [value] = text,
static const char *const transport_text[] = {EZ_TRANSPORT_LIST(REPORT_TRANSPORT)};
#undef REPORT_TRANSPORT

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

static double average_ms(const struct ezprof_interval *i)
{
	return i->samples ? (double)i->sum_ns / (double)i->samples / 1e6 : 0.0;
}

static double rate(uint64_t count, const struct ezprof_window *w)
{
	return w->covered_ns ? (double)count * 1e9 / (double)w->covered_ns : 0.0;
}

static void merge(struct ezprof_interval *to, const struct ezprof_interval *from)
{
	to->samples += from->samples;
	to->sum_ns += from->sum_ns;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
}

static void add_interval(struct json_object *o, const struct ezprof_interval *i)
{
	ezprof_json_double(o, "avg_ms", average_ms(i));
	ezprof_json_double(o, "max_ms", ms(i->max_ns));
	ezprof_json_u64(o, "samples", i->samples);
}

/* What one interval of an endpoint, or of all links of a publisher, comes to. */
struct timing {
	struct ezprof_interval interval;
	uint64_t min_ns;
	bool has_hist; /* else no distribution was measured: the boundary path */
	uint32_t hist[EZ_HIST_BINS];
};

static void timing_of(const struct ezprof_window *w, unsigned int interval, struct timing *t)
{
	t->interval = w->interval[interval];
	t->min_ns = w->min_ns[interval];
	t->has_hist = w->has_hist && interval < EZ_HISTS;
	if (t->has_hist)
		memcpy(t->hist, w->hist[interval], sizeof(t->hist));
}

static void timing_merge(struct timing *to, const struct timing *from)
{
	if (from->interval.samples && (!to->interval.samples || from->min_ns < to->min_ns))
		to->min_ns = from->min_ns;
	merge(&to->interval, &from->interval);
	to->has_hist = to->has_hist || from->has_hist;
	for (unsigned int i = 0; from->has_hist && i < EZ_HIST_BINS; i++)
		to->hist[i] += from->hist[i];
}

static void add_quantile(struct json_object *o, const char *key, const struct timing *t,
			 unsigned int per_cent)
{
	uint64_t ns = t->has_hist
			      ? ezprof_quantile_ns(t->hist, t->min_ns, t->interval.max_ns, per_cent)
			      : 0;

	ezprof_json_double_if(o, key, t->has_hist && t->interval.samples, ms(ns));
}

/* The bins that aren't empty, as one text: a list would make the document long for people. */
#define BIN_TEXT_BYTES 33 /* " 16106127360:4294967295" */
static void add_bins(struct json_object *o, const struct timing *t)
{
	char text[EZ_HIST_BINS * BIN_TEXT_BYTES + 1] = "";
	size_t at = 0;
	uint32_t bin;

	for (bin = 0; bin < EZ_HIST_BINS; bin++) {
		if (!t->hist[bin])
			continue;
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%" PRIu64 ":%" PRIu32,
				       at ? " " : "", ez_hist_bin_low_ns(bin), t->hist[bin]);
	}
	if (t->has_hist)
		ezprof_json_text(o, "bins", text);
}

static struct json_object *timing_object(const struct timing *t, bool with_p90)
{
	struct json_object *o = json_object_new_object();

	add_interval(o, &t->interval);
	add_quantile(o, "p50_ms", t, 50);
	if (with_p90)
		add_quantile(o, "p90_ms", t, 90);
	add_quantile(o, "p99_ms", t, 99);
	ezprof_json_double_if(o, "min_ms", t->has_hist && t->interval.samples, ms(t->min_ns));
	if (with_p90)
		add_bins(o, t);
	return o;
}

static void add_timing(struct json_object *o, const char *key, const struct ezprof_window *w,
		       unsigned int interval)
{
	struct timing t;

	timing_of(w, interval, &t);
	ezprof_json_add(o, key, timing_object(&t, true));
}

/* What that time was spent on; null where nobody asked for it. */
static void add_sched(struct json_object *o, const struct ezprof_sched *s)
{
	struct json_object *sched = NULL;

	if (s->known) {
		sched = json_object_new_object();
		ezprof_json_double(sched, "time_ms", ms(s->time_ns));
		ezprof_json_double(sched, "on_cpu_ms", ms(s->on_cpu_ns));
		ezprof_json_double(sched, "runnable_ms", ms(s->runnable_ns));
		ezprof_json_double(sched, "blocked_ms", ms(s->blocked_ns));
		ezprof_json_double(sched, "other_ms", ms(s->other_ns));
	}
	ezprof_json_add(o, "sched", sched);
}

/* Of a processing time also what is in progress. */
static void add_processing(struct json_object *o, const struct ezprof_window *w)
{
	struct json_object *processing;
	struct timing t;

	timing_of(w, EZ_SUB_PROCESSING, &t);
	processing = timing_object(&t, true);
	ezprof_json_double_if(processing, "now_ms", w->processing_open_ns,
			      ms(w->processing_open_ns));
	add_sched(processing, &w->sched);
	ezprof_json_add(o, "processing", processing);
}

/* The longest gap is what a listener notices: one in progress counts. */
static void add_gap(struct json_object *o, const struct ezprof_window *w)
{
	struct json_object *gap;
	struct timing t;

	timing_of(w, EZ_PUB_GAP, &t);
	gap = timing_object(&t, false);
	ezprof_json_double_if(gap, "now_ms", w->gap_open_ns, ms(w->gap_open_ns));
	ezprof_json_double_if(gap, "longest_ms", w->gap_longest_ns, ms(w->gap_longest_ns));
	ezprof_json_u64_if(gap, "longest_at_ns", w->gap_longest_at_ns, w->gap_longest_at_ns);
	ezprof_json_add(o, "gap", gap);
}

static void add_counts(struct json_object *o, const char *key, uint64_t total, uint64_t window)
{
	struct json_object *counts = json_object_new_object();

	ezprof_json_u64(counts, "total", total);
	ezprof_json_u64(counts, "window", window);
	ezprof_json_add(o, key, counts);
}

static void add_total(struct json_object *o, const char *key, uint64_t total)
{
	struct json_object *counts = json_object_new_object();

	ezprof_json_u64(counts, "total", total);
	ezprof_json_add(o, key, counts);
}

static void add_window(struct json_object *o, const struct ezprof_window *w)
{
	struct json_object *window = json_object_new_object();

	ezprof_json_double(window, "requested_s", (double)w->requested_ns / 1e9);
	ezprof_json_double(window, "covered_s", (double)w->covered_ns / 1e9);
	ezprof_json_u64(window, "begin_ns", w->begin_ns);
	ezprof_json_u64(window, "end_ns", w->end_ns);
	ezprof_json_add(o, "window", window);
	ezprof_json_bool_if(o, "warming_up", true, w->warming_up);
}

static void add_measured(struct json_object *o, const struct ezprof_row *row)
{
	struct json_object *measured = json_object_new_object();

	ezprof_json_u64(measured, "messages", row->window.measured_messages);
	ezprof_json_u64(measured, "bytes", row->window.measured_bytes);
	ezprof_json_add(o, "measured", measured);
	ezprof_json_u64_if(o, "lost", row->loss.known, row->loss.lost);
	ezprof_json_bool_if(o, "lost_exact", row->loss.known, row->loss.exact);
}

/* The age of the oldest lease; not known if the process's table gave none. */
static void add_oldest_lease(struct json_object *o, const struct ezprof_profile *p,
			     uint64_t oldest_ns)
{
	ezprof_json_double_if(o, "oldest_lease_ms", oldest_ns && oldest_ns <= p->now_ns,
			      ms(p->now_ns - oldest_ns));
}

/* Where nobody serialises, or doesn't tell, that isn't known. */
static void add_serialise(struct json_object *o, const struct ezprof_row *row)
{
	uint64_t ns = row->endpoint.totals.span_ns;
	struct json_object *serialise = json_object_new_object();

	ezprof_json_double_if(serialise, "total_ms", ns > 0, ms(ns));
	ezprof_json_add(o, "serialise", serialise);
}

static void add_blocked(struct json_object *o, const struct ezprof_profile *p,
			const struct ezprof_row *row)
{
	const struct ezprof_window *w = &row->window;
	const struct ezprof_interval *ended = &w->interval[EZ_PUB_BLOCKED];
	uint64_t since_ns = row->endpoint.totals.blocked_since_ns;
	bool waits = since_ns && since_ns <= p->now_ns;
	uint64_t open_ns = waits ? p->now_ns - since_ns : 0;
	struct json_object *blocked = json_object_new_object();

	ezprof_json_double(blocked, "time_ms", ms(w->blocked_ns));
	ezprof_json_double(blocked, "share",
			   w->covered_ns ? (double)w->blocked_ns / (double)w->covered_ns : 0.0);
	ezprof_json_u64(blocked, "samples", ended->samples);
	ezprof_json_double(blocked, "max_ms", ms(ended->max_ns));
	ezprof_json_double_if(blocked, "now_ms", waits, ms(open_ns));
	ezprof_json_double(blocked, "total_ms", ms(row->endpoint.totals.blocked_ns + open_ns));
	add_sched(blocked, &w->sched);
	ezprof_json_add(o, "blocked", blocked);
}

static struct json_object *link_object(const struct ezprof_profile *p, const struct ezprof_row *row)
{
	const struct ezprof_endpoint *e = &row->endpoint;
	struct json_object *o = json_object_new_object();

	ezprof_json_uuid(o, "channel_id", &e->channel_id);
	ezprof_json_u64_if(o, "pid", e->peer_pid > 0, (uint64_t)e->peer_pid);
	ezprof_json_text(o, "transport", transport_text[e->totals.transport]);
	add_interval(o, &row->window.interval[EZ_LINK_LEASE]);
	ezprof_json_u64(o, "in_flight", ezprof_row_in_flight(row));
	add_oldest_lease(o, p, e->oldest_lease_ns);
	ezprof_json_u64(o, "disconnects", e->totals.disconnect_frees);
	return o;
}

/* A distribution there is of the first intervals only, so a link's is in the first one's place. */
static void link_lease(const struct ezprof_window *w, struct timing *t)
{
	timing_of(w, EZ_PUB_LEASE, t);
	t->interval = w->interval[EZ_LINK_LEASE];
}

/* What the links of a publisher come to together. */
struct link_sums {
	struct timing lease;
	uint64_t in_flight, oldest_ns, disconnects, unmatched;
};

static struct link_sums sum_links(const struct ezprof_row *links, size_t n)
{
	struct link_sums sums = {0};
	size_t i;

	for (i = 0; i < n; i++) {
		const struct ezprof_endpoint *e = &links[i].endpoint;
		struct timing lease;

		link_lease(&links[i].window, &lease);
		timing_merge(&sums.lease, &lease);
		sums.in_flight += ezprof_row_in_flight(&links[i]);
		sums.disconnects += e->totals.disconnect_frees;
		sums.unmatched += links[i].window.unmatched;
		if (e->oldest_lease_ns && (!sums.oldest_ns || e->oldest_lease_ns < sums.oldest_ns))
			sums.oldest_ns = e->oldest_lease_ns;
	}
	return sums;
}

static void add_backpressure(struct json_object *o, const struct link_sums *sums)
{
	struct json_object *b = json_object_new_object();

	add_interval(b, &sums->lease.interval);
	ezprof_json_u64(b, "in_flight", sums->in_flight);
	ezprof_json_add(o, "backpressure", b);
}

static void add_origin(struct json_object *o, const struct ezprof_profile *p)
{
	ezprof_json_text(o, "source", "bpf");
	ezprof_json_text(o, "host", p->host);
}

static double window_s(const struct ezprof_window *w)
{
	uint64_t ns = w->requested_ns;

	return (double)(ns < EZPROF_WINDOW_MAX_NS ? ns : EZPROF_WINDOW_MAX_NS) / 1e9;
}

struct json_object *ezprof_report_publisher(const struct ezprof_profile *p,
					    const struct ezprof_row *row)
{
	const struct ezprof_endpoint *e = &row->endpoint;
	const struct ezprof_window *w = &row->window;
	struct json_object *o = json_object_new_object();
	struct json_object *list = json_object_new_array();
	const struct ezprof_row *links;
	struct link_sums sums;
	size_t i, n;

	links = ezprof_profile_parts(p, row, &n);
	sums = sum_links(links, n);
	for (i = 0; i < n; i++)
		json_object_array_add(list, link_object(p, &links[i]));
	ezprof_json_double(o, "window_s", window_s(w));
	ezprof_json_double(o, "message_rate_hz", rate(w->messages, w));
	ezprof_json_double(o, "byte_rate_per_s", rate(w->bytes, w));
	add_counts(o, "messages", e->totals.messages, w->messages);
	add_counts(o, "bytes", e->totals.bytes, w->bytes);
	add_backpressure(o, &sums);
	ezprof_json_text(o, "type", "publisher");
	ezprof_json_uuid(o, "id", &e->id);
	ezprof_json_text(o, "topic", e->topic);
	ezprof_json_u64(o, "pid", (uint64_t)row->pid);
	ezprof_json_u64(o, "num_buffers", e->num_buffers);
	add_origin(o, p);
	ezprof_json_text_or_null(o, "handle", e->handle);
	ezprof_json_text_or_null(o, "task", e->task);
	add_window(o, w);
	add_measured(o, row);
	add_blocked(o, p, row);
	add_serialise(o, row);
	add_gap(o, w);
	ezprof_json_add(o, "lease", timing_object(&sums.lease, true));
	add_oldest_lease(o, p, sums.oldest_ns);
	ezprof_json_u64(o, "unsized_messages", e->totals.unsized);
	ezprof_json_u64(o, "disconnects", sums.disconnects + e->totals.disconnect_frees);
	ezprof_json_u64(o, "unmatched", sums.unmatched + w->unmatched);
	ezprof_json_add(o, "links", list);
	return o;
}

static void add_rates(struct json_object *o, const struct ezprof_row *row)
{
	const struct ezprof_window *w = &row->window;

	add_interval(o, &w->interval[EZ_SUB_LEASE]);
	ezprof_json_double(o, "message_rate_hz", rate(w->messages, w));
	ezprof_json_u64(o, "in_flight", ezprof_row_in_flight(row));
}

static struct json_object *subscriber_object(const struct ezprof_profile *p,
					     const struct ezprof_row *row)
{
	const struct ezprof_endpoint *e = &row->endpoint;
	const struct ezprof_window *w = &row->window;
	struct json_object *o = json_object_new_object();

	ezprof_json_uuid(o, "subscriber_id", &e->subscriber_id);
	ezprof_json_text(o, "handle", *e->handle ? e->handle : e->topic);
	add_rates(o, row);
	ezprof_json_text(o, "topic", e->topic);
	ezprof_json_text_or_null(o, "task", e->task);
	add_counts(o, "messages", ezprof_row_messages(row), w->messages);
	add_counts(o, "bytes", e->totals.bytes, w->bytes);
	add_measured(o, row);
	add_window(o, w);
	ezprof_json_text(o, "source", "bpf");
	add_oldest_lease(o, p, e->oldest_lease_ns);
	ezprof_json_u64(o, "disconnects", e->totals.disconnect_frees);
	ezprof_json_u64(o, "unmatched", w->unmatched);
	add_timing(o, "queue", w, EZ_SUB_QUEUE);
	add_processing(o, w);
	add_gap(o, w);
	add_total(o, "drops", e->totals.drops);
	return o;
}

struct json_object *ezprof_report_channel(const struct ezprof_profile *p,
					  const struct ezprof_row *row)
{
	const struct ezprof_endpoint *e = &row->endpoint;
	struct json_object *o = json_object_new_object();
	struct json_object *list = json_object_new_array();
	const struct ezprof_row *clients;
	uint64_t in_flight = 0;
	size_t i, n;

	clients = ezprof_profile_parts(p, row, &n);
	for (i = 0; i < n; i++) {
		in_flight += ezprof_row_in_flight(&clients[i]);
		json_object_array_add(list, subscriber_object(p, &clients[i]));
	}
	ezprof_json_double(o, "window_s", (double)p->window_ns / 1e9);
	ezprof_json_add(o, "subscribers", list);
	ezprof_json_u64(o, "in_flight", in_flight);
	ezprof_json_text(o, "type", "channel");
	ezprof_json_uuid(o, "channel_id", &e->id);
	ezprof_json_uuid(o, "pub_id", &e->publisher_id);
	ezprof_json_u64(o, "pid", (uint64_t)row->pid);
	ezprof_json_u64(o, "num_buffers", e->num_buffers);
	ezprof_json_text(o, "mode", transport_text[e->totals.transport]);
	ezprof_json_text(o, "topic", e->topic);
	add_origin(o, p);
	add_window(o, &row->window);
	add_total(o, "messages", e->totals.messages);
	add_total(o, "bytes", e->totals.bytes);
	return o;
}
