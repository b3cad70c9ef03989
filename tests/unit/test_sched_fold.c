/* SPDX-License-Identifier: MIT */
/* What threads did in a window, out of buckets and of what is in progress. */
#include "sched_fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define MS 1000000ull
#define ID 1000ull
#define AT(n, ns) (((ID + (uint64_t)(n)) << EZ_BUCKET_SHIFT) + (ns))
#define BUCKET (1ull << EZ_BUCKET_SHIFT)

static struct ezprof_sched_bucket buckets[4];
static struct ezprof_sched_open open_threads[2];
static struct ezprof_sched_input in;

static int reset(void **state)
{
	(void)state;
	memset(buckets, 0, sizeof(buckets));
	memset(open_threads, 0, sizeof(open_threads));
	in = (struct ezprof_sched_input){
		.begin_ns = AT(0, 0),
		.end_ns = AT(4, 0),
		.from_ns = AT(-100, 0),
		.first_id = ID,
		.count = 4,
		.buckets = buckets,
		.open = open_threads,
	};
	return 0;
}

static struct ezprof_sched fold(void)
{
	struct ezprof_sched s;

	ezprof_sched_fold(&in, &s);
	assert_true(s.known);
	assert_true(s.on_cpu_ns + s.runnable_ns + s.blocked_ns + s.other_ns == s.time_ns);
	return s;
}

static void whole_callbacks_split_up(void **state)
{
	struct ezprof_sched s;

	(void)state;
	buckets[1] = (struct ezprof_sched_bucket){
		.sum_ns = 50 * MS, .covered_ns = 40 * MS, .off_ns = {20 * MS, 5 * MS}};
	s = fold();
	assert_int_equal(s.time_ns, 50 * MS);
	assert_int_equal(s.blocked_ns, 20 * MS);
	assert_int_equal(s.runnable_ns, 5 * MS);
	assert_int_equal(s.on_cpu_ns, 15 * MS);
	assert_int_equal(s.other_ns, 10 * MS);
}

/* Asleep for 5 buckets, of which the window shows 2 and the end. */
static void what_began_before_the_window_is_cut(void **state)
{
	struct ezprof_sched s;

	(void)state;
	buckets[0].off_ns[EZ_SCHED_BLOCKED] = BUCKET;
	buckets[1].off_ns[EZ_SCHED_BLOCKED] = BUCKET;
	buckets[2] = (struct ezprof_sched_bucket){.sum_ns = 5 * BUCKET + 3 * MS,
						  .carry_ns = 5 * BUCKET,
						  .covered_ns = 5 * BUCKET + 3 * MS,
						  .covered_carry_ns = 5 * BUCKET,
						  .off_ns = {2 * MS, 0}};
	s = fold();
	assert_int_equal(s.time_ns, 2 * BUCKET + 3 * MS);
	assert_int_equal(s.blocked_ns, 2 * BUCKET + 2 * MS);
	assert_int_equal(s.on_cpu_ns, 1 * MS);
	assert_int_equal(s.other_ns, 0);
}

static void what_is_in_progress_counts(void **state)
{
	struct ezprof_sched s;

	(void)state;
	in.since_ns = in.covered_since_ns = AT(-3, 0);
	open_threads[0] = (struct ezprof_sched_open){.off_ns = AT(1, 0), .wake_ns = AT(3, 0)};
	in.open_count = 1;
	s = fold();
	assert_int_equal(s.time_ns, 4 * BUCKET);
	assert_int_equal(s.blocked_ns, 2 * BUCKET);
	assert_int_equal(s.runnable_ns, 1 * BUCKET);
	assert_int_equal(s.on_cpu_ns, 1 * BUCKET);
	open_threads[0].wake_ns = 0;
	s = fold();
	assert_int_equal(s.blocked_ns, 3 * BUCKET);
	assert_int_equal(s.runnable_ns, 0);
}

/* Of work that was under way when threads were first looked at nobody knows how it was spent. */
static void what_began_before_the_attach_is_other(void **state)
{
	struct ezprof_sched s;

	(void)state;
	in.from_ns = in.begin_ns = AT(0, 0);
	in.since_ns = in.covered_since_ns = AT(0, 0) - 1;
	s = fold();
	assert_int_equal(s.other_ns, s.time_ns);
	in.since_ns = in.covered_since_ns = 0;
	buckets[2] = (struct ezprof_sched_bucket){.sum_ns = 3 * BUCKET,
						  .carry_ns = 3 * BUCKET - 5 * MS,
						  .covered_ns = 3 * BUCKET + 9 * MS,
						  .covered_carry_ns = 3 * BUCKET - 5 * MS,
						  .off_ns = {2 * MS, 0}};
	s = fold();
	assert_int_equal(s.time_ns, 2 * BUCKET + 5 * MS);
	assert_int_equal(s.blocked_ns, 2 * MS);
	assert_int_equal(s.on_cpu_ns, 0);
}

static uint64_t any(void)
{
	uint64_t value = (uint64_t)rand() << 62 ^ (uint64_t)rand() << 31 ^ (uint64_t)rand();

	return value >> (rand() & 63);
}

/* Whatever a hostile process says: the parts add up, and none is more than the whole. */
static void anything_adds_up(void **state)
{
	(void)state;
	srand(7);
	for (unsigned int i = 0; i < 200000; i++) {
		uint64_t *words = (uint64_t *)(void *)buckets;

		for (size_t j = 0; j < sizeof(buckets) / 8; j++)
			words[j] = any();
		open_threads[0] = (struct ezprof_sched_open){any(), any()};
		open_threads[1] = (struct ezprof_sched_open){any(), any()};
		in.open_count = 2;
		in.since_ns = any();
		in.covered_since_ns = any();
		in.covered_kept_ns = any();
		in.from_ns = any();
		in.begin_ns = any();
		in.end_ns = in.begin_ns + any() % 1000000;
		in.first_id = any();
		fold();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(whole_callbacks_split_up, reset),
		cmocka_unit_test_setup(what_began_before_the_window_is_cut, reset),
		cmocka_unit_test_setup(what_is_in_progress_counts, reset),
		cmocka_unit_test_setup(what_began_before_the_attach_is_other, reset),
		cmocka_unit_test_setup(anything_adds_up, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
