/* SPDX-License-Identifier: MIT */
/*
 * What ezmsg tells by itself: the pickles as 3.9.0 and 3.10.0b5 write them, their forgeries, the
 * sums over a window, and what the document says and doesn't.
 */
#include "ezmsg_document.h"
#include "ezmsg_traces.h"
#include "pickle_write.h"

#include <errno.h>
#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S(text) ((struct ez_str){text, sizeof(text) - 1})
#define MS 1e6

static size_t load(const char *name, char data[1 << 16])
{
	const char *source = getenv("EZPROF_SOURCE_DIR");
	char path[4096];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/pickle/%s", source, name);
	f = fopen(path, "rb");
	assert_non_null(f);
	n = fread(data, 1, 1 << 16, f);
	fclose(f);
	assert_true(n > 0);
	return n;
}

static void test_snapshot(void **state)
{
	static const char *const names[] = {"snapshot_3_9", "snapshot_3_10"};
	static char data[1 << 16];
	struct ez_snapshot *snapshot;
	size_t i, n, cut;

	(void)state;
	for (i = 0; i < 2; i++) {
		n = load(names[i], data);
		assert_int_equal(ez_pickle_read_snapshot(data, n, &snapshot), 0);
		assert_int_equal(snapshot->graph->n_topics, 2);
		assert_string_equal(snapshot->graph->topics[1].name, "SRC/OUTPUT");
		assert_int_equal(snapshot->graph->topics[1].n_successors, 1);
		assert_int_equal(snapshot->n_processes, 1);
		assert_true(snapshot->processes[0].pid > 0);
		assert_int_equal(snapshot->processes[0].n_units, 2);
		assert_string_equal(snapshot->processes[0].units[1], "SRC");
		ez_snapshot_free(snapshot);
		for (cut = 0; cut < n; cut++)
			assert_true(ez_pickle_read_snapshot(data, cut, &snapshot) < 0);
	}
	assert_int_equal(ez_pickle_read_snapshot(data, load("answer_ok", data), &snapshot),
			 -EBADMSG);
}

static void test_answers(void **state)
{
	struct ez_process_answer answer;
	static char data[1 << 16];
	size_t n;

	(void)state;
	n = load("answer_ok", data);
	assert_int_equal(ez_pickle_read_process_answer(data, n, &answer), 0);
	assert_true(answer.ok);
	n = load("answer_refused", data);
	assert_int_equal(ez_pickle_read_process_answer(data, n, &answer), 0);
	assert_false(answer.ok);
	assert_string_equal(answer.error, "no such unit");
	n = load("trace_3_9", data);
	assert_int_equal(ez_pickle_read_process_answer(data, n, &answer), -EBADMSG);
}

struct seen {
	size_t n, published, local;
	int64_t first_id;
};

static void see(void *context, const struct ez_trace_sample *sample)
{
	struct seen *seen = context;

	if (!seen->n++)
		seen->first_id = sample->message_id;
	assert_true(sample->pid > 0);
	assert_true(sample->timestamp_ns > 0);
	seen->published += sample->metric.len == strlen("publish_delta_ns") &&
			   memcmp(sample->metric.data, "publish_delta_ns", sample->metric.len) == 0;
	seen->local +=
		sample->channel_kind.len == 5 && memcmp(sample->channel_kind.data, "LOCAL", 5) == 0;
}

static void test_trace(void **state)
{
	static const char *const names[] = {"trace_3_9", "trace_3_10"};
	static char data[1 << 16];
	struct seen seen;
	size_t i, n, cut;

	(void)state;
	for (i = 0; i < 2; i++) {
		seen = (struct seen){0};
		n = load(names[i], data);
		assert_int_equal(ez_pickle_read_trace(data, n, see, &seen), 0);
		assert_true(seen.published >= 3);
		assert_int_equal(seen.n, seen.published + seen.local);
		assert_true(seen.first_id > 0);
		for (cut = 0; cut < n; cut++)
			assert_true(ez_pickle_read_trace(data, cut, see, &seen) < 0);
	}
}

static void count(void *context, const struct ez_trace_sample *sample)
{
	(void)sample;
	++*(size_t *)context;
}

/* One list of samples behind very many processes: it must end, with an error. */
static void test_trace_that_unfolds(void **state)
{
	struct ez_buffer forged;
	size_t i, samples = 0;

	(void)state;
	ez_buffer_init(&forged, 64 << 20);
	ez_put_u8(&forged, EZ_OP_PROTO);
	ez_put_u8(&forged, 4);
	ez_pickle_put_global(&forged, "ezmsg.core.graphmeta", "ProfilingTraceSample");
	ez_put_u8(&forged, EZ_OP_EMPTY_TUPLE);
	ez_put_u8(&forged, EZ_OP_NEWOBJ);
	ez_put_u8(&forged, EZ_OP_EMPTY_DICT);
	ez_put_u8(&forged, EZ_OP_MARK_OBJECT);
	ez_pickle_put_text(&forged, "timestamp");
	ez_pickle_put_float(&forged, 1.0);
	ez_pickle_put_text(&forged, "value");
	ez_pickle_put_float(&forged, 1.0);
	ez_pickle_put_text(&forged, "endpoint_id");
	ez_pickle_put_text(&forged, "a:b");
	ez_put_u8(&forged, EZ_OP_SETITEMS);
	ez_put_u8(&forged, EZ_OP_BUILD);
	ez_put_u8(&forged, EZ_OP_MEMOIZE); /* 0: the sample */
	ez_put_u8(&forged, EZ_OP_POP);
	ez_pickle_put_global(&forged, "ezmsg.core.graphmeta", "ProcessProfilingTraceBatch");
	ez_put_u8(&forged, EZ_OP_EMPTY_TUPLE);
	ez_put_u8(&forged, EZ_OP_NEWOBJ);
	ez_put_u8(&forged, EZ_OP_EMPTY_DICT);
	ez_pickle_put_text(&forged, "samples");
	ez_put_u8(&forged, EZ_OP_EMPTY_LIST);
	ez_put_u8(&forged, EZ_OP_MARK_OBJECT);
	for (i = 0; i < 10000; i++) {
		ez_put_u8(&forged, EZ_OP_BINGET);
		ez_put_u8(&forged, 0);
	}
	ez_put_u8(&forged, EZ_OP_APPENDS);
	ez_put_u8(&forged, EZ_OP_SETITEM);
	ez_put_u8(&forged, EZ_OP_BUILD);
	ez_put_u8(&forged, EZ_OP_MEMOIZE); /* 1: the process's batch */
	ez_put_u8(&forged, EZ_OP_POP);
	ez_pickle_put_global(&forged, "ezmsg.core.graphmeta", "ProfilingTraceStreamBatch");
	ez_put_u8(&forged, EZ_OP_EMPTY_TUPLE);
	ez_put_u8(&forged, EZ_OP_NEWOBJ);
	ez_put_u8(&forged, EZ_OP_EMPTY_DICT);
	ez_pickle_put_text(&forged, "batches");
	ez_put_u8(&forged, EZ_OP_EMPTY_DICT);
	ez_put_u8(&forged, EZ_OP_MARK_OBJECT);
	for (i = 0; i < 10000; i++) {
		ez_put_u8(&forged, EZ_OP_NONE);
		ez_put_u8(&forged, EZ_OP_BINGET);
		ez_put_u8(&forged, 1);
	}
	ez_put_u8(&forged, EZ_OP_SETITEMS);
	ez_put_u8(&forged, EZ_OP_SETITEM);
	ez_put_u8(&forged, EZ_OP_BUILD);
	ez_put_u8(&forged, EZ_OP_STOP);
	assert_int_equal(forged.err, 0);
	assert_int_equal(ez_pickle_read_trace(forged.data, forged.len, count, &samples), -EMSGSIZE);
	assert_true(samples > 10000);
	ez_buffer_free(&forged);
}

static void add(struct ezprof_traces *t, const char *host, const char *metric, const char *topic,
		double at_ns, double value_ns, int64_t id)
{
	struct ez_trace_sample sample = {
		.pid = 7,
		.host = {host, strlen(host)},
		.endpoint = S("T:x:0d"),
		.topic = {topic, strlen(topic)},
		.metric = {metric, strlen(metric)},
		.channel_kind = S("SHM"),
		.timestamp_ns = at_ns,
		.value_ns = value_ns,
		.message_id = id,
	};

	ezprof_traces_add(t, &sample);
}

static void test_sums(void **state)
{
	struct ezprof_traces t;
	const struct ezprof_trace_endpoint *p, *s;

	(void)state;
	ezprof_traces_init(&t, "here", 1000);
	add(&t, "here", "publish_delta_ns", "T:x", 999, 1, 1); /* of before */
	assert_int_equal(t.noticed, 0);
	add(&t, "here", "publish_delta_ns", "T:x", 1000, 1, 2);
	assert_int_equal(t.noticed, 1);
	assert_int_equal(t.n_endpoints, 0);
	ezprof_traces_start(&t, 2000, 1000);
	add(&t, "here", "publish_delta_ns", "T:x", 1999, 1, 3); /* of before */
	add(&t, "here", "publish_delta_ns", "T:x", 2000, 0, 4); /* the first one has no gap */
	add(&t, "here", "publish_delta_ns", "T:x", 2500, 500, 5);
	add(&t, "here", "publish_delta_ns", "T:x", 3000, 700, 6);
	add(&t, "here", "publish_delta_ns", "T:x", 3001, 1, 7); /* of later */
	add(&t, "here", "backpressure_wait_ns", "T:x", 2400, 300, 5);
	add(&t, "here", "lease_time_ns", "T:x", 2400, 40, 5);
	add(&t, "here", "user_span_ns", "T:x:work", 2400, 30, 5);
	add(&t, "here", "user_span_ns", "T:x:slow", 2450, 35, 5);
	assert_int_equal(t.n_endpoints, 2);
	p = &t.endpoints[0];
	s = &t.endpoints[1];
	assert_true(p->publishes && !s->publishes);
	assert_string_equal(p->topic, "T:x");
	assert_string_equal(p->id, "0d");
	assert_int_equal(p->messages, 3);
	assert_int_equal(p->gap.n, 2);
	assert_true(p->gap.max_ns == 700 && p->gap.sum_ns == 1200);
	assert_int_equal(p->first_id, 4);
	assert_int_equal(p->last_id, 6);
	assert_true(p->wait.sum_ns == 300);
	assert_int_equal(s->messages, 1); /* one message, two coroutines */
	assert_int_equal(s->n_tasks, 2);
	assert_string_equal(s->tasks[1].name, "slow");
	assert_string_equal(s->transport, "shm");
	ezprof_traces_free(&t);
}

/* Another host's clock says nothing by itself: its first sample begins the window. */
static void test_other_host(void **state)
{
	struct ezprof_traces t;

	(void)state;
	ezprof_traces_init(&t, "here", 1000);
	add(&t, "there", "publish_delta_ns", "T:x", 5, 1, 1); /* the first batch is old mostly */
	assert_int_equal(t.noticed, 0);
	t.batches = 1;
	add(&t, "there", "publish_delta_ns", "T:x", 6, 1, 2);
	assert_int_equal(t.noticed, 1);
	ezprof_traces_start(&t, 2000, 1000);
	add(&t, "there", "publish_delta_ns", "T:x", 50, 1, 3);
	add(&t, "there", "publish_delta_ns", "T:x", 1050, 1, 4);
	add(&t, "there", "publish_delta_ns", "T:x", 1051, 1, 5);
	assert_int_equal(t.endpoints[0].messages, 2);
	ezprof_traces_free(&t);
}

static struct json_object *key(struct json_object *object, const char *path)
{
	struct json_object *found = NULL;

	assert_int_equal(json_pointer_get(object, path, &found), 0);
	return found;
}

static struct json_object *document_of(const struct ezprof_ezmsg_facts *facts)
{
	struct json_object *document;
	char *text;

	assert_int_equal(ezprof_ezmsg_document(facts, &text), 0);
	document = json_tokener_parse(text);
	assert_non_null(document);
	free(text);
	return document;
}

static void test_document(void **state)
{
	struct ezprof_traces t;
	struct ezprof_ezmsg_facts facts = {.window_s = 2.0,
					   .covered_s = 2.0,
					   .graph_source = "dag",
					   .traces = &t,
					   .hint = "h"};
	struct json_object *d;

	(void)state;
	ezprof_traces_init(&t, "here", 0);
	ezprof_traces_start(&t, 0, 2000000000);
	add(&t, "here", "publish_delta_ns", "T:x", 1, 0, 10);
	add(&t, "here", "publish_delta_ns", "T:x", 5 * MS, 5 * MS, 12); /* every second one */
	add(&t, "here", "user_span_ns", "T:x:work", 9 * MS, 3 * MS, 10);
	d = document_of(&facts);
	assert_string_equal(json_object_get_string(key(d, "/source")), "ezmsg");
	assert_int_equal(json_object_get_int(key(d, "/publishers/0/messages/total")), 13);
	assert_int_equal(json_object_get_int(key(d, "/publishers/0/messages/window")), 2);
	assert_true(json_object_get_double(key(d, "/publishers/0/message_rate_hz")) == 1.0);
	assert_true(json_object_get_double(key(d, "/publishers/0/gap/avg_ms")) == 5.0);
	assert_int_equal(json_object_get_int(key(d, "/publishers/0/blocked/samples")), 0);
	assert_true(json_object_get_double(key(d, "/publishers/0/blocked/time_ms")) == 0.0);
	assert_null(key(d, "/publishers/0/bytes/total"));
	assert_null(key(d, "/publishers/0/lost"));
	assert_null(key(d, "/channels/0/subscribers/0/queue/avg_ms"));
	assert_true(json_object_get_double(key(d, "/channels/0/subscribers/0/processing/avg_ms")) ==
		    3.0);
	assert_string_equal(json_object_get_string(key(d, "/channels/0/subscribers/0/task")),
			    "work");
	json_object_put(d);

	/* The same by another observer's tracing: what it skipped isn't known not to be. */
	facts.by_other = true;
	d = document_of(&facts);
	assert_null(key(d, "/publishers/0/messages/window"));
	assert_null(key(d, "/publishers/0/gap/avg_ms"));
	assert_null(key(d, "/publishers/0/blocked/samples"));
	assert_null(key(d, "/channels/0/subscribers/0/messages/window"));
	assert_true(json_object_get_double(key(d, "/channels/0/subscribers/0/processing/avg_ms")) ==
		    3.0);
	json_object_put(d);
	ezprof_traces_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_snapshot), cmocka_unit_test(test_answers),
		cmocka_unit_test(test_trace),	 cmocka_unit_test(test_trace_that_unfolds),
		cmocka_unit_test(test_sums),	 cmocka_unit_test(test_other_host),
		cmocka_unit_test(test_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
