/* SPDX-License-Identifier: MIT */
/* See window_fold.h. */
#include "window_fold.h"
#include "histogram.h"

#include <string.h>

/* Ids that are looked at, and where the window lies in time. */
struct span {
	uint64_t first, last; /* none if last < first */
	uint64_t begin_ns, end_ns;
};

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t sub(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Ids of hostile pages may be anything. */
static uint64_t id_ns(uint64_t id)
{
	return id > UINT64_MAX >> EZ_BUCKET_SHIFT ? UINT64_MAX : id << EZ_BUCKET_SHIFT;
}

/* The page's own bucket counts if it is whole, of the past, and not in the maps as well. */
static const struct ez_bucket *page_bucket(const struct ezprof_window_input *in)
{
	const struct ez_bucket *page = in->page;

	if (!page || in->no_place || page->id < in->from_id || !page->id ||
	    page->id > EZ_BUCKET_ID(in->now_ns))
		return NULL;
	if (in->totals && page->id <= in->totals->last_id)
		return NULL;
	return page;
}

/* The first bucket of which it isn't known what it holds, where the page was never at rest. */
static uint64_t known_end(const struct ezprof_window_input *in)
{
	if (in->page_id)
		return in->page_id;
	return in->totals ? add(in->totals->last_id, 1) : in->from_id;
}

static struct span span_of(const struct ezprof_window_input *in)
{
	uint64_t window = min_u64(in->window_ns, EZPROF_WINDOW_MAX_NS);
	uint64_t closed = (window + (1ull << EZ_BUCKET_SHIFT) - 1) >> EZ_BUCKET_SHIFT;
	uint64_t end_id = EZ_BUCKET_ID(in->now_ns);
	struct span span = {.last = end_id, .end_ns = in->now_ns};

	/*
	 * Buckets before the page's are in the maps; its own will be, and nobody knows what it
	 * holds. Of a page that can't be read at all the newest bucket in the maps is known.
	 */
	if (!in->page && known_end(in) <= end_id) {
		end_id = known_end(in);
		span.last = sub(end_id, 1);
		span.end_ns = id_ns(end_id);
	}
	span.first = max_u64(sub(end_id, closed), in->from_id);
	span.begin_ns = max_u64(id_ns(span.first), in->opened_ns);
	span.begin_ns = min_u64(span.begin_ns, span.end_ns);
	return span;
}

/*
 * A publisher waits once at a time, so of the waits that ended in a bucket at most one began before
 * it, and its carry is the time right before the bucket: of that, what lies in the window counts.
 */
static uint64_t blocked_in(uint64_t sum_ns, uint64_t carry_ns, uint64_t id, uint64_t begin_ns)
{
	return add(sub(sum_ns, carry_ns), min_u64(carry_ns, sub(id_ns(id), begin_ns)));
}

static void add_hist(const struct ez_shape *shape, unsigned int interval, struct ezprof_window *w)
{
	for (unsigned int i = 0; i < EZ_HIST_BINS; i++) {
		uint32_t more = shape->hist[interval][i], sum = w->hist[interval][i] + more;

		w->hist[interval][i] = sum < more ? UINT32_MAX : sum;
	}
}

static void add_shape(const struct ez_shape *shape, const uint32_t n[EZ_INTERVALS],
		      struct ezprof_window *w)
{
	for (unsigned int i = 0; i < EZ_INTERVALS; i++) {
		struct ezprof_interval *interval = &w->interval[i];

		if (!n[i])
			continue;
		if (i == 2 && shape->max_ns[2] >= w->gap_longest_ns) {
			w->gap_longest_ns = shape->max_ns[2];
			w->gap_longest_at_ns = shape->gap_max_at_ns;
		}
		interval->max_ns = max_u64(interval->max_ns, shape->max_ns[i]);
		w->min_ns[i] = min_u64(w->min_ns[i], shape->min_ns[i]);
		if (i < EZ_HISTS)
			add_hist(shape, i, w);
	}
}

static void add_sums(const struct ez_bucket_sums *sums, uint64_t id, bool publisher,
		     struct ezprof_window *w)
{
	w->messages = add(w->messages, sums->messages);
	w->bytes = add(w->bytes, sums->bytes);
	w->drops = add(w->drops, sums->drops);
	for (unsigned int i = 0; i < EZ_INTERVALS; i++) {
		w->interval[i].samples = add(w->interval[i].samples, sums->n[i]);
		w->interval[i].sum_ns = add(w->interval[i].sum_ns, sums->sum_ns[i]);
	}
	if (publisher)
		w->blocked_ns = add(w->blocked_ns, blocked_in(sums->sum_ns[EZ_PUB_BLOCKED],
							      sums->carry_ns, id, w->begin_ns));
}

static struct ez_bucket_sums sums_of(const struct ez_bucket *b)
{
	struct ez_bucket_sums sums = {
		.bytes = b->bytes,
		.messages = b->messages,
		.drops = b->drops,
		.carry_ns = b->carry_ns,
	};

	memcpy(sums.n, b->n, sizeof(sums.n));
	memcpy(sums.sum_ns, b->sum_ns, sizeof(sums.sum_ns));
	return sums;
}

/* What has begun and not ended. Only a page at rest tells; of a wait the registry does as well. */
static void fold_open(const struct ezprof_window_input *in, const struct span *span,
		      struct ezprof_window *w)
{
	const struct ez_bucket *page = page_bucket(in);
	uint64_t since = in->page ? in->page->open_since_ns[1] : in->blocked_since_ns;

	if (in->publisher && since)
		w->blocked_ns =
			add(w->blocked_ns, sub(span->end_ns, max_u64(since, span->begin_ns)));
	w->blocked_ns = min_u64(w->blocked_ns, w->covered_ns);
	if (!page)
		return;
	if (!in->publisher && since && in->in_flight)
		w->processing_open_ns = sub(in->now_ns, since);
	/* A total that went on unheard makes the last message heard no beginning of a gap. */
	if (!page->open_since_ns[2] || !in->total_stable ||
	    page->total_before + page->messages < in->total)
		return;
	w->gap_open_ns = sub(in->now_ns, page->open_since_ns[2]);
	if (w->gap_open_ns > w->gap_longest_ns) {
		w->gap_longest_ns = w->gap_open_ns;
		w->gap_longest_at_ns = in->now_ns;
	}
}

static void fold_window(const struct ezprof_window_input *in, struct ezprof_window *w)
{
	struct span span = span_of(in);
	const struct ez_bucket *page = page_bucket(in);

	w->begin_ns = span.begin_ns;
	w->end_ns = span.end_ns;
	w->covered_ns = w->end_ns - w->begin_ns;
	w->warming_up = w->covered_ns < min_u64(in->window_ns, EZPROF_WINDOW_MAX_NS);
	w->has_hist = true;
	memset(w->min_ns, 0xff, sizeof(w->min_ns));
	for (size_t i = 0; i < in->count; i++) {
		const struct ezprof_bucket *b = &in->buckets[i];

		if (b->id < span.first || b->id > span.last)
			continue;
		add_sums(&b->sums, b->id, in->publisher, w);
		if (b->shape)
			add_shape(b->shape, b->sums.n, w);
		else
			w->gaps++;
	}
	if (page && page->id >= span.first) {
		struct ez_bucket_sums sums = sums_of(page);

		add_sums(&sums, page->id, in->publisher, w);
		add_shape(&page->shape, page->n, w);
	}
	fold_open(in, &span, w);
	for (unsigned int i = 0; i < EZ_INTERVALS; i++) {
		if (!w->interval[i].samples || w->min_ns[i] > w->interval[i].max_ns)
			w->min_ns[i] = 0;
	}
}

static void fold_measured(const struct ezprof_window_input *in, struct ezprof_window *w)
{
	const struct ez_bucket_totals *t = in->totals;
	const struct ez_bucket *page = page_bucket(in);

	if (t) {
		w->measured_messages = t->messages;
		w->measured_bytes = t->bytes;
		memcpy(w->measured_samples, t->n, sizeof(w->measured_samples));
		w->first_total = add(t->first_total, 1);
		w->last_total = t->end_total;
	} else if (page) {
		w->first_total = add(page->total_before, 1);
	}
	if (!page)
		return;
	w->measured_messages = add(w->measured_messages, page->messages);
	w->measured_bytes = add(w->measured_bytes, page->bytes);
	for (unsigned int i = 0; i < EZ_INTERVALS; i++)
		w->measured_samples[i] = add(w->measured_samples[i], page->n[i]);
	w->last_total = add(page->total_before, page->messages);
}

static void to_host(int64_t offset_ns, uint64_t *ns)
{
	if (*ns && offset_ns >= 0)
		*ns = max_u64(sub(*ns, (uint64_t)offset_ns), 1);
	else if (*ns)
		*ns = add(*ns, -(uint64_t)offset_ns);
}

void ezprof_window_fold(const struct ezprof_window_input *input, struct ezprof_window *ret_window)
{
	struct ezprof_window w = {.requested_ns = input->window_ns,
				  .begin_ns = input->now_ns,
				  .end_ns = input->now_ns};

	if (input->window_ns >= EZPROF_WINDOW_MIN_NS)
		fold_window(input, &w);
	fold_measured(input, &w);
	to_host(input->clock_offset_ns, &w.begin_ns);
	to_host(input->clock_offset_ns, &w.end_ns);
	to_host(input->clock_offset_ns, &w.gap_longest_at_ns);
	*ret_window = w;
}

/*
 * The total before everything that should have been counted. An endpoint opened since: 0. Else the
 * first bucket tells; if that one was refused a later one does, and the total that was read at the
 * attach is smaller. False: there is no number to count from.
 */
static bool base_total(const struct ezprof_window_input *in, uint64_t *ret_base)
{
	const struct ez_bucket *page = page_bucket(in);
	uint64_t base = UINT64_MAX;

	if (in->totals)
		base = in->totals->first_total;
	else if (page)
		base = page->total_before;
	if (in->have_attach)
		base = min_u64(base, in->attach_total);
	if (in->opened_ns > id_ns(in->from_id))
		base = 0;
	*ret_base = base;
	return base != UINT64_MAX;
}

void ezprof_window_loss(const struct ezprof_window_input *in, struct ezprof_loss *ret_loss)
{
	const struct ez_bucket *page = page_bucket(in);
	struct ezprof_loss loss = {0};
	uint64_t base, end, counted = 0;

	*ret_loss = loss;
	if (!base_total(in, &base))
		return;
	end = in->totals ? in->totals->end_total : base;
	if (in->totals)
		counted = in->totals->messages;
	if (page) {
		counted = add(counted, page->messages);
		end = add(page->total_before, page->messages);
	}
	/* The total was read before the page: a page at rest has been told of all of it. */
	if (in->page && in->total_stable)
		end = max_u64(end, in->total);
	loss.known = true;
	loss.exact = in->page && in->total_stable;
	loss.lost = sub(sub(end, base), counted);
	*ret_loss = loss;
}

/*
 * A linear bin's middle, else the harmonic mean of its ends, whose relative error is the same on
 * both sides. The last bin has no end but the maximum.
 */
static uint64_t bin_value_ns(uint32_t bin, uint64_t max_ns)
{
	double a = (double)ez_hist_bin_low_ns(bin), b = (double)ez_hist_bin_low_ns(bin + 1);

	if (bin == EZ_HIST_BINS - 1)
		return max_ns;
	return (uint64_t)(bin < 8 ? (a + b) / 2 : 2 * a * b / (a + b));
}

uint64_t ezprof_quantile_ns(const uint32_t hist[EZ_HIST_BINS], uint64_t min_ns, uint64_t max_ns,
			    unsigned int per_cent)
{
	uint64_t samples = 0, rank, seen = 0;
	uint32_t bin;

	for (bin = 0; bin < EZ_HIST_BINS; bin++)
		samples += hist[bin];
	if (!samples)
		return 0;
	rank = max_u64((samples * per_cent + 99) / 100, 1);
	for (bin = 0; bin < EZ_HIST_BINS - 1; bin++) {
		seen += hist[bin];
		if (seen >= rank)
			break;
	}
	return max_u64(min_ns, min_u64(bin_value_ns(bin, max_ns), max_ns));
}
