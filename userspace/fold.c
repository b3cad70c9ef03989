/* SPDX-License-Identifier: MIT */
/*
 * Windows out of running sums; see fold.h, and window_shared.h for what sums and notes are.
 *
 * Per CPU, what happened in bucket b is the state when b + 1 began minus the state when b began.
 * The state when a bucket began is its note; without a note nothing was counted there before the
 * next note, or before now, so that one, or the sums themselves, are the state. States before the
 * owner's first hit on that CPU are its base. A note is cut to the state after it: a program that
 * was stopped between reading its clock and taking the note has taken it with hits of later buckets
 * in it.
 */
#include "fold.h"

#include <string.h>

#define WORDS (sizeof(struct ez_sums) / sizeof(ez_u64))
#define BUCKETS_MAX EZ_RING_BUCKETS

/* The buckets of a window: `count` of them from `first` on. */
struct span {
	uint64_t first, count, begin_ns;
};

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Saturating: sums of hostile byte counts may be anything. */
static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t sub(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void sums_add_difference(struct ez_sums *to, const struct ez_sums *end,
				const struct ez_sums *begin)
{
	uint64_t *t = (uint64_t *)to;
	const uint64_t *e = (const uint64_t *)end;
	const uint64_t *b = (const uint64_t *)begin;

	for (size_t i = 0; i < WORDS; i++)
		t[i] = add(t[i], sub(e[i], b[i]));
}

/* (first + count) * 2^27 can't overflow: both come from ns >> 27. */
static struct span span_of(const struct ezprof_fold_input *in)
{
	uint64_t current = in->now_ns >> EZ_BUCKET_SHIFT;
	uint64_t window = min_u64(in->window_ns, EZPROF_WINDOW_MAX_NS);
	uint64_t closed = (window + (1ull << EZ_BUCKET_SHIFT) - 1) >> EZ_BUCKET_SHIFT;
	struct span span = {.first = sub(current, closed)};

	span.begin_ns = span.first << EZ_BUCKET_SHIFT;
	span.begin_ns = max_u64(span.begin_ns, max_u64(in->attached_ns, in->opened_ns));
	span.begin_ns = min_u64(span.begin_ns, in->now_ns);
	span.first = span.begin_ns >> EZ_BUCKET_SHIFT;
	span.count = current - span.first + 1;
	return span;
}

static void sums_min(struct ez_sums *to, const struct ez_sums *with)
{
	uint64_t *t = (uint64_t *)to;
	const uint64_t *w = (const uint64_t *)with;

	for (size_t i = 0; i < WORDS; i++)
		t[i] = min_u64(t[i], w[i]);
}

/* The state when the bucket after `id` began: the sums, cut to all younger notes. */
static struct ez_sums state_after(const struct ez_ring *ring, uint64_t id)
{
	struct ez_sums state = ring->sums;

	for (unsigned int i = 0; i < EZ_RING_BUCKETS; i++) {
		const struct ez_note *note = &ring->notes[i];

		if (EZ_NOTE_IS_READY(note->state) && EZ_NOTE_ID(note->state) > id)
			sums_min(&state, &note->sums);
	}
	return state;
}

static const struct ez_note *note_at(const struct ez_ring *ring, uint64_t id)
{
	return &ring->notes[id & (EZ_RING_BUCKETS - 1)];
}

static void fold_max(const struct ez_note *note, uint64_t id, struct ezprof_window *w)
{
	for (unsigned int i = 0; i < EZ_INTERVALS; i++) {
		if (EZ_MAX_IS_OF(note->max[i], id))
			w->interval[i].max_ns =
				max_u64(w->interval[i].max_ns, note->max[i] & EZ_MAX_NS);
	}
}

/* Adds one CPU's part of each bucket, from the newest to the oldest. */
static void fold_cpu(const struct ez_ring *ring, const struct span *span, struct ez_sums *buckets,
		     struct ezprof_window *w)
{
	struct ez_sums end = state_after(ring, span->first + span->count - 1);

	for (uint64_t i = span->count; i-- > 0;) {
		uint64_t id = span->first + i;
		const struct ez_note *note = note_at(ring, id);
		struct ez_sums begin = end;

		if (id < ring->base_id)
			break;
		if (EZ_NOTE_ID(note->state) == id) {
			if (EZ_NOTE_IS_READY(note->state))
				sums_min(&begin, &note->sums);
			else
				w->gaps++;
			fold_max(note, id, w);
		}
		if (id == ring->base_id)
			begin = ring->base;
		sums_add_difference(&buckets[i], &end, &begin);
		end = begin;
	}
}

/*
 * A publisher waits once at a time, so of the waits that ended in a bucket at most one began before
 * it, and its carry is the time right before the bucket: of that, the part after the window's begin
 * counts.
 */
static uint64_t blocked_in(const struct ez_sums *bucket, uint64_t id, uint64_t begin_ns)
{
	uint64_t within = sub(bucket->sum_ns[EZ_PUB_BLOCKED], bucket->carry_ns);
	uint64_t before = sub(id << EZ_BUCKET_SHIFT, begin_ns);

	return add(within, min_u64(bucket->carry_ns, before));
}

static void fold_bucket(const struct ez_sums *bucket, uint64_t id, struct ezprof_window *w)
{
	w->messages = add(w->messages, bucket->messages);
	w->bytes = add(w->bytes, bucket->bytes);
	for (unsigned int i = 0; i < EZ_INTERVALS; i++) {
		w->interval[i].samples = add(w->interval[i].samples, bucket->n[i]);
		w->interval[i].sum_ns = add(w->interval[i].sum_ns, bucket->sum_ns[i]);
	}
	w->blocked_ns = add(w->blocked_ns, blocked_in(bucket, id, w->begin_ns));
}

static void fold_window(const struct ezprof_fold_input *in, struct ezprof_window *w)
{
	struct span span = span_of(in);
	struct ez_sums buckets[BUCKETS_MAX];

	memset(buckets, 0, sizeof(buckets));
	w->begin_ns = span.begin_ns;
	w->end_ns = in->now_ns;
	w->covered_ns = w->end_ns - w->begin_ns;
	w->warming_up = w->covered_ns < min_u64(in->window_ns, EZPROF_WINDOW_MAX_NS);
	for (unsigned int cpu = 0; in->rings && cpu < in->cpu_count; cpu++) {
		if (in->rings[cpu].owner == in->owner)
			fold_cpu(&in->rings[cpu], &span, buckets, w);
		else if ((in->rings[cpu].owner | 1) == in->owner)
			w->gaps++;
	}
	for (uint64_t i = 0; i < span.count; i++)
		fold_bucket(&buckets[i], span.first + i, w);
	if (in->blocked_since_ns)
		w->blocked_ns = add(w->blocked_ns,
				    sub(in->now_ns, max_u64(in->blocked_since_ns, w->begin_ns)));
	w->blocked_ns = min_u64(w->blocked_ns, w->covered_ns);
}

static void fold_measured(const struct ezprof_fold_input *in, struct ezprof_window *w)
{
	struct ez_sums all = {0};

	for (unsigned int cpu = 0; in->rings && cpu < in->cpu_count; cpu++) {
		if (in->rings[cpu].owner == in->owner)
			sums_add_difference(&all, &in->rings[cpu].sums, &in->rings[cpu].base);
	}
	w->measured_messages = all.messages;
	w->measured_bytes = all.bytes;
	memcpy(w->measured_samples, all.n, sizeof(w->measured_samples));
	if (in->slot) {
		w->unmatched = in->slot->unmatched;
		w->first_total = in->slot->first_total;
		w->last_total = in->slot->last_total;
	}
}

void ezprof_fold(const struct ezprof_fold_input *input, struct ezprof_window *ret_window)
{
	struct ezprof_window w = {.requested_ns = input->window_ns,
				  .begin_ns = input->now_ns,
				  .end_ns = input->now_ns};

	fold_measured(input, &w);
	if (input->window_ns >= EZPROF_WINDOW_MIN_NS)
		fold_window(input, &w);
	*ret_window = w;
}
