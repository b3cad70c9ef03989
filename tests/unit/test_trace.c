/* SPDX-License-Identifier: MIT */
/*
 * What a recorder makes of frames: the store and its accounts, what belongs together, latencies,
 * tracks. A graph SRC -> FLT -> SINK in three processes, and a leaky subscriber beside.
 */
#include "registry_layout.h"
#include "trace_chrome.h"
#include "trace_model.h"
#include "trace_store.h"
#include "trace_summary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SRC, SRC_LINK, FLT_IN, FLT_OUT, FLT_LINK, SINK, LEAKY, ENDPOINTS };

static const struct {
	uint32_t pid, kind;
	unsigned char publisher, channel;
	const char *topic, *handle;
} endpoints[ENDPOINTS] = {
	[SRC] = {100, EZ_KIND_PUBLISHER, 1, 0, "IN", ""},
	[SRC_LINK] = {100, EZ_KIND_LINK, 1, 11, "IN", ""},
	[FLT_IN] = {200, EZ_KIND_CLIENT, 1, 11, "IN", "FLT"},
	[FLT_OUT] = {200, EZ_KIND_PUBLISHER, 2, 0, "OUT", ""},
	[FLT_LINK] = {200, EZ_KIND_LINK, 2, 22, "OUT", ""},
	[SINK] = {300, EZ_KIND_CLIENT, 2, 22, "OUT", "SI\"NK\n\xc3\xa4"},
	[LEAKY] = {300, EZ_KIND_CLIENT, 2, 22, "OUT", "LEAKY"},
};

static struct ezprof_trace *trace;
static uint64_t totals[ENDPOINTS];

static int send_frame(unsigned int agent, uint32_t kind, const void *fixed, size_t fixed_bytes,
		      const void *rest, size_t rest_bytes)
{
	static unsigned char buffer[65536];
	struct ezprof_stream_head head = {kind, (uint32_t)(fixed_bytes + rest_bytes)};
	struct ezprof_stream_frame frame;

	memcpy(buffer, &head, sizeof(head));
	memcpy(buffer + sizeof(head), fixed, fixed_bytes);
	if (rest_bytes)
		memcpy(buffer + sizeof(head) + fixed_bytes, rest, rest_bytes);
	assert_int_equal(ezprof_stream_next(buffer, sizeof(head) + head.bytes, &frame), 0);
	assert_int_equal(frame.frame_bytes, sizeof(head) + head.bytes);
	return ezprof_trace_take(trace, agent, &frame);
}

static int send_endpoint(unsigned int agent, uint32_t i)
{
	struct ezprof_stream_endpoint e = {.number = i,
					   .pid = endpoints[i].pid,
					   .kind = endpoints[i].kind,
					   .opened_ns = 5,
					   .id = {(unsigned char)(i + 1)},
					   .publisher_id = {endpoints[i].publisher},
					   .channel_id = {endpoints[i].channel}};
	char text[256];

	snprintf(text, sizeof(text), "%s%snode", endpoints[i].topic, endpoints[i].handle);
	e.string_bytes[0] = (uint32_t)strlen(endpoints[i].topic);
	e.string_bytes[1] = (uint32_t)strlen(endpoints[i].handle);
	e.string_bytes[3] = 4;
	return send_frame(agent, EZPROF_STREAM_ENDPOINT, &e, sizeof(e), text, strlen(text));
}

static int send_total(uint32_t number, uint64_t total)
{
	struct ezprof_stream_total t = {.number = number, .total = total};

	return send_frame(0, EZPROF_STREAM_TOTAL, &t, sizeof(t), NULL, 0);
}

static int send_span(uint32_t number, struct ez_span span)
{
	struct ezprof_stream_batch batch = {number, 1, totals[number]++};

	return send_frame(0, EZPROF_STREAM_BATCH, &batch, sizeof(batch), &span, sizeof(span));
}

static int setup(void **state)
{
	(void)state;
	memset(totals, 0, sizeof(totals));
	assert_int_equal(ezprof_trace_new(1000, &trace), 0);
	for (uint32_t i = 0; i < ENDPOINTS; i++) {
		assert_int_equal(send_endpoint(0, i), 0);
		assert_int_equal(send_total(i, 0), 0);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ezprof_trace_free(trace);
	return 0;
}

/* Message m of the chain; everything in microseconds after t. FLT gives back, then publishes. */
static void play(uint64_t m, uint64_t t)
{
	t *= 1000;
	send_span(SRC,
		  (struct ez_span){.message_id = m, .bytes = 10, .tid = 1, .end_ns = t + 3000});
	send_span(FLT_IN, (struct ez_span){.message_id = m,
					   .bytes = 10,
					   .tid = 2,
					   .start_ns = t + 5000,
					   .begin_ns = t + 6000,
					   .finish_ns = t + 9000,
					   .end_ns = t + 9500});
	send_span(SRC_LINK,
		  (struct ez_span){
			  .message_id = m, .tid = 1, .start_ns = t + 1000, .end_ns = t + 9900});
	send_span(FLT_OUT, (struct ez_span){.message_id = m,
					    .tid = 2,
					    .start_ns = t + 10000,
					    .begin_ns = t + 11000,
					    .end_ns = t + 13000});
	send_span(SINK, (struct ez_span){.message_id = m,
					 .tid = 3,
					 .start_ns = t + 14000,
					 .begin_ns = t + 15000,
					 .finish_ns = t + 20000,
					 .end_ns = t + 20000});
	send_span(LEAKY,
		  (struct ez_span){
			  .message_id = m, .tid = 3, .start_ns = t + 14100, .end_ns = t + 14200});
	send_span(FLT_LINK,
		  (struct ez_span){
			  .message_id = m, .tid = 2, .start_ns = t + 12000, .end_ns = t + 21000});
}

static void what_belongs_together(void **state)
{
	struct ezprof_match *m;

	(void)state;
	play(0, 100);
	play(1, 200);
	assert_int_equal(ezprof_match_new(trace, 0, &m), 0);
	assert_int_equal(m->count, 14);
	for (uint32_t i = 0; i < 14; i += 7) {
		assert_int_equal(m->origin[i], EZPROF_MATCH_NONE);
		assert_int_equal(m->origin[i + 1], i);	   /* FLT got it from SRC */
		assert_int_equal(m->origin[i + 3], i + 1); /* that led to OUT */
		assert_int_equal(m->origin[i + 4], i + 3);
		assert_int_equal(m->origin[i + 5], i + 3);
		assert_int_equal(m->handed_ns[i], i / 7 * 100000 + 101000);
		assert_int_equal(m->handed_ns[i + 1], m->handed_ns[i]);
		assert_int_equal(m->freed_ns[i], i / 7 * 100000 + 109900);
		assert_int_equal(m->handed_ns[i + 4], i / 7 * 100000 + 112000);
	}
	ezprof_match_free(m);
	/* Of the last span on only; then nothing of the earlier ones is known. */
	assert_int_equal(ezprof_match_new(trace, 221000, &m), 0);
	assert_int_equal(m->count, 1);
	assert_int_equal(m->origin[0], EZPROF_MATCH_NONE);
	ezprof_match_free(m);
}

/* Another thread's work, and work that was done long ago, led to nothing. */
static void causes_have_limits(void **state)
{
	struct ezprof_match *m;

	(void)state;
	send_span(FLT_IN, (struct ez_span){.tid = 2,
					   .start_ns = 1000,
					   .begin_ns = 2000,
					   .finish_ns = 3000,
					   .end_ns = 3000});
	send_span(FLT_OUT, (struct ez_span){.message_id = 0, .tid = 9, .end_ns = 3500});
	send_span(FLT_OUT, (struct ez_span){.message_id = 1, .tid = 2, .end_ns = 900000000});
	send_span(FLT_OUT, (struct ez_span){.message_id = 2, .tid = 2, .end_ns = 1500});
	/* It waited long for a buffer, but began to right after. */
	send_span(FLT_OUT, (struct ez_span){.message_id = 3,
					    .tid = 2,
					    .start_ns = 4000,
					    .begin_ns = 800000000,
					    .end_ns = 800000001});
	assert_int_equal(ezprof_match_new(trace, 0, &m), 0);
	assert_int_equal(m->origin[1], EZPROF_MATCH_NONE);
	assert_int_equal(m->origin[2], EZPROF_MATCH_NONE);
	assert_int_equal(m->origin[3], EZPROF_MATCH_NONE);
	assert_int_equal(m->origin[4], 0);
	ezprof_match_free(m);
}

static void send_task(uint32_t number, uint32_t kind, const char *task)
{
	struct ezprof_stream_endpoint e = {.number = number,
					   .pid = 200,
					   .kind = kind,
					   .id = {(unsigned char)number},
					   .publisher_id = {(unsigned char)number},
					   .string_bytes = {0, 0, (uint32_t)strlen(task), 0}};

	assert_int_equal(send_frame(0, EZPROF_STREAM_ENDPOINT, &e, sizeof(e), task, strlen(task)),
			 0);
}

/* Tasks of one event loop are at work at the same time, on one thread. */
static void tasks_have_causes_of_their_own(void **state)
{
	struct ezprof_match *m;

	(void)state;
	send_task(50, EZ_KIND_CLIENT, "ONE:relay");
	send_task(51, EZ_KIND_CLIENT, "TWO:relay");
	send_task(52, EZ_KIND_PUBLISHER, "ONE:relay");
	send_task(53, EZ_KIND_PUBLISHER, "SRC:flow");
	for (uint32_t i = 0; i < 4; i++) {
		struct ez_span span = {.tid = 2, .begin_ns = 100 + i, .end_ns = 900 + i};
		struct ezprof_stream_batch batch = {50 + i, 1, 0};

		span.start_ns = i < 2 ? 50 : 0;
		span.begin_ns = i < 2 ? span.begin_ns : 0;
		span.end_ns = i < 2 ? span.end_ns : 500;
		send_frame(0, EZPROF_STREAM_BATCH, &batch, sizeof(batch), &span, sizeof(span));
	}
	assert_int_equal(ezprof_match_new(trace, 0, &m), 0);
	assert_int_equal(m->count, 4);
	assert_int_equal(m->origin[2], 0);
	assert_int_equal(m->origin[3], EZPROF_MATCH_NONE);
	ezprof_match_free(m);
}

static const struct ezprof_trace_path *path_of(const struct ezprof_trace_summary *s, size_t hops,
					       uint32_t last)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->paths[i].hops == hops && s->paths[i].endpoints[hops] == last)
			return &s->paths[i];
	}
	fail_msg("no path of %zu hops to %u", hops, last);
	return NULL;
}

static void latencies(void **state)
{
	struct ezprof_trace_summary *s;
	const struct ezprof_trace_path *p;
	struct ezprof_match *m;
	char *text;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	(void)state;
	for (uint64_t i = 0; i < 10; i++)
		play(i, 100 * (i + 1));
	/* One whose link was not recorded. */
	send_span(SINK,
		  (struct ez_span){.message_id = 77, .start_ns = 1, .begin_ns = 2, .end_ns = 3});
	assert_int_equal(ezprof_match_new(trace, 0, &m), 0);
	assert_int_equal(ezprof_trace_summary_new(m, &s), 0);
	assert_int_equal(s->count, 5);
	p = path_of(s, 1, FLT_IN);
	assert_int_equal(p->endpoints[0], SRC);
	assert_int_equal(p->arrival.samples, 10);
	assert_int_equal(p->arrival.p50_ns, 4000);
	assert_int_equal(p->arrival.max_ns, 4000);
	assert_int_equal(p->done.p99_ns, 8000);
	assert_int_equal(p->unmatched, 0);
	p = path_of(s, 1, SINK);
	assert_int_equal(p->arrival.p50_ns, 2000);
	assert_int_equal(p->unmatched, 1);
	p = path_of(s, 1, LEAKY);
	assert_int_equal(p->arrival.samples, 10);
	assert_int_equal(p->done.samples, 0);
	p = path_of(s, 2, SINK);
	assert_int_equal(p->endpoints[0], SRC);
	assert_int_equal(p->endpoints[1], FLT_IN);
	assert_int_equal(p->arrival.samples, 10);
	assert_int_equal(p->arrival.p90_ns, 13000);
	assert_int_equal(p->done.p50_ns, 19000);
	ezprof_trace_summary_print(s, trace, to);
	fclose(to);
	assert_non_null(
		strstr(text, "IN (100) -> FLT (200) -> SI\"NK\\x0a\xc3\xa4 (300)\n  arrival "));
	assert_non_null(strstr(text, "  1 more whose hand-over was not recorded\n"));
	free(text);
	ezprof_trace_summary_free(s);
	ezprof_match_free(m);
}

/* Python notes a hand-over late, or its link isn't recorded: no time is known, no arrow goes back.
 */
static void noted_late(void **state)
{
	struct ez_span came = {.message_id = 1, .start_ns = 5300, .finish_ns = 6400, .begin_ns = 1};
	struct ezprof_trace_model *model;
	struct ezprof_trace_summary *s;
	struct ezprof_match *m;

	(void)state;
	send_span(FLT_IN, came);
	came.message_id++, came.start_ns += 5000, came.finish_ns += 6000;
	send_span(FLT_IN, came);
	send_span(SRC_LINK, (struct ez_span){.message_id = 1, .start_ns = 7000, .end_ns = 9000});
	send_span(SRC, (struct ez_span){.message_id = 1, .end_ns = 8000});
	send_span(SRC, (struct ez_span){.message_id = 2, .end_ns = 18000});
	assert_int_equal(ezprof_match_new(trace, 0, &m), 0);
	assert_int_equal(ezprof_trace_summary_new(m, &s), 0);
	assert_int_equal(path_of(s, 1, FLT_IN)->arrival.samples, 0);
	assert_int_equal(path_of(s, 1, FLT_IN)->early, 1);
	assert_int_equal(path_of(s, 1, FLT_IN)->done.max_ns, 1100);
	assert_int_equal(ezprof_trace_model_new(m, &model), 0);
	assert_int_equal(model->slices[0].begin_ns, 5300);
	assert_int_equal(model->slices[1].begin_ns, 10300);
	ezprof_trace_model_free(model);
	ezprof_trace_summary_free(s);
	ezprof_match_free(m);
}

/* Nearest rank, of 1 to 103 us. */
static void ranks(void **state)
{
	struct ezprof_trace_summary *s;
	struct ezprof_match *m;

	(void)state;
	for (uint64_t i = 1; i <= 103; i++) {
		send_span(SRC_LINK,
			  (struct ez_span){.message_id = i, .start_ns = 1000, .end_ns = 2});
		send_span(FLT_IN, (struct ez_span){.message_id = i,
						   .start_ns = 1000 + i * 1000,
						   .begin_ns = 1,
						   .end_ns = 1});
	}
	assert_int_equal(ezprof_match_new(trace, 0, &m), 0);
	assert_int_equal(ezprof_trace_summary_new(m, &s), 0);
	assert_int_equal(path_of(s, 1, FLT_IN)->arrival.p50_ns, 52000);
	assert_int_equal(path_of(s, 1, FLT_IN)->arrival.p90_ns, 93000);
	assert_int_equal(path_of(s, 1, FLT_IN)->arrival.p99_ns, 102000);
	assert_int_equal(path_of(s, 1, FLT_IN)->arrival.max_ns, 103000);
	ezprof_trace_summary_free(s);
	ezprof_match_free(m);
}

/* Messages that wait side by side get lanes; those that follow each other share one. */
static void tracks_and_counters(void **state)
{
	struct ezprof_trace_model *model;
	struct ezprof_match *m;
	size_t lanes = 0;

	(void)state;
	play(0, 100);
	play(1, 200);
	for (uint64_t i = 2; i < 5; i++)
		send_span(SINK, (struct ez_span){.message_id = i,
						 .start_ns = 900000 + i,
						 .begin_ns = 950000 + 10 * i,
						 .finish_ns = 950005 + 10 * i,
						 .end_ns = 950005 + 10 * i});
	assert_int_equal(ezprof_match_new(trace, 0, &m), 0);
	assert_int_equal(ezprof_trace_model_new(m, &model), 0);
	assert_int_equal(model->begin_ns, 101000);
	for (size_t i = 0; i < model->track_count; i++) {
		const struct ezprof_track *t = &model->tracks[i];

		lanes += t->endpoint == SINK && t->kind == EZPROF_TRACK_QUEUE;
		assert_false(t->kind == EZPROF_TRACK_PROCESS && t->lane);
		for (size_t j = t->first + 1; j < t->first + t->count; j++)
			assert_true(model->slices[j].begin_ns >= model->slices[j - 1].end_ns);
	}
	assert_int_equal(lanes, 3);
	/* Two of SRC, FLT twice two, two of OUT, SINK twice five, two dropped. */
	assert_int_equal(model->slice_count, 2 + 4 + 2 + 10 + 2);
	assert_int_equal(model->count_count, 8);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(model->counts[i].value, i % 2 == 0);
	assert_true(model->rate_count >= 2);
	assert_true(model->rates[0].per_s == 20);
	/* What SRC's first message led to. */
	assert_int_equal(model->first_target[1] - model->first_target[0], 1);
	assert_int_equal(model->targets[model->first_target[0]], 1);
	ezprof_trace_model_free(model);
	ezprof_match_free(m);
}

static void losses_are_counted(void **state)
{
	uint32_t endpoint = 0;

	(void)state;
	play(0, 100);
	totals[SRC] += 5;
	totals[SINK] += 64;
	play(1, 200);
	assert_int_equal(ezprof_trace_lost(trace), 69);
	assert_int_equal(trace->hole_count, 2);
	assert_int_equal(trace->holes[0].endpoint, SRC);
	assert_int_equal(trace->holes[0].count, 5);
	assert_int_equal(trace->holes[0].at_ns, 203000);
	send_total(SRC, totals[SRC] + 3);
	assert_int_equal(ezprof_trace_lost(trace), 72);
	assert_int_equal(trace->wait_ns, 1000);
	assert_int_equal(trace->wait_endpoint, FLT_OUT);
	/* One who waits in slices waits since the first of them, until it publishes. */
	for (uint64_t since = 500000; since < 500003; since++) {
		struct ezprof_stream_waiting w = {.number = SRC, .since_ns = since, .total = 7};

		assert_int_equal(send_frame(0, EZPROF_STREAM_WAITING, &w, sizeof(w), NULL, 0), 0);
	}
	assert_int_equal(ezprof_trace_waiting_since(trace, &endpoint), 500000);
	assert_int_equal(endpoint, SRC);
	totals[SRC] += 3;
	send_span(SRC, (struct ez_span){.message_id = 2, .end_ns = 600000});
	assert_int_equal(ezprof_trace_waiting_since(trace, &endpoint), 0);
}

/* What two agents tell of is taken once. */
static void two_agents(void **state)
{
	(void)state;
	assert_int_equal(send_endpoint(1, SRC), 0);
	play(0, 100);
	totals[SRC]--;
	assert_int_equal(trace->count, 7);
	{
		struct ez_span span = {.end_ns = 1};
		struct ezprof_stream_batch batch = {SRC, 1, 0};

		assert_int_equal(send_frame(1, EZPROF_STREAM_BATCH, &batch, sizeof(batch), &span,
					    sizeof(span)),
				 0);
	}
	assert_int_equal(trace->count, 7);
	assert_int_equal(ezprof_trace_lost(trace), 0);
}

static void the_ring_is_bounded(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 1007; i++)
		send_span(SRC, (struct ez_span){.message_id = i, .end_ns = i + 1});
	assert_int_equal(trace->count, 1000);
	assert_int_equal(trace->overwritten, 7);
	assert_int_equal(ezprof_trace_span(trace, 0)->message_id, 7);
	assert_int_equal(ezprof_trace_span(trace, 999)->message_id, 1006);
	assert_int_equal(ezprof_trace_lost(trace), 0);
}

/* Names come out as JSON wants them. */
static void chrome_text(void **state)
{
	const struct ezprof_trace_about about = {
		.mono_ns = 5, .real_ns = 1005, .host = "h\\o", .program = "p"};
	struct ezprof_trace_model *model;
	struct ezprof_match *m;
	char *text;
	size_t n;
	FILE *to = open_memstream(&text, &n);

	(void)state;
	play(0, 100);
	assert_int_equal(ezprof_match_new(trace, 0, &m), 0);
	assert_int_equal(ezprof_trace_model_new(m, &model), 0);
	assert_int_equal(ezprof_chrome_write(model, &about, to), 0);
	fclose(to);
	assert_non_null(strstr(text, "\"SI\\\"NK\\u000a\xc3\xa4\""));
	assert_non_null(strstr(text, "\"host\":\"h\\\\o\""));
	assert_non_null(strstr(text, "\"realtime_minus_monotonic_ns\":1000,"));
	assert_non_null(strstr(text, "\"name\":\"blocked\",\"ts\":9.000,\"dur\":1.000}"));
	assert_non_null(strstr(text, "\"name\":\"dropped\",\"ts\":13.100,\"dur\":0.100,"));
	free(text);
	ezprof_trace_model_free(model);
	ezprof_match_free(m);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_belongs_together),
		TEST(causes_have_limits),
		TEST(tasks_have_causes_of_their_own),
		TEST(latencies),
		TEST(noted_late),
		TEST(ranks),
		TEST(tracks_and_counters),
		TEST(losses_are_counted),
		TEST(two_agents),
		TEST(the_ring_is_bounded),
		TEST(chrome_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
