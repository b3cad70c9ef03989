/* SPDX-License-Identifier: MIT */
/*
 * The writer's side of an endpoint's bucket (bucket_layout.h): one message costs a few plain stores
 * in the endpoint's own page; when time has moved into the next bucket, the closed one is handed
 * over by one hit of the `window` probe and cleared. Each id is handed over once.
 *
 * All functions: the caller holds the endpoint's lock, so there is one writer. Between
 * ez_bucket_open() and ez_bucket_close() the sequence is odd: the clock is read in between, so that
 * a reader who finds the page at rest knows that all that happened before is in it. A moment read
 * earlier (several endpoints may share one) is moved up to the bucket's begin if need be: ids never
 * go back, and buckets before the page's current one are final.
 */
#ifndef EZ_BUCKET_H
#define EZ_BUCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucket_layout.h"
#include "counter_clock.h"
#include "histogram.h"
#include "registry_layout.h"

struct ez_work;

/* The page as the process uses it: readers know only the bucket and what is covered of it. */
struct ez_bucket_page {
	struct ez_bucket bucket;
	struct ez_covered covered;
	struct ez_work *worker; /* who works for the endpoint, see thread_work.h; NULL: nobody */
	/* The endpoint's total as of the last message that was heard. If it differs from the real
	 * one, messages went by unheard, and the time since the last one heard is no gap. */
	uint64_t heard_total;
	uint64_t waited_from_ns, waited_to_ns; /* publisher: the last wait; for its span */
};
_Static_assert(sizeof(struct ez_bucket_page) <= EZ_PAGE_BYTES, "one page");
_Static_assert(offsetof(struct ez_bucket_page, covered) == EZ_COVERED_OFFSET, "as readers have it");

/* Per buffer of a client: when user code began and finished with that message. */
struct ez_mark {
	uint64_t message; /* message id + 1 */
	uint64_t begin_ns;
	uint64_t finish_ns;
};

/*
 * A lease start from the precise clock is odd, one from the coarse clock even. Only the former can
 * be the start of a measured interval.
 */
#define EZ_START_PRECISE(ns) ((ns) | 1)
#define EZ_START_COARSE(ns) ((ns) & ~1ull)
#define EZ_START_IS_PRECISE(start) ((start)&1)

/* What ez_bucket counts in the end: see ez_bucket.total_before. Only one of the two moves. */
static inline uint64_t ez_entry_total(const struct ez_entry *e)
{
	return e->messages + e->frees - e->disconnect_frees;
}

static inline struct ez_bucket_page *ez_entry_page(const struct ez_entry *e)
{
	return (struct ez_bucket_page *)(uintptr_t)e->page;
}

/* Hands over what the bucket holds if somebody listens, and clears it; it now is `id`. */
void ez_bucket_turn(const struct ez_entry *e, struct ez_bucket *b, uint64_t id,
		    uint64_t total_before);

/* Hands over what is there, whatever its age; the endpoint is about to close. */
void ez_bucket_flush(const struct ez_entry *e);

/*
 * The process is about to end: from now on no bucket is kept. Afterwards ez_bucket_flush_ended()
 * hands over what an endpoint has, without its lock; false: its writer was in the middle of an
 * update and didn't get on within some ms, so that its last bucket is lost.
 */
void ez_bucket_end_all(void);
bool ez_bucket_flush_ended(const struct ez_entry *e);
extern bool ez_bucket_ended __attribute__((visibility("hidden")));

/* Makes a page ready for another endpoint. */
void ez_bucket_reset(struct ez_bucket_page *page);

/* False, and not open: the process ends, nothing is counted any more. */
static inline bool ez_bucket_open(struct ez_bucket *b)
{
	__atomic_store_n(&b->seq, b->seq + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	/* After the store, also as other processors see it: ez_bucket_end_all() sees to that. */
	if (__builtin_expect(!__atomic_load_n(&ez_bucket_ended, __ATOMIC_RELAXED), 1))
		return true;
	__atomic_store_n(&b->seq, b->seq + 1, __ATOMIC_RELEASE);
	return false;
}

static inline void ez_bucket_close(struct ez_bucket *b)
{
	__atomic_store_n(&b->seq, b->seq + 1, __ATOMIC_RELEASE);
}

/* Makes `moment` (0: now) the time of what follows, turning the bucket if need be. */
static inline uint64_t ez_bucket_at(const struct ez_entry *e, struct ez_bucket *b, uint64_t moment,
				    uint64_t total_before)
{
	uint64_t now = moment ? moment : ez_counter_now_ns(), id = EZ_BUCKET_ID(now);

	if (__builtin_expect(id == b->id, 1))
		return now;
	if (id < b->id)
		return b->id << EZ_BUCKET_SHIFT;
	ez_bucket_turn(e, b, id, total_before);
	return now;
}

static inline void ez_bucket_sample(struct ez_bucket *b, uint32_t interval, uint64_t from_ns,
				    uint64_t to_ns)
{
	/* The two may come from different anchors of the clock, some tens of ns apart. */
	uint64_t ns = to_ns > from_ns ? to_ns - from_ns : 0;

	b->n[interval]++;
	b->sum_ns[interval] += ns;
	if (ns < b->shape.min_ns[interval])
		b->shape.min_ns[interval] = ns;
	if (ns > b->shape.max_ns[interval]) {
		b->shape.max_ns[interval] = ns;
		if (interval == 2)
			b->shape.gap_max_at_ns = to_ns;
	}
	if (interval < EZ_HISTS)
		b->shape.hist[interval][ez_hist_bin(ns)]++;
}

/* A message at `now`: its gap, if none went by unheard since the last one. */
static inline void ez_bucket_gap(struct ez_bucket_page *page, uint64_t now, uint64_t total_before,
				 uint64_t total_after)
{
	struct ez_bucket *b = &page->bucket;

	if (b->open_since_ns[2] && page->heard_total == total_before)
		ez_bucket_sample(b, 2, b->open_since_ns[2], now);
	b->open_since_ns[2] = now;
	page->heard_total = total_after;
}

#endif
