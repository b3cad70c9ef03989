/* SPDX-License-Identifier: MIT */
/* Windows of hand-made schedules, worked out on paper. B is a bucket of 2^27 ns. */
#include "fold.h"
#include "ring_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define B (1ull << EZ_BUCKET_SHIFT)
#define T0 (1000 * B) /* well after boot */
#define MS 1000000ull
#define SECOND 1000000000ull

static struct ezprof_window fold_at(const struct ring_model *m, uint64_t now_ns, uint64_t window_ns)
{
	struct ezprof_fold_input input = ring_model_input(m, now_ns, window_ns);
	struct ezprof_window w;

	ezprof_fold(&input, &w);
	return w;
}

/*
 * 2 s are 14.9 buckets, so 15 closed ones and the current one. Now is 0.5 B into bucket 1020: the
 * window begins with bucket 1005 and covers 15.5 B.
 */
static void test_schedule(void **state)
{
	struct ring_model *m = ring_model_new();
	const uint64_t now = T0 + 20 * B + B / 2;
	struct ezprof_window w;

	(void)state;
	/* One ns too early: a message, and a lease of 50 ms that ended then. */
	ring_model_message(m, 0, T0 + 5 * B - 1, 1000);
	ring_model_interval(m, 0, T0 + 5 * B - 1, EZ_SUB_LEASE, 50 * MS);
	ring_model_message(m, 0, T0 + 5 * B, 10);
	ring_model_message(m, 1, T0 + 5 * B + 1, 20);
	/* 7 and 9 ms on two CPUs: one maximum, two samples. */
	ring_model_interval(m, 0, T0 + 6 * B, EZ_SUB_LEASE, 7 * MS);
	ring_model_interval(m, 1, T0 + 6 * B, EZ_SUB_LEASE, 9 * MS);
	ring_model_message(m, 0, T0 + 12 * B, 30);
	ring_model_message(m, 1, now - 1, 40);
	w = fold_at(m, now, 2 * SECOND);
	assert_int_equal(w.requested_ns, 2 * SECOND);
	assert_int_equal(w.begin_ns, T0 + 5 * B);
	assert_int_equal(w.end_ns, now);
	assert_int_equal(w.covered_ns, 15 * B + B / 2);
	assert_false(w.warming_up);
	assert_int_equal(w.messages, 4);
	assert_int_equal(w.bytes, 100);
	assert_int_equal(w.interval[EZ_SUB_LEASE].samples, 2);
	assert_int_equal(w.interval[EZ_SUB_LEASE].sum_ns, 16 * MS);
	assert_int_equal(w.interval[EZ_SUB_LEASE].max_ns, 9 * MS);
	assert_int_equal(w.interval[EZ_SUB_QUEUE].samples, 0);
	assert_int_equal(w.measured_messages, 5);
	assert_int_equal(w.measured_bytes, 1100);
	assert_int_equal(w.measured_samples[EZ_SUB_LEASE], 3);
	assert_int_equal(w.gaps, 0);
	ring_model_free(m);
}

/*
 * Window as above: begins at 1005 B. Waits:
 *   A  1003.5 B to 1005.5 B: 2 B long, ends in bucket 1005, half a B of it inside
 *   C  1010.25 B to 1010.75 B: all inside, within one bucket
 *   D  1012.5 B to 1015.25 B: 2.75 B, all inside, over three borders
 *   E  since 1020.25 B, in progress: a quarter
 */
static void test_blocked(void **state)
{
	struct ring_model *m = ring_model_new();
	const uint64_t now = T0 + 20 * B + B / 2;
	struct ezprof_fold_input input;
	struct ezprof_window w;

	(void)state;
	ring_model_blocked(m, 0, T0 + 5 * B + B / 2, T0 + 3 * B + B / 2);
	ring_model_blocked(m, 1, T0 + 10 * B + 3 * B / 4, T0 + 10 * B + B / 4);
	ring_model_blocked(m, 0, T0 + 15 * B + B / 4, T0 + 12 * B + B / 2);
	input = ring_model_input(m, now, 2 * SECOND);
	ezprof_fold(&input, &w);
	assert_int_equal(w.blocked_ns, B / 2 + B / 2 + 2 * B + 3 * B / 4);
	assert_int_equal(w.interval[EZ_PUB_BLOCKED].samples, 3);
	assert_int_equal(w.interval[EZ_PUB_BLOCKED].max_ns, 2 * B + 3 * B / 4);
	input.blocked_since_ns = T0 + 20 * B + B / 4;
	ezprof_fold(&input, &w);
	assert_int_equal(w.blocked_ns, 4 * B);
	ring_model_free(m);
}

/* A stall of 10 s, in progress, fills a window of 2 s and no more. Over, it is seen as 10 s once.
 */
static void test_long_stall(void **state)
{
	struct ring_model *m = ring_model_new();
	const uint64_t since = T0 + 100, now = since + 10 * SECOND;
	struct ezprof_fold_input input = ring_model_input(m, now, 2 * SECOND);
	struct ezprof_window w;

	(void)state;
	input.blocked_since_ns = since;
	ezprof_fold(&input, &w);
	assert_int_equal(w.blocked_ns, w.covered_ns);
	ring_model_blocked(m, 2, now, since);
	w = fold_at(m, now, 2 * SECOND);
	assert_int_equal(w.blocked_ns, w.covered_ns);
	assert_int_equal(w.interval[EZ_PUB_BLOCKED].max_ns, 10 * SECOND);
	w = fold_at(m, now + SECOND, 2 * SECOND);
	assert_int_equal(w.blocked_ns, now - w.begin_ns);
	w = fold_at(m, now + 3 * SECOND, 2 * SECOND);
	assert_int_equal(w.blocked_ns, 0);
	assert_int_equal(w.interval[EZ_PUB_BLOCKED].samples, 0);
	ring_model_free(m);
}

/* A message every 4th of a bucket, for 40 buckets. */
static void steady(struct ring_model *m, uint64_t from_ns)
{
	for (uint64_t i = 0; i < 160; i++)
		ring_model_message(m, (unsigned int)(i & 1), from_ns + i * (B / 4), 1);
}

/* Silence after traffic: the window empties as it moves on, with not one hit to help it. */
static void test_silence(void **state)
{
	struct ring_model *m = ring_model_new();
	const uint64_t end = T0 + 40 * B;

	(void)state;
	steady(m, T0);
	/* 8 buckets of silence and half a current one: 7 of the 15 closed ones had traffic. */
	assert_int_equal(fold_at(m, end + 8 * B + B / 2, 2 * SECOND).messages, 7 * 4);
	assert_int_equal(fold_at(m, end + 14 * B, 2 * SECOND).messages, 4);
	assert_int_equal(fold_at(m, end + 15 * B, 2 * SECOND).messages, 0);
	assert_int_equal(fold_at(m, end + 15 * B, 2 * SECOND).covered_ns, 15 * B);
	/* A full turn of the ring later the old notes lie at the same places. */
	for (uint64_t turn = 1; turn < 4; turn++) {
		for (uint64_t i = 0; i < 45; i++)
			assert_int_equal(
				fold_at(m, T0 + turn * EZ_RING_BUCKETS * B + i * B, 2 * SECOND)
					.messages,
				0);
	}
	assert_int_equal(fold_at(m, T0 + 128 * B, 2 * SECOND).measured_messages, 160);
	ring_model_free(m);
}

/* A burst after a pause counts where it happened, and the traffic before the pause is not in it. */
static void test_burst_after_pause(void **state)
{
	struct ring_model *m = ring_model_new();
	uint64_t burst;

	(void)state;
	for (uint64_t pause = 1; pause < 300; pause += 7) {
		burst = T0 + pause * 1000 * B;
		steady(m, burst - (40 + pause) * B);
		for (int i = 0; i < 23; i++)
			ring_model_message(m, 3, burst + (uint64_t)i, 100);
		/* 2 s end with the burst's bucket: 15 - pause closed buckets of the traffic. */
		assert_int_equal(fold_at(m, burst + B / 2, 2 * SECOND).messages,
				 23 + (pause < 15 ? (15 - pause) * 4 : 0));
		assert_int_equal(fold_at(m, burst + 15 * B, 2 * SECOND).messages, 23);
		assert_int_equal(fold_at(m, burst + 16 * B, 2 * SECOND).messages, 0);
	}
	ring_model_free(m);
}

static void test_attach_and_opening_cut(void **state)
{
	struct ring_model *m = ring_model_new();
	const uint64_t now = T0 + 20 * B;
	struct ezprof_fold_input input = ring_model_input(m, now, 2 * SECOND);
	struct ezprof_window w;

	(void)state;
	steady(m, T0 + 16 * B);
	input.attached_ns = T0 + 16 * B;
	ezprof_fold(&input, &w);
	assert_true(w.warming_up);
	assert_int_equal(w.covered_ns, 4 * B);
	/* 4 closed buckets and one in the current one: nothing after now, nothing lost. */
	input.opened_ns = T0 + 18 * B + 5;
	ezprof_fold(&input, &w);
	assert_int_equal(w.covered_ns, 2 * B - 5);
	assert_int_equal(w.begin_ns, input.opened_ns);
	/* Clocks that disagree: nothing is covered, nothing is divided by 0. */
	input.attached_ns = now + SECOND;
	ezprof_fold(&input, &w);
	assert_int_equal(w.covered_ns, 0);
	assert_true(w.warming_up);
	ring_model_free(m);
}

static void test_limits(void **state)
{
	struct ring_model *m = ring_model_new();
	const uint64_t now = T0 + 200 * B + 1;
	struct ezprof_window w;

	(void)state;
	steady(m, T0 + 160 * B);
	w = fold_at(m, now, 150 * MS - 1);
	assert_int_equal(w.messages, 0);
	assert_int_equal(w.covered_ns, 0);
	assert_false(w.warming_up);
	assert_int_equal(w.measured_messages, 160);
	w = fold_at(m, now, 150 * MS);
	assert_int_equal(w.covered_ns, 2 * B + 1);
	assert_int_equal(w.messages, 8);
	w = fold_at(m, now, 16 * SECOND);
	assert_int_equal(w.covered_ns, 120 * B + 1);
	assert_int_equal(w.messages, 160);
	w = fold_at(m, now, UINT64_MAX);
	assert_int_equal(w.requested_ns, UINT64_MAX);
	assert_int_equal(w.covered_ns, 120 * B + 1);
	assert_false(w.warming_up);
	ring_model_free(m);
}

/* A slot that was somebody else's: neither sums nor notes nor maxima of that one are seen. */
static void test_new_owner(void **state)
{
	struct ring_model *m = ring_model_new();
	const uint64_t taken = T0 + 30 * B + B / 2;
	struct ezprof_window w;

	(void)state;
	steady(m, T0 - 10 * B + B / 8);
	ring_model_interval(m, 0, taken - 1, EZ_SUB_LEASE, 900 * MS);
	w = fold_at(m, taken, 2 * SECOND);
	assert_int_equal(w.interval[EZ_SUB_LEASE].max_ns, 900 * MS);
	m->owner = EZ_OWNER_READY(2, 1);
	/* Before its first hit it has nothing. */
	w = fold_at(m, taken, 2 * SECOND);
	assert_int_equal(w.measured_messages, 0);
	assert_int_equal(w.messages, 0);
	ring_model_message(m, 0, taken + 1, 7);
	ring_model_interval(m, 0, taken + 2, EZ_SUB_LEASE, 3 * MS);
	for (uint64_t i = 0; i < 10; i++) {
		w = fold_at(m, taken + 3 + i * B, 16 * SECOND);
		assert_int_equal(w.messages, 1);
		assert_int_equal(w.bytes, 7);
		assert_int_equal(w.measured_messages, 1);
		assert_int_equal(w.interval[EZ_SUB_LEASE].samples, 1);
		assert_int_equal(w.interval[EZ_SUB_LEASE].sum_ns, 3 * MS);
		assert_int_equal(w.interval[EZ_SUB_LEASE].max_ns, 3 * MS);
	}
	ring_model_free(m);
}

/*
 * A program that read its clock in bucket 2 and was stopped takes that bucket's note only after the
 * messages of bucket 3: they are not counted in both.
 */
static void test_late_note(void **state)
{
	struct ring_model *m = ring_model_new();
	struct ezprof_window w;

	(void)state;
	ring_model_message(m, 0, T0 + B, 1);
	for (int i = 0; i < 10; i++)
		ring_model_message(m, 0, T0 + 3 * B, 1);
	ring_model_message(m, 0, T0 + 2 * B, 1);
	for (uint64_t i = 0; i < 10; i++) {
		w = fold_at(m, T0 + 4 * B + i * B, 2 * SECOND);
		assert_int_equal(w.messages, 12);
	}
	ring_model_free(m);
}

/* A note that is being written: said, and the bucket after it is right. */
static void test_claimed_note(void **state)
{
	struct ring_model *m = ring_model_new();
	uint64_t id = (T0 + 2 * B) >> EZ_BUCKET_SHIFT;
	struct ezprof_window w;

	(void)state;
	ring_model_message(m, 0, T0 + B, 1);
	ring_model_message(m, 0, T0 + 2 * B, 1);
	ring_model_message(m, 0, T0 + 3 * B, 1);
	m->rings[0].notes[id % EZ_RING_BUCKETS].state = EZ_NOTE_CLAIMED(id);
	w = fold_at(m, T0 + 4 * B, 2 * SECOND);
	assert_int_equal(w.gaps, 1);
	assert_int_equal(w.messages, 3);
	ring_model_free(m);
}

/* Anything may lie in the maps: the answer stays in range. */
static void test_hostile(void **state)
{
	struct ring_model *m = ring_model_new();
	struct ezprof_fold_input input;
	struct ezprof_window w;
	uint64_t *words = (uint64_t *)(void *)m;

	(void)state;
	srandom(1);
	for (int round = 0; round < 300; round++) {
		for (size_t i = 0; i < sizeof(*m) / sizeof(*words); i++)
			words[i] = (uint64_t)random() << (random() % 64);
		for (unsigned int cpu = 0; cpu < MODEL_CPUS; cpu++)
			m->rings[cpu].owner = m->owner;
		input = ring_model_input(m, (uint64_t)random() << (random() % 33),
					 (uint64_t)random() << (random() % 33));
		input.attached_ns = (uint64_t)random() << (random() % 33);
		input.opened_ns = (uint64_t)random() << (random() % 33);
		input.blocked_since_ns = (uint64_t)random() << (random() % 33);
		if (round % 10 == 0)
			input.now_ns = UINT64_MAX;
		ezprof_fold(&input, &w);
		assert_true(w.covered_ns <= EZPROF_WINDOW_MAX_NS + 2 * B);
		assert_true(w.blocked_ns <= w.covered_ns);
		assert_true(w.begin_ns <= w.end_ns);
	}
	input.rings = NULL;
	input.slot = NULL;
	ezprof_fold(&input, &w);
	assert_int_equal(w.messages, 0);
	ring_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_schedule),
		cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_long_stall),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_burst_after_pause),
		cmocka_unit_test(test_attach_and_opening_cut),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_new_owner),
		cmocka_unit_test(test_late_note),
		cmocka_unit_test(test_claimed_note),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
