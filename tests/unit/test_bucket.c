/* SPDX-License-Identifier: MIT */
/* Buckets and spans as a listener gets them; the moments are the test's own. */
#include "endpoint.h"
#include "registry.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MS 1000000ull
#define AT(id, ns) (((uint64_t)(id) << EZ_BUCKET_SHIFT) + (ns))

static struct ez_bucket handed[8];
static uint64_t handed_endpoint;
static unsigned handed_count;
static struct ez_span_page spans_page;
static unsigned spans_count, spans_pages;

void __wrap_ez_probe_window(uint64_t endpoint, const void *page, uint64_t bytes, uint64_t id,
			    uint64_t total_before);
void __wrap_ez_probe_spans(uint64_t endpoint, const void *page, uint64_t spans);

void __wrap_ez_probe_window(uint64_t endpoint, const void *page, uint64_t bytes, uint64_t id,
			    uint64_t total_before)
{
	const struct ez_bucket *b = page;

	assert_int_equal(bytes, sizeof(*b) + sizeof(struct ez_covered));
	assert_true(b->id == id);
	assert_true(b->total_before == total_before);
	assert_int_equal(b->seq % 2, 1);
	handed_endpoint = endpoint;
	if (handed_count < 8)
		handed[handed_count] = *b;
	handed_count++;
}

void __wrap_ez_probe_spans(uint64_t endpoint, const void *page, uint64_t spans)
{
	handed_endpoint = endpoint;
	memcpy(&spans_page, page, sizeof(spans_page));
	spans_count += (unsigned)spans;
	spans_pages++;
}

static void listen(enum ez_semaphore_place place, uint16_t value)
{
	ez_probe_semaphores[place] = value;
}

static struct ez_entry *open_endpoint(enum ez_endpoint_kind kind)
{
	struct ez_endpoint_spec spec = {.kind = kind, .num_buffers = 4, .topic = "T"};
	struct ez_entry *entry = NULL;

	assert_int_equal(ez_registry_open(&spec, &entry), 0);
	return entry;
}

static struct ez_bucket *bucket_of(struct ez_entry *e)
{
	return &ez_entry_page(e)->bucket;
}

static int start(void **state)
{
	(void)state;
	handed_count = spans_count = spans_pages = 0;
	memset(handed, 0, sizeof(handed));
	listen(EZ_PLACE_window, 1);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	listen(EZ_PLACE_window, 0);
	listen(EZ_PLACE_spans, 0);
	return 0;
}

static void a_publisher_counts_and_hands_over(void **state)
{
	struct ez_entry *e = open_endpoint(EZ_KIND_PUBLISHER);

	(void)state;
	ez_endpoint_publish_at(e, 0, 10, AT(5, 1 * MS));
	ez_endpoint_publish_at(e, 1, 20, AT(5, 4 * MS));
	ez_endpoint_publish_at(e, 2, 30, AT(5, 5 * MS));
	assert_int_equal(handed_count, 0);
	ez_endpoint_publish_at(e, 3, 40, AT(6, 1 * MS));
	assert_int_equal(handed_count, 1);
	assert_true(handed_endpoint == ez_entry_ref(e));
	assert_int_equal(handed[0].id, 5);
	assert_int_equal(handed[0].messages, 3);
	assert_int_equal(handed[0].bytes, 60);
	assert_int_equal(handed[0].total_before, 0);
	assert_int_equal(handed[0].n[2], 2);
	assert_int_equal(handed[0].sum_ns[2], 4 * MS);
	assert_int_equal(handed[0].shape.min_ns[2], 1 * MS);
	assert_int_equal(handed[0].shape.max_ns[2], 3 * MS);
	assert_int_equal(handed[0].shape.gap_max_at_ns, AT(5, 4 * MS));
	assert_int_equal(handed[0].shape.hist[2][ez_hist_bin(3 * MS)], 1);
	assert_int_equal(bucket_of(e)->id, 6);
	assert_int_equal(bucket_of(e)->messages, 1);
	assert_int_equal(bucket_of(e)->total_before, 3);
	ez_registry_close(e);
	assert_int_equal(handed_count, 2);
	assert_int_equal(handed[1].bytes, 40);
	assert_int_equal(bucket_of(e)->messages, 0);
}

static void ids_never_go_back(void **state)
{
	struct ez_entry *e = open_endpoint(EZ_KIND_PUBLISHER);

	(void)state;
	ez_endpoint_publish_at(e, 0, 1, AT(9, 0));
	ez_endpoint_publish_at(e, 1, 1, AT(8, 1));
	assert_int_equal(handed_count, 0);
	assert_int_equal(bucket_of(e)->id, 9);
	assert_int_equal(bucket_of(e)->messages, 2);
	assert_int_equal(bucket_of(e)->sum_ns[2], 0);
	ez_registry_close(e);
}

static void a_client_measures_four_intervals(void **state)
{
	struct ez_entry *e = open_endpoint(EZ_KIND_CLIENT);

	(void)state;
	ez_endpoint_lease_at(e, 7, AT(5, 1 * MS));
	ez_endpoint_callback_begin_at(e, 7, AT(5, 3 * MS));
	assert_true(bucket_of(e)->open_since_ns[1] == AT(5, 3 * MS));
	ez_endpoint_callback_end_at(e, 7, AT(5, 8 * MS));
	assert_int_equal(bucket_of(e)->open_since_ns[1], 0);
	ez_endpoint_callback_end_at(e, 7, AT(5, 9 * MS));
	ez_endpoint_free_at(e, 7, 100, AT(5, 9 * MS));
	ez_endpoint_lease_at(e, 8, AT(5, 10 * MS));
	ez_endpoint_callback_begin_at(e, 8, AT(5, 13 * MS));
	ez_endpoint_free_at(e, 8, 100, AT(7, 0));
	assert_int_equal(handed_count, 1);
	assert_int_equal(handed[0].messages, 1);
	assert_int_equal(handed[0].n[0], 2);
	/* A lease start is odd, so that it shows that it is exact. */
	assert_in_range(handed[0].sum_ns[0], 5 * MS - 2, 5 * MS);
	assert_int_equal(handed[0].n[1], 1);
	assert_int_equal(handed[0].sum_ns[1], 5 * MS);
	assert_int_equal(handed[0].n[2], 1);
	assert_int_equal(handed[0].sum_ns[2], 10 * MS);
	assert_int_equal(handed[0].n[3], 1);
	assert_in_range(handed[0].sum_ns[3], 8 * MS - 1, 8 * MS);
	assert_int_equal(bucket_of(e)->n[3], 1);
	assert_int_equal(bucket_of(e)->total_before, 1);
	ez_registry_close(e);
}

static void what_began_unheard_is_not_timed(void **state)
{
	struct ez_entry *e = open_endpoint(EZ_KIND_CLIENT);

	(void)state;
	listen(EZ_PLACE_window, 0);
	ez_endpoint_lease(e, 0);
	assert_int_equal(*ez_entry_lease_start(e, 0) & 1, 0);
	ez_endpoint_callback_begin(e, 0);
	listen(EZ_PLACE_window, 1);
	ez_endpoint_callback_end_at(e, 0, AT(5, 0));
	ez_endpoint_free_at(e, 0, 1, AT(5, 0));
	assert_int_equal(bucket_of(e)->messages, 1);
	assert_int_equal(bucket_of(e)->n[0] + bucket_of(e)->n[1] + bucket_of(e)->n[3], 0);
	ez_registry_close(e);
}

static void a_silence_of_the_listener_is_no_gap(void **state)
{
	struct ez_entry *e = open_endpoint(EZ_KIND_PUBLISHER);

	(void)state;
	ez_endpoint_publish_at(e, 0, 1, AT(5, 0));
	listen(EZ_PLACE_window, 0);
	ez_endpoint_publish(e, 1, 1);
	listen(EZ_PLACE_window, 1);
	ez_endpoint_publish_at(e, 2, 1, AT(6, 0));
	ez_endpoint_publish_at(e, 3, 1, AT(6, 1000));
	assert_int_equal(handed[0].messages, 1);
	assert_int_equal(bucket_of(e)->total_before, 2);
	assert_int_equal(bucket_of(e)->n[2], 1);
	assert_int_equal(bucket_of(e)->sum_ns[2], 1000);
	ez_registry_close(e);
}

static void departures_move_no_total(void **state)
{
	struct ez_entry *e = open_endpoint(EZ_KIND_LINK);

	(void)state;
	ez_endpoint_lease_at(e, 0, AT(5, 0));
	ez_endpoint_lease_at(e, 1, AT(5, 0));
	ez_endpoint_free_departed(e, 0);
	ez_endpoint_free_at(e, 1, 9, AT(5, 2 * MS));
	assert_int_equal(ez_entry_total(e), 1);
	assert_int_equal(bucket_of(e)->total_before, 0);
	assert_int_equal(bucket_of(e)->messages, 1);
	assert_int_equal(bucket_of(e)->n[0], 1);
	ez_registry_close(e);
}

static void a_wait_is_open_then_carried(void **state)
{
	struct ez_entry *e = open_endpoint(EZ_KIND_PUBLISHER);
	uint64_t since, bucket_ns;

	(void)state;
	listen(EZ_PLACE_window, 0);
	ez_endpoint_blocked_begin(e, 0);
	assert_true(bucket_of(e)->open_since_ns[1] == e->blocked_since_ns);
	listen(EZ_PLACE_window, 1);
	since = e->blocked_since_ns;
	usleep(140000);
	ez_endpoint_blocked_end(e, 0);
	assert_int_equal(bucket_of(e)->open_since_ns[1], 0);
	bucket_ns = bucket_of(e)->id << EZ_BUCKET_SHIFT;
	assert_int_equal(bucket_of(e)->n[1], 1);
	assert_true(bucket_of(e)->sum_ns[1] >= 140000000);
	assert_true(bucket_of(e)->carry_ns == bucket_ns - since);
	assert_true(e->blocked_ns >= bucket_of(e)->sum_ns[1]);
	ez_registry_close(e);
}

static void a_reused_page_is_empty(void **state)
{
	struct ez_entry *e = open_endpoint(EZ_KIND_PUBLISHER), *again;

	(void)state;
	ez_endpoint_publish_at(e, 0, 1, AT(5, 0));
	ez_registry_close(e);
	e->closed_ns -= EZ_REGISTRY_REUSE_NS;
	again = open_endpoint(EZ_KIND_PUBLISHER);
	assert_true(again == e);
	assert_int_equal(bucket_of(e)->id, 0);
	assert_int_equal(bucket_of(e)->open_since_ns[2], 0);
	assert_int_equal(bucket_of(e)->seq % 2, 0);
	ez_registry_close(e);
}

static void spans_come_in_batches(void **state)
{
	struct ez_entry *e = open_endpoint(EZ_KIND_CLIENT);
	uint64_t id;

	(void)state;
	listen(EZ_PLACE_spans, 1);
	for (id = 0; id < EZ_SPANS_PER_PAGE + 3; id++) {
		ez_endpoint_lease_at(e, id, AT(5, id * 10 + 1));
		ez_endpoint_callback_begin_at(e, id, AT(5, id * 10 + 2));
		ez_endpoint_callback_end_at(e, id, AT(5, id * 10 + 3));
		ez_endpoint_free_at(e, id, id, AT(5, id * 10 + 4));
	}
	assert_int_equal(spans_pages, 1);
	assert_int_equal(spans_count, EZ_SPANS_PER_PAGE);
	assert_int_equal(spans_page.first_total, 0);
	assert_int_equal(spans_page.spans[63].message_id, 63);
	assert_int_equal(spans_page.spans[63].bytes, 63);
	assert_int_equal(spans_page.spans[63].tid, gettid());
	assert_int_equal(spans_page.spans[63].start_ns, AT(5, 631));
	assert_int_equal(spans_page.spans[63].begin_ns, AT(5, 632));
	assert_int_equal(spans_page.spans[63].finish_ns, AT(5, 633));
	assert_int_equal(spans_page.spans[63].end_ns, AT(5, 634));
	ez_registry_close(e);
	assert_int_equal(spans_pages, 2);
	assert_int_equal(spans_count, EZ_SPANS_PER_PAGE + 3);
	assert_int_equal(spans_page.first_total, EZ_SPANS_PER_PAGE);
}

#ifndef __SANITIZE_THREAD__
struct race {
	struct ez_entry *entry;
	bool stop;
};

static void *publish_on(void *arg)
{
	struct race *race = arg;
	uint64_t id;

	for (id = 0; !__atomic_load_n(&race->stop, __ATOMIC_RELAXED); id++)
		ez_endpoint_publish_at(race->entry, id, 3, AT(5 + id / 1000, id % 1000));
	return NULL;
}

/* What a profiler does from outside, where no thread sanitizer looks: copy, and believe the copy if
 * the sequence stood still and even. */
static bool copy_at_rest(const struct ez_bucket *from, struct ez_bucket *to)
{
	const uint64_t *a = (const uint64_t *)from;
	uint64_t *b = (uint64_t *)to;
	size_t i;

	for (i = 0; i < sizeof(*from) / 8; i++)
		b[i] = __atomic_load_n(&a[i], i ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return to->seq % 2 == 0 && __atomic_load_n(&a[0], __ATOMIC_RELAXED) == to->seq;
}

static void a_copy_at_rest_is_whole(void **state)
{
	struct race race = {.entry = open_endpoint(EZ_KIND_PUBLISHER)};
	struct ez_bucket copy;
	pthread_t thread;
	int tries, whole = 0;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, publish_on, &race), 0);
	for (tries = 0; tries < 2000000 && whole < 1000; tries++) {
		uint64_t sum = 0, i;

		if (!copy_at_rest(bucket_of(race.entry), &copy) || !copy.id)
			continue;
		whole++;
		for (i = 0; i < EZ_HIST_BINS; i++)
			sum += copy.shape.hist[2][i];
		assert_int_equal(sum, copy.n[2]);
		assert_int_equal(copy.bytes, copy.messages * 3);
		assert_int_equal(copy.total_before, (copy.id - 5) * 1000);
	}
	__atomic_store_n(&race.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	assert_true(whole > 0);
	ez_registry_close(race.entry);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_publisher_counts_and_hands_over, start, stop),
		cmocka_unit_test_setup_teardown(ids_never_go_back, start, stop),
		cmocka_unit_test_setup_teardown(a_client_measures_four_intervals, start, stop),
		cmocka_unit_test_setup_teardown(what_began_unheard_is_not_timed, start, stop),
		cmocka_unit_test_setup_teardown(a_silence_of_the_listener_is_no_gap, start, stop),
		cmocka_unit_test_setup_teardown(departures_move_no_total, start, stop),
		cmocka_unit_test_setup_teardown(a_wait_is_open_then_carried, start, stop),
		cmocka_unit_test_setup_teardown(a_reused_page_is_empty, start, stop),
		cmocka_unit_test_setup_teardown(spans_come_in_batches, start, stop),
#ifndef __SANITIZE_THREAD__
		cmocka_unit_test_setup_teardown(a_copy_at_rest_is_whole, start, stop),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
