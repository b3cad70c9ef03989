/* SPDX-License-Identifier: MIT */
#include "ezmsg_traces.h"

#include <stdlib.h>
#include <string.h>

/* Limits on what a stream may make us keep. */
#define PROCESSES_MAX 1024u
#define ENDPOINTS_MAX 8192u
#define TASKS_MAX 64u
#define NAME_BYTES_MAX 4096u

void ezprof_traces_init(struct ezprof_traces *traces, const char *host, uint64_t now_ns)
{
	memset(traces, 0, sizeof(*traces));
	traces->host = host;
	traces->from_ns = (double)now_ns;
}

void ezprof_traces_free(struct ezprof_traces *traces)
{
	size_t i, k;

	for (i = 0; i < traces->n_processes; i++)
		free(traces->processes[i].host);
	for (i = 0; i < traces->n_endpoints; i++) {
		struct ezprof_trace_endpoint *e = &traces->endpoints[i];

		for (k = 0; k < e->n_tasks; k++)
			free(e->tasks[k].name);
		free(e->tasks);
		free(e->topic);
		free(e->id);
	}
	free(traces->processes);
	free(traces->endpoints);
	memset(traces, 0, sizeof(*traces));
}

void ezprof_traces_start(struct ezprof_traces *traces, uint64_t now_ns, uint64_t window_ns)
{
	traces->started = true;
	traces->from_ns = (double)now_ns;
	traces->to_ns = (double)now_ns + (double)window_ns;
}

static bool is_text(const char *text, struct ez_str str)
{
	return strlen(text) == str.len && memcmp(text, str.data, str.len) == 0;
}

/* A copy; NULL: too long, with a NUL within, or no memory. */
static char *copy(const char *data, size_t len)
{
	return len > NAME_BYTES_MAX || memchr(data, '\0', len) ? NULL : strndup(data, len);
}

/* One more element, zeroed, at the end of an array that grows at each power of two. */
static void *grow(void **array, size_t n, size_t bytes, size_t max)
{
	void *grown;

	if (n >= max)
		return NULL;
	if ((n & (n - 1)) == 0) {
		grown = realloc(*array, (n ? 2 * n : 1) * bytes);
		if (!grown)
			return NULL;
		*array = grown;
	}
	return memset((char *)*array + n * bytes, 0, bytes);
}

static struct ezprof_trace_process *process_of(struct ezprof_traces *traces,
					       const struct ez_trace_sample *sample)
{
	struct ezprof_trace_process *p;
	size_t i;

	for (i = 0; i < traces->n_processes; i++) {
		p = &traces->processes[i];
		if (p->pid == sample->pid && is_text(p->host, sample->host))
			return p;
	}
	p = grow((void **)&traces->processes, traces->n_processes, sizeof(*p), PROCESSES_MAX);
	if (!p)
		return NULL;
	p->host = copy(sample->host.data, sample->host.len);
	if (!p->host)
		return NULL;
	p->pid = sample->pid;
	p->is_local = strcmp(p->host, traces->host) == 0;
	traces->n_processes++;
	return p;
}

/* Has it happened since we look, and before the window's end? */
static bool is_in_window(const struct ezprof_traces *traces, struct ezprof_trace_process *process,
			 double timestamp_ns)
{
	if (process->is_local)
		return timestamp_ns >= traces->from_ns &&
		       (!traces->started || timestamp_ns <= traces->to_ns);
	if (!traces->started)
		return traces->batches > 0;
	if (process->begin_ns == 0.0)
		process->begin_ns = timestamp_ns;
	return timestamp_ns <= process->begin_ns + (traces->to_ns - traces->from_ns);
}

static bool is_metric(const struct ez_trace_sample *sample, const char *name)
{
	return is_text(name, sample->metric);
}

static const char *transport_of(struct ez_str kind)
{
	static const char *const names[][2] = {{"LOCAL", "local"}, {"SHM", "shm"}, {"TCP", "tcp"}};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (is_text(names[i][0], kind))
			return names[i][1];
	}
	return "unknown";
}

/* "topic:uuid"; the topic may hold colons. */
static bool split(struct ez_str endpoint, size_t *ret_topic_len, size_t *ret_id)
{
	const char *colon = memrchr(endpoint.data, ':', endpoint.len);

	*ret_topic_len = colon ? (size_t)(colon - endpoint.data) : 0;
	*ret_id = colon ? *ret_topic_len + 1 : 0;
	return *ret_id < endpoint.len;
}

static struct ezprof_trace_endpoint *new_endpoint(struct ezprof_traces *traces, struct ez_str name,
						  size_t topic_len, size_t id)
{
	struct ezprof_trace_endpoint *e =
		grow((void **)&traces->endpoints, traces->n_endpoints, sizeof(*e), ENDPOINTS_MAX);

	if (!e)
		return NULL;
	e->topic = copy(name.data, topic_len);
	e->id = copy(name.data + id, name.len - id);
	if (!e->topic || !e->id) {
		free(e->topic);
		free(e->id);
		return NULL;
	}
	e->first_id = -1;
	e->last_id = -1;
	strcpy(e->transport, "unknown");
	traces->n_endpoints++;
	return e;
}

static struct ezprof_trace_endpoint *endpoint_of(struct ezprof_traces *traces, struct ez_str name,
						 bool publishes)
{
	struct ezprof_trace_endpoint *made;
	size_t topic_len, id, i;

	if (!split(name, &topic_len, &id))
		return NULL;
	for (i = 0; i < traces->n_endpoints; i++) {
		struct ezprof_trace_endpoint *e = &traces->endpoints[i];

		if (e->publishes == publishes &&
		    is_text(e->id, (struct ez_str){name.data + id, name.len - id}))
			return e;
	}
	made = new_endpoint(traces, name, topic_len, id);
	if (made)
		made->publishes = publishes;
	return made;
}

static void add_to(struct ezprof_trace_sum *sum, double ns)
{
	sum->n++;
	sum->sum_ns += ns;
	if (ns > sum->max_ns)
		sum->max_ns = ns;
}

/* A span's topic is "topic:coroutine". */
static void add_task(struct ezprof_trace_endpoint *e, const struct ez_trace_sample *sample)
{
	size_t own = strlen(e->topic), i;
	struct ezprof_trace_task *t;
	struct ez_str name;

	if (sample->topic.len <= own + 1 || memcmp(sample->topic.data, e->topic, own) != 0 ||
	    sample->topic.data[own] != ':')
		return;
	name = (struct ez_str){sample->topic.data + own + 1, sample->topic.len - own - 1};
	for (i = 0; i < e->n_tasks; i++) {
		if (is_text(e->tasks[i].name, name)) {
			add_to(&e->tasks[i].span, sample->value_ns);
			return;
		}
	}
	t = grow((void **)&e->tasks, e->n_tasks, sizeof(*t), TASKS_MAX);
	if (!t)
		return;
	t->name = copy(name.data, name.len);
	if (!t->name)
		return;
	add_to(&t->span, sample->value_ns);
	e->n_tasks++;
}

static void add_published(struct ezprof_trace_endpoint *e, const struct ez_trace_sample *sample)
{
	if (is_metric(sample, "backpressure_wait_ns")) {
		add_to(&e->wait, sample->value_ns);
		return;
	}
	e->messages++;
	/* The first one after tracing began has nothing to be compared with. */
	if (sample->value_ns > 0.0)
		add_to(&e->gap, sample->value_ns);
	if (sample->message_id >= 0 && (e->first_id < 0 || sample->message_id < e->first_id))
		e->first_id = sample->message_id;
	if (sample->message_id > e->last_id)
		e->last_id = sample->message_id;
}

static void add_received(struct ezprof_trace_endpoint *e, const struct ez_trace_sample *sample)
{
	if (is_metric(sample, "lease_time_ns")) {
		add_to(&e->lease, sample->value_ns);
	} else if (is_metric(sample, "user_span_ns")) {
		add_to(&e->span, sample->value_ns);
		add_task(e, sample);
	}
	/* Several coroutines may work on one message. */
	e->messages = e->lease.n ? e->lease.n : e->span.n;
	strcpy(e->transport, transport_of(sample->channel_kind));
}

void ezprof_traces_add(void *context, const struct ez_trace_sample *sample)
{
	struct ezprof_traces *traces = context;
	struct ezprof_trace_process *process = process_of(traces, sample);
	bool publishes =
		is_metric(sample, "publish_delta_ns") || is_metric(sample, "backpressure_wait_ns");
	struct ezprof_trace_endpoint *e;

	traces->seen++;
	if (!process) {
		traces->no_room++;
		return;
	}
	if (!traces->started) {
		if (process->is_local && sample->timestamp_ns > traces->newest_ns)
			traces->newest_ns = sample->timestamp_ns;
		if (is_in_window(traces, process, sample->timestamp_ns))
			traces->noticed++;
		return;
	}
	if (!is_in_window(traces, process, sample->timestamp_ns))
		return;
	e = endpoint_of(traces, sample->endpoint, publishes);
	if (!e) {
		traces->no_room++;
		return;
	}
	e->process = (size_t)(process - traces->processes);
	if (publishes)
		add_published(e, sample);
	else
		add_received(e, sample);
}
