/* SPDX-License-Identifier: MIT */
#include "ezmsg_document.h"
#include "clock.h"
#include "json_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/utsname.h>

#define DOCUMENT_BYTES_MAX ((size_t)64 << 20)

static void put_nulls(struct ez_json *j, const char *const *keys)
{
	for (; *keys; keys++)
		ez_json_kv_null(j, *keys);
}
#define NULLS(j, ...) put_nulls(j, (const char *const[]){__VA_ARGS__, NULL})

static void f64_or_null(struct ez_json *j, const char *key, bool known, double value)
{
	if (known)
		ez_json_kv_f64(j, key, value);
	else
		ez_json_kv_null(j, key);
}

static void u64_or_null(struct ez_json *j, const char *key, bool known, uint64_t value)
{
	if (known)
		ez_json_kv_u64(j, key, value);
	else
		ez_json_kv_null(j, key);
}

static void put_average(struct ez_json *j, const struct ezprof_trace_sum *sum, bool known)
{
	f64_or_null(j, "avg_ms", known && sum->n,
		    sum->n ? sum->sum_ns / (double)sum->n / 1e6 : 0.0);
	f64_or_null(j, "max_ms", known && sum->n, sum->max_ns / 1e6);
	u64_or_null(j, "samples", known, sum->n);
}

/* Where another one traces, what was never seen may just not have been asked for. */
static void put_times(struct ez_json *j, const char *key, const struct ezprof_trace_sum *sum,
		      bool known)
{
	ez_json_key(j, key);
	ez_json_object_begin(j);
	put_average(j, sum, known);
	NULLS(j, "min_ms", "p50_ms", "p90_ms", "p99_ms", "now_ms", "sched");
	ez_json_object_end(j);
}

static void put_gap(struct ez_json *j, const struct ezprof_trace_sum *sum, bool known)
{
	ez_json_key(j, "gap");
	ez_json_object_begin(j);
	put_average(j, sum, known);
	f64_or_null(j, "longest_ms", known && sum->n, sum->max_ns / 1e6);
	NULLS(j, "min_ms", "p50_ms", "p99_ms", "now_ms", "longest_at_ns");
	ez_json_object_end(j);
}

static void put_counts(struct ez_json *j, const char *key, bool total_known, uint64_t total,
		       bool window_known, uint64_t window)
{
	ez_json_key(j, key);
	ez_json_object_begin(j);
	u64_or_null(j, "total", total_known, total);
	u64_or_null(j, "window", window_known, window);
	ez_json_object_end(j);
}

static void put_window(struct ez_json *j, const struct ezprof_ezmsg_facts *f)
{
	ez_json_key(j, "window");
	ez_json_object_begin(j);
	ez_json_kv_f64(j, "requested_s", f->window_s);
	f64_or_null(j, "covered_s", f->covered_s > 0.0, f->covered_s);
	NULLS(j, "begin_ns", "end_ns");
	ez_json_object_end(j);
}

/* What every endpoint has and nobody but an agent knows. */
static void put_unknown(struct ez_json *j, const struct ezprof_ezmsg_facts *f)
{
	ez_json_kv_str(j, "source", "ezmsg");
	put_window(j, f);
	NULLS(j, "warming_up", "lost", "lost_exact", "oldest_lease_ms", "disconnects", "unmatched");
	ez_json_key(j, "measured");
	ez_json_object_begin(j);
	NULLS(j, "messages", "bytes");
	ez_json_object_end(j);
}

static void put_blocked(struct ez_json *j, const struct ezprof_ezmsg_facts *f,
			const struct ezprof_trace_endpoint *e)
{
	bool known = !f->by_other || e->wait.n;
	double ms = e->wait.sum_ns / 1e6;

	ez_json_key(j, "blocked");
	ez_json_object_begin(j);
	f64_or_null(j, "time_ms", known, ms);
	f64_or_null(j, "share", known && f->covered_s > 0.0,
		    f->covered_s > 0.0 ? ms / (f->covered_s * 1e3) : 0.0);
	u64_or_null(j, "samples", known, e->wait.n);
	f64_or_null(j, "max_ms", known && e->wait.n, e->wait.max_ns / 1e6);
	NULLS(j, "now_ms", "total_ms", "sched");
	ez_json_object_end(j);
}

/* Another observer may take every tenth message only: then a gap isn't one between neighbours. */
static bool takes_each(const struct ezprof_trace_endpoint *e)
{
	return e->first_id >= 0 && (uint64_t)(e->last_id - e->first_id) + 1 == e->messages;
}

static void put_publisher(struct ez_json *j, const struct ezprof_ezmsg_facts *f,
			  const struct ezprof_trace_endpoint *e)
{
	const struct ezprof_trace_process *p = &f->traces->processes[e->process];
	bool counted = !f->by_other || takes_each(e);

	ez_json_object_begin(j);
	ez_json_kv_str(j, "type", "publisher");
	ez_json_kv_str(j, "id", e->id);
	ez_json_kv_str(j, "topic", e->topic);
	u64_or_null(j, "pid", p->pid >= 0, (uint64_t)p->pid);
	ez_json_kv_str(j, "host", p->host);
	ez_json_kv_f64(j, "window_s", f->window_s);
	put_unknown(j, f);
	NULLS(j, "num_buffers", "handle", "task", "byte_rate_per_s", "unsized_messages");
	put_counts(j, "messages", e->last_id >= 0, (uint64_t)(e->last_id + 1), counted,
		   e->messages);
	put_counts(j, "bytes", false, 0, false, 0);
	f64_or_null(j, "message_rate_hz", counted, (double)e->messages / f->covered_s);
	ez_json_kv_null(j, "backpressure");
	put_gap(j, &e->gap, counted);
	put_blocked(j, f, e);
	put_times(j, "lease", &(struct ezprof_trace_sum){0}, false);
	ez_json_key(j, "links");
	ez_json_array_begin(j);
	ez_json_array_end(j);
	ez_json_object_end(j);
}

static void put_tasks(struct ez_json *j, const struct ezprof_trace_endpoint *e)
{
	size_t i;

	ez_json_key(j, "tasks");
	ez_json_object_begin(j);
	for (i = 0; i < e->n_tasks; i++)
		put_times(j, e->tasks[i].name, &e->tasks[i].span, true);
	ez_json_object_end(j);
}

/* "work, slow", as the agents name several. */
static void put_task_names(struct ez_json *j, const struct ezprof_trace_endpoint *e)
{
	struct ez_buffer names;
	size_t i;

	ez_buffer_init(&names, 1 << 16);
	for (i = 0; i < e->n_tasks; i++) {
		ez_buffer_append_text(&names, i ? ", " : "");
		ez_buffer_append_text(&names, e->tasks[i].name);
	}
	ez_json_key(j, "task");
	if (names.len && !names.err)
		ez_json_str_n(j, (const char *)names.data, names.len);
	else
		ez_json_null(j);
	ez_buffer_free(&names);
}

static void put_subscriber(struct ez_json *j, const struct ezprof_ezmsg_facts *f,
			   const struct ezprof_trace_endpoint *e)
{
	bool mine = !f->by_other;

	ez_json_object_begin(j);
	ez_json_kv_str(j, "subscriber_id", e->id);
	ez_json_kv_str(j, "topic", e->topic);
	ez_json_kv_str(j, "handle", e->topic);
	put_task_names(j, e);
	put_unknown(j, f);
	put_counts(j, "messages", false, 0, mine, e->messages);
	put_counts(j, "bytes", false, 0, false, 0);
	f64_or_null(j, "message_rate_hz", mine, (double)e->messages / f->covered_s);
	NULLS(j, "in_flight", "avg_ms", "max_ms", "samples");
	put_times(j, "queue", &(struct ezprof_trace_sum){0}, false);
	put_times(j, "processing", &e->span, mine || e->span.n);
	put_times(j, "lease", &e->lease, mine || e->lease.n);
	put_gap(j, &(struct ezprof_trace_sum){0}, false);
	put_tasks(j, e);
	ez_json_key(j, "drops");
	ez_json_object_begin(j);
	ez_json_kv_null(j, "total");
	ez_json_object_end(j);
	ez_json_object_end(j);
}

/* ezmsg tells of a subscriber, not which publisher's channel served it. */
static void put_channel(struct ez_json *j, const struct ezprof_ezmsg_facts *f,
			const struct ezprof_trace_endpoint *e)
{
	const struct ezprof_trace_process *p = &f->traces->processes[e->process];

	ez_json_object_begin(j);
	ez_json_kv_str(j, "type", "channel");
	u64_or_null(j, "pid", p->pid >= 0, (uint64_t)p->pid);
	ez_json_kv_str(j, "host", p->host);
	ez_json_kv_str(j, "mode", e->transport);
	ez_json_kv_f64(j, "window_s", f->window_s);
	put_unknown(j, f);
	NULLS(j, "channel_id", "pub_id", "num_buffers", "topic", "in_flight");
	put_counts(j, "messages", false, 0, false, 0);
	put_counts(j, "bytes", false, 0, false, 0);
	ez_json_key(j, "subscribers");
	ez_json_array_begin(j);
	put_subscriber(j, f, e);
	ez_json_array_end(j);
	ez_json_object_end(j);
}

static void put_endpoints(struct ez_json *j, const struct ezprof_ezmsg_facts *f, const char *key,
			  bool publishes)
{
	size_t i;

	ez_json_key(j, key);
	ez_json_array_begin(j);
	for (i = 0; f->traces && i < f->traces->n_endpoints; i++) {
		const struct ezprof_trace_endpoint *e = &f->traces->endpoints[i];

		if (e->publishes != publishes)
			continue;
		if (publishes)
			put_publisher(j, f, e);
		else
			put_channel(j, f, e);
	}
	ez_json_array_end(j);
}

static void put_graph(struct ez_json *j, const struct ezprof_ezmsg_facts *f)
{
	size_t i, k;

	ez_json_key(j, "graph");
	ez_json_object_begin(j);
	for (i = 0; f->graph && i < f->graph->n_topics; i++) {
		const struct ez_dag_topic *t = &f->graph->topics[i];

		ez_json_key(j, t->name);
		ez_json_array_begin(j);
		for (k = 0; k < t->n_successors; k++)
			ez_json_str(j, f->graph->topics[t->successors[k]].name);
		ez_json_array_end(j);
	}
	ez_json_object_end(j);
	ez_json_kv_str(j, "graph_source", f->graph_source);
}

static void put_processes(struct ez_json *j, const struct ezprof_ezmsg_facts *f)
{
	size_t i, k;

	ez_json_key(j, "processes");
	ez_json_array_begin(j);
	for (i = 0; f->snapshot && i < f->snapshot->n_processes; i++) {
		const struct ez_session_process *p = &f->snapshot->processes[i];

		ez_json_object_begin(j);
		u64_or_null(j, "pid", p->pid >= 0, (uint64_t)p->pid);
		ez_json_kv_str(j, "host", p->host);
		ez_json_key(j, "units");
		ez_json_array_begin(j);
		for (k = 0; k < p->n_units; k++)
			ez_json_str(j, p->units[k]);
		ez_json_array_end(j);
		ez_json_object_end(j);
	}
	ez_json_array_end(j);
}

static void put_errors(struct ez_json *j, const struct ezprof_ezmsg_facts *f)
{
	size_t i;

	ez_json_key(j, "errors");
	ez_json_array_begin(j);
	for (i = 0; i < f->n_errors; i++) {
		const struct ezprof_ezmsg_error *e = &f->errors[i];

		ez_json_object_begin(j);
		ez_json_kv_str(j, "who", "process");
		NULLS(j, "id", "topic");
		u64_or_null(j, "pid", e->pid >= 0, (uint64_t)e->pid);
		ez_json_kv_str(j, "host", e->host);
		ez_json_kv_str(j, "reason", "bad_answer");
		ez_json_kv_str(j, "detail", e->detail);
		ez_json_object_end(j);
	}
	ez_json_array_end(j);
}

static void put_frame(struct ez_json *j, const struct ezprof_ezmsg_facts *f)
{
	struct utsname machine;

	ez_json_kv_f64(j, "window_s", f->window_s);
	ez_json_kv_str(j, "schema", "ezprof.profile/1");
	ez_json_kv_str(j, "tool", "ezprof");
	ez_json_kv_str(j, "tool_version", EZPROF_VERSION);
	ez_json_kv_str(j, "source", "ezmsg");
	ez_json_kv_str(j, "clock", "CLOCK_MONOTONIC");
	ez_json_kv_str(j, "host", uname(&machine) == 0 ? machine.nodename : "");
	ez_json_kv_u64(j, "time_ns", ez_clock_mono_ns());
	ez_json_kv_f64(j, "time_unix_s", ez_clock_unix_s());
	put_window(j, f);
	ez_json_key(j, "agents");
	ez_json_array_begin(j);
	ez_json_array_end(j);
	ez_json_kv_null(j, "lost");
	ez_json_kv_str(j, "hint", f->hint);
}

int ezprof_ezmsg_document(const struct ezprof_ezmsg_facts *facts, char **ret_text)
{
	struct ez_buffer out;
	struct ez_json json;
	size_t length;
	int err;

	ez_buffer_init(&out, DOCUMENT_BYTES_MAX);
	ez_json_init(&json, &out);
	ez_json_object_begin(&json);
	put_frame(&json, facts);
	put_endpoints(&json, facts, "publishers", true);
	put_endpoints(&json, facts, "channels", false);
	put_graph(&json, facts);
	put_processes(&json, facts);
	put_errors(&json, facts);
	ez_json_object_end(&json);
	err = out.err;
	if (!err) {
		*ret_text = ez_buffer_steal(&out, &length);
		err = *ret_text ? 0 : -ENOMEM;
	}
	ez_buffer_free(&out);
	return err;
}
