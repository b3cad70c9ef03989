/* SPDX-License-Identifier: MIT */
/*
 * The fold against a model that keeps every event and counts those that lie in the window: random
 * traffic on several CPUs, pauses of up to three turns of the ring, late attach, waits over
 * borders. EZPROF_TEST_SEED repeats a run.
 */
#include "fold.h"
#include "ring_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define B (1ull << EZ_BUCKET_SHIFT)
#define EVENTS_MAX 400u
#define ROUNDS 1500

struct event {
	uint64_t at_ns;
	enum { MESSAGE, INTERVAL, WAIT } kind;
	uint64_t bytes;	      /* message */
	unsigned int which;   /* interval */
	uint64_t duration_ns; /* interval, wait */
};

static uint64_t upto(uint64_t n)
{
	return ((uint64_t)random() << 31 | (uint64_t)random()) % n;
}

/* Mostly within a bucket; now and then the next ones, or turns of the ring. */
static uint64_t random_gap(void)
{
	switch (upto(12)) {
	case 0:
		return upto(4 * B);
	case 1:
		return B * upto(3);
	case 2:
		return upto(20) ? upto(20 * B) : B * EZ_RING_BUCKETS * upto(4);
	default:
		return upto(B / 8);
	}
}

/* Waits follow each other: one begins after the one before has ended. */
static struct event random_event(uint64_t *now_ns, uint64_t *free_from_ns)
{
	struct event e = {.kind = (int)upto(3)};

	*now_ns += random_gap();
	e.at_ns = *now_ns;
	e.bytes = upto(1000);
	do
		e.which = (unsigned int)upto(EZ_INTERVALS);
	while (e.which == EZ_PUB_BLOCKED);
	e.duration_ns = upto(20 * B);
	if (e.kind == WAIT) {
		e.duration_ns = upto(e.at_ns - *free_from_ns + 1);
		*free_from_ns = e.at_ns;
	}
	return e;
}

static void play(struct ring_model *m, const struct event *e)
{
	unsigned int cpu = (unsigned int)upto(MODEL_CPUS);

	if (e->kind == MESSAGE)
		ring_model_message(m, cpu, e->at_ns, e->bytes);
	else if (e->kind == INTERVAL)
		ring_model_interval(m, cpu, e->at_ns, e->which, e->duration_ns);
	else
		ring_model_blocked(m, cpu, e->at_ns, e->at_ns - e->duration_ns);
}

static uint64_t overlap(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint64_t from = a > c ? a : c, to = b < d ? b : d;

	return to > from ? to - from : 0;
}

/* The window, counted event by event. */
static struct ezprof_window expected(const struct event *events, unsigned int count,
				     const struct ezprof_window *range, uint64_t since_ns)
{
	struct ezprof_window w = *range;

	w.messages = w.bytes = w.blocked_ns = 0;
	memset(w.interval, 0, sizeof(w.interval));
	for (unsigned int i = 0; i < count; i++) {
		const struct event *e = &events[i];
		struct ezprof_interval *interval = NULL;

		if (e->kind == WAIT)
			w.blocked_ns +=
				overlap(e->at_ns - e->duration_ns, e->at_ns, w.begin_ns, w.end_ns);
		if (e->at_ns < w.begin_ns)
			continue;
		if (e->kind == MESSAGE) {
			w.messages++;
			w.bytes += e->bytes;
			continue;
		}
		interval = &w.interval[e->kind == WAIT ? (unsigned int)EZ_PUB_BLOCKED : e->which];
		interval->samples++;
		interval->sum_ns += e->duration_ns;
		if (e->duration_ns > interval->max_ns)
			interval->max_ns = e->duration_ns;
	}
	if (since_ns)
		w.blocked_ns += overlap(since_ns, w.end_ns, w.begin_ns, w.end_ns);
	return w;
}

static bool same(const struct ezprof_window *a, const struct ezprof_window *b)
{
	return a->messages == b->messages && a->bytes == b->bytes &&
	       a->blocked_ns == b->blocked_ns && a->gaps == 0 &&
	       memcmp(a->interval, b->interval, sizeof(a->interval)) == 0;
}

/* One history, looked at with several windows. */
static void round_of(struct ring_model *m, unsigned int seed)
{
	static struct event events[EVENTS_MAX];
	unsigned int count = 1 + (unsigned int)upto(EVENTS_MAX);
	uint64_t start_ns = (20 + upto(5000)) * B + upto(B);
	uint64_t now_ns = start_ns, free_from_ns = start_ns, since_ns = 0;

	memset(m->rings, 0, sizeof(m->rings));
	for (unsigned int i = 0; i < count; i++) {
		events[i] = random_event(&now_ns, &free_from_ns);
		play(m, &events[i]);
	}
	now_ns += upto(2) ? upto(B) : random_gap();
	if (upto(2))
		since_ns = free_from_ns + upto(now_ns - free_from_ns + 1);
	for (int i = 0; i < 5; i++) {
		uint64_t window_ns = EZPROF_WINDOW_MIN_NS +
				     upto(EZPROF_WINDOW_MAX_NS - EZPROF_WINDOW_MIN_NS + 1);
		struct ezprof_fold_input input = ring_model_input(m, now_ns, window_ns);
		struct ezprof_window w, want;

		input.attached_ns = start_ns - upto(B);
		input.opened_ns = start_ns - upto(B);
		input.blocked_since_ns = since_ns;
		ezprof_fold(&input, &w);
		want = expected(events, count, &w, since_ns);
		if (!same(&w, &want))
			fail_msg("EZPROF_TEST_SEED=%u, window %d: %lu messages, not %lu; blocked "
				 "%lu, not %lu",
				 seed, i, w.messages, want.messages, w.blocked_ns, want.blocked_ns);
		assert_true(w.warming_up == (w.covered_ns < window_ns));
		assert_true(w.covered_ns <= window_ns + 2 * B);
	}
}

static void test_random_histories(void **state)
{
	struct ring_model *m = ring_model_new();
	const char *seed = getenv("EZPROF_TEST_SEED");
	unsigned int first = seed ? (unsigned int)strtoul(seed, NULL, 10) : 1;

	(void)state;
	for (unsigned int i = 0; i < (seed ? 1 : ROUNDS); i++) {
		srandom(first + i);
		round_of(m, first + i);
	}
	ring_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_histories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
