/* SPDX-License-Identifier: MIT */
/*
 * Windows out of buckets against a brute-force model: random histories are played through the
 * writer (usdt/), whatever it hands over is kept as the maps would, and at random moments the
 * figures are compared with what the list of events says.
 */
#include "endpoint.h"
#include "registry.h"
#include "window_fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000ull
#define BUCKET_NS (1ull << EZ_BUCKET_SHIFT)
#define START_ID 100000ull
#define EVENTS_MAX 4000
#define ROUNDS 60

struct event {
	uint64_t at_ns;
	uint64_t bytes;	  /* message */
	uint64_t wait_ns; /* a wait of that length ended; else 0 */
	bool message;
};

static struct event events[EVENTS_MAX];
static size_t event_count;

/* The maps: the ring of buckets, and the totals. */
static struct ez_bucket ring[EZ_RING_BUCKETS];
static struct ez_bucket_totals totals;
static uint64_t from_id;

void __wrap_ez_probe_window(uint64_t endpoint, const void *page, uint64_t bytes, uint64_t id,
			    uint64_t total_before);

void __wrap_ez_probe_window(uint64_t endpoint, const void *page, uint64_t bytes, uint64_t id,
			    uint64_t total_before)
{
	const struct ez_bucket *b = page;

	(void)bytes;
	if (id < from_id)
		return;
	if (!totals.owner) {
		totals.owner = endpoint;
		totals.first_total = total_before;
	}
	assert_true(id > totals.last_id);
	ring[id % EZ_RING_BUCKETS] = *b;
	totals.last_id = id;
	totals.end_total = b->total_before + b->messages;
	totals.messages += b->messages;
	totals.bytes += b->bytes;
}

static uint64_t random_below(uint64_t n)
{
	return ((uint64_t)random() << 31 | (uint64_t)random()) % n;
}

/* Bursts, pauses of some buckets, now and then one longer than the ring. */
static uint64_t next_step_ns(void)
{
	switch (random_below(40)) {
	case 0:
		return random_below(40 * BUCKET_NS);
	case 1:
		return random_below(5) == 0 ? EZ_RING_BUCKETS * BUCKET_NS + random_below(3) : 0;
	case 2:
		return BUCKET_NS;
	default:
		return random_below(BUCKET_NS / 8);
	}
}

static void play(struct ez_entry *e, uint64_t *now)
{
	struct event *event = &events[event_count++];

	*now += next_step_ns();
	*event = (struct event){.at_ns = *now};
	if (random_below(5) == 0) {
		event->wait_ns = random_below(3 * BUCKET_NS) + 1;
		ez_endpoint_blocked_begin_at(e, 0, *now);
		*now += event->wait_ns;
		event->at_ns = *now;
		ez_endpoint_blocked_end_at(e, 0, *now);
	} else {
		event->message = true;
		event->bytes = random_below(1000);
		ez_endpoint_publish_at(e, 0, event->bytes, *now);
	}
}

/* What the maps and the page would tell; sometimes the page is busy. */
static void collect(struct ez_entry *e, bool at_rest, struct ezprof_bucket *buckets,
		    struct ezprof_window_input *in)
{
	static struct ez_bucket page;

	in->count = 0;
	for (unsigned int i = 0; i < EZ_RING_BUCKETS; i++) {
		struct ezprof_bucket *b = &buckets[in->count];

		if (!ring[i].id)
			continue;
		b->id = ring[i].id;
		b->sums = (struct ez_bucket_sums){.bytes = ring[i].bytes,
						  .messages = ring[i].messages,
						  .carry_ns = ring[i].carry_ns};
		memcpy(b->sums.n, ring[i].n, sizeof(b->sums.n));
		memcpy(b->sums.sum_ns, ring[i].sum_ns, sizeof(b->sums.sum_ns));
		b->shape = &ring[i].shape;
		in->count++;
	}
	page = ez_entry_page(e)->bucket;
	in->buckets = buckets;
	in->page = at_rest ? &page : NULL;
	in->page_id = page.id;
	in->totals = totals.owner ? &totals : NULL;
}

struct model {
	uint64_t messages, bytes, waits, blocked_ns, max_wait_ns;
	uint64_t lengths[EVENTS_MAX];
};

static uint64_t overlap(uint64_t a, uint64_t b, uint64_t from, uint64_t to)
{
	uint64_t low = a > from ? a : from, high = b < to ? b : to;

	return high > low ? high - low : 0;
}

/* An event counts if its bucket has begun after the window's first one, and ended before its end.
 */
static void model_window(uint64_t begin_ns, uint64_t end_ns, uint64_t end_id, struct model *m)
{
	uint64_t first_id = begin_ns >> EZ_BUCKET_SHIFT;

	memset(m, 0, sizeof(*m));
	for (size_t i = 0; i < event_count; i++) {
		const struct event *e = &events[i];
		uint64_t id = e->at_ns >> EZ_BUCKET_SHIFT;

		if (e->at_ns > end_ns || id < first_id || id > end_id)
			continue;
		m->messages += e->message;
		m->bytes += e->bytes;
		if (!e->wait_ns)
			continue;
		m->lengths[m->waits++] = e->wait_ns;
		m->blocked_ns += overlap(e->at_ns - e->wait_ns, e->at_ns, begin_ns, end_ns);
		if (e->wait_ns > m->max_wait_ns)
			m->max_wait_ns = e->wait_ns;
	}
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void check_quantiles(const struct ezprof_window *w, struct model *m)
{
	static const unsigned int per_cents[] = {50, 90, 99};

	qsort(m->lengths, m->waits, sizeof(m->lengths[0]), compare_u64);
	for (unsigned int i = 0; i < 3 && m->waits; i++) {
		uint64_t exact = m->lengths[(m->waits * per_cents[i] + 99) / 100 - 1];
		uint64_t got = ezprof_quantile_ns(w->hist[1], w->min_ns[1], w->interval[1].max_ns,
						  per_cents[i]);
		uint64_t off = got > exact ? got - exact : exact - got;

		assert_true(off <= 128 || (double)off <= 0.06 * (double)exact);
	}
}

static void check(struct ez_entry *e, uint64_t now, bool at_rest)
{
	static struct ezprof_bucket buckets[EZ_RING_BUCKETS];
	static struct model m;
	struct ezprof_window_input in = {
		.now_ns = now + random_below(2 * BUCKET_NS),
		.window_ns = 150 * MS + random_below(16000 * MS),
		.from_id = from_id,
		.publisher = true,
		.total = e->messages,
		.total_stable = true,
	};
	struct ezprof_window w;
	struct ezprof_loss loss;

	collect(e, at_rest, buckets, &in);
	ezprof_window_fold(&in, &w);
	ezprof_window_loss(&in, &loss);
	assert_true(w.end_ns <= in.now_ns && w.begin_ns <= w.end_ns);
	assert_true(at_rest ? w.end_ns == in.now_ns : w.end_ns <= in.now_ns);
	model_window(w.begin_ns, w.end_ns, at_rest ? in.now_ns >> EZ_BUCKET_SHIFT : in.page_id - 1,
		     &m);
	if (w.covered_ns == 0 && !at_rest)
		return; /* nothing but the busy page's bucket since the attach */
	assert_int_equal(w.messages, m.messages);
	assert_int_equal(w.bytes, m.bytes);
	assert_int_equal(w.interval[1].samples, m.waits);
	assert_int_equal(w.interval[1].max_ns, m.max_wait_ns);
	assert_int_equal(w.blocked_ns, m.blocked_ns);
	assert_true(!loss.known || loss.lost == 0);
	assert_true(!at_rest || !loss.known || loss.exact);
	check_quantiles(&w, &m);
}

static void random_histories(void **state)
{
	(void)state;
	ez_probe_semaphores[EZ_PLACE_window] = 1;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct ez_endpoint_spec spec = {
			.kind = EZ_KIND_PUBLISHER, .num_buffers = 4, .topic = "T"};
		uint64_t now = START_ID * BUCKET_NS + random_below(BUCKET_NS);
		struct ez_entry *e;

		srandom(round + 1);
		event_count = 0;
		memset(ring, 0, sizeof(ring));
		memset(&totals, 0, sizeof(totals));
		from_id = START_ID + random_below(20);
		assert_int_equal(ez_registry_open(&spec, &e), 0);
		for (unsigned int i = 0; i < EVENTS_MAX / 10; i++) {
			play(e, &now);
			if (now >> EZ_BUCKET_SHIFT > from_id + 1)
				check(e, now, random_below(4) != 0);
		}
		ez_registry_close(e);
	}
	ez_probe_semaphores[EZ_PLACE_window] = 0;
}

/* A wait in progress counts from its first second on, and only inside the window. */
static void an_open_wait_counts(void **state)
{
	struct ez_bucket page = {.id = 1000, .open_since_ns = {0, 1000 * BUCKET_NS}};
	struct ezprof_window_input in = {
		.page = &page,
		.from_id = 900,
		.now_ns = 1000 * BUCKET_NS + 1000 * MS,
		.window_ns = 2000 * MS,
		.publisher = true,
	};
	struct ezprof_window w;

	(void)state;
	ezprof_window_fold(&in, &w);
	assert_int_equal(w.blocked_ns, 1000 * MS);
	in.now_ns += 9000 * MS;
	ezprof_window_fold(&in, &w);
	assert_int_equal(w.blocked_ns, w.covered_ns);
}

static void anything_may_come_in(void **state)
{
	static struct ezprof_bucket buckets[4];
	static struct ez_shape shape;
	struct ez_bucket page;
	struct ez_bucket_totals t;
	struct ezprof_window w;
	struct ezprof_loss loss;

	(void)state;
	for (unsigned int round = 0; round < 2000; round++) {
		struct ezprof_window_input in = {.buckets = buckets,
						 .count = 4,
						 .totals = &t,
						 .page = round & 1 ? &page : NULL,
						 .publisher = round & 2};
		unsigned char *bytes[] = {(unsigned char *)buckets, (unsigned char *)&shape,
					  (unsigned char *)&page, (unsigned char *)&t};
		size_t sizes[] = {sizeof(buckets), sizeof(shape), sizeof(page), sizeof(t)};

		for (unsigned int i = 0; i < 4; i++) {
			for (size_t k = 0; k < sizes[i]; k++)
				bytes[i][k] = random_below(3) ? 0xff : (unsigned char)random();
		}
		for (unsigned int i = 0; i < 4; i++)
			buckets[i].shape = &shape;
		in.now_ns = random_below(UINT64_MAX / 2) * (round & 4 ? 2 : 0);
		in.from_id = random_below(UINT64_MAX / 2) >> (round % 60);
		in.page_id = random_below(UINT64_MAX / 2) >> (round % 50);
		in.opened_ns = random_below(UINT64_MAX / 2);
		in.window_ns = random_below(UINT64_MAX / 2);
		ezprof_window_fold(&in, &w);
		ezprof_window_loss(&in, &loss);
		assert_true(w.begin_ns <= w.end_ns && w.end_ns - w.begin_ns == w.covered_ns);
		assert_true(w.covered_ns <= EZPROF_WINDOW_MAX_NS + 2 * BUCKET_NS);
		assert_true(w.blocked_ns <= w.covered_ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_histories),
		cmocka_unit_test(an_open_wait_counts),
		cmocka_unit_test(anything_may_come_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
