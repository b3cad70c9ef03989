/* SPDX-License-Identifier: MIT */
/*
 * An endpoint's page as its process may have left it, and what is made of it: the input is the
 * page, which changes while it is read, and behind it the times and totals that come from
 * elsewhere. The same page comes once more as a bucket that was handed over.
 */
#include "page_reader.h"
#include "window_fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BASE 0x100000ull
#define PER_CENTS 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct image {
	uint8_t *data;
	size_t size;
	size_t reads;
};

static int read_image(void *context, uint64_t address, void *to, size_t n)
{
	struct image *image = context;

	if (address < BASE || address - BASE > image->size || n > image->size - (address - BASE))
		return -EFAULT;
	memcpy(to, image->data + (address - BASE), n);
	if (++image->reads % 5 == 0)
		image->data[image->reads * 131 % image->size]++;
	return 0;
}

/* Numbers from behind the page, again and again. */
struct tail {
	const uint8_t *data;
	size_t size, at;
};

static uint64_t number(struct tail *tail)
{
	uint64_t value = 0;

	for (int i = 0; tail->size && i < 8; i++)
		value = value << 8 | tail->data[tail->at++ % tail->size];
	/* Small ones are the likelier ones. */
	return value >> (value & 63);
}

static void check(const struct ezprof_window *w)
{
	static const unsigned int per_cents[PER_CENTS] = {50, 90, 99};

	if (w->covered_ns > w->requested_ns + (2ull << EZ_BUCKET_SHIFT) ||
	    w->blocked_ns > w->covered_ns || w->begin_ns > w->end_ns)
		abort();
	for (unsigned int i = 0; i < EZ_HISTS; i++) {
		uint64_t last = 0;

		for (unsigned int p = 0; p < PER_CENTS; p++) {
			uint64_t value = ezprof_quantile_ns(w->hist[i], w->min_ns[i],
							    w->interval[i].max_ns, per_cents[p]);

			if (value < last)
				abort();
			last = value;
		}
	}
}

static void fold(const struct ezprof_page *page, struct tail *tail)
{
	struct ezprof_bucket bucket = {.id = number(tail), .shape = &page->bucket.shape};
	struct ez_bucket_totals totals;
	struct ezprof_window_input in = {.buckets = &bucket,
					 .count = number(tail) & 1,
					 .page = page->at_rest ? &page->bucket : NULL,
					 .page_id = page->id};
	struct ezprof_window window;
	struct ezprof_loss loss;

	bucket.sums.messages = page->bucket.messages;
	bucket.sums.bytes = page->bucket.bytes;
	bucket.sums.carry_ns = page->bucket.carry_ns;
	memcpy(bucket.sums.n, page->bucket.n, sizeof(bucket.sums.n));
	memcpy(bucket.sums.sum_ns, page->bucket.sum_ns, sizeof(bucket.sums.sum_ns));
	for (size_t i = 0; i < sizeof(totals) / sizeof(uint64_t); i++)
		((uint64_t *)&totals)[i] = number(tail);
	in.totals = number(tail) & 1 ? &totals : NULL;
	in.from_id = number(tail);
	in.opened_ns = number(tail);
	in.now_ns = number(tail);
	in.window_ns = number(tail) % (2 * EZPROF_WINDOW_MAX_NS);
	in.clock_offset_ns = (int64_t)number(tail) / 2;
	in.blocked_since_ns = number(tail);
	in.publisher = number(tail) & 1;
	in.in_flight = number(tail);
	in.total = number(tail);
	in.total_stable = number(tail) & 1;
	in.have_attach = number(tail) & 1;
	in.attach_total = number(tail);
	ezprof_window_fold(&in, &window);
	ezprof_window_loss(&in, &loss);
	check(&window);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image image = {.data = malloc(size + 1), .size = size};
	struct ezprof_memory memory = {read_image, &image};
	struct tail tail = {0};
	struct ezprof_page page;

	if (!image.data)
		abort();
	memcpy(image.data, data, size);
	if (size > sizeof(struct ez_bucket))
		tail = (struct tail){.data = data + sizeof(struct ez_bucket),
				     .size = size - sizeof(struct ez_bucket)};
	if (ezprof_page_read(&memory, BASE, &page) == 0)
		fold(&page, &tail);
	free(image.data);
	return 0;
}
