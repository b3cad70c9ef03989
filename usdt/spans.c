/* SPDX-License-Identifier: MIT */
/* Batches of spans; see spans.h. */
#include "spans.h"
#include "endpoint.h"
#include "probes.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static __thread uint32_t own_tid;

static uint32_t tid(void)
{
	if (!own_tid)
		own_tid = (uint32_t)syscall(SYS_gettid);
	return own_tid;
}

static struct ez_span_page *page_of(const struct ez_entry *e)
{
	return (struct ez_span_page *)(uintptr_t)(e->page ? e->page + EZ_PAGE_BYTES : 0);
}

static void seq_raise(struct ez_span_page *page)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&page->seq, page->seq + 1, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static void hand_over(const struct ez_entry *e, struct ez_span_page *page)
{
	if (page->count && ez_probe_enabled(EZ_PROBE_spans))
		ez_probe_spans(ez_entry_ref(e), page, page->count);
	page->count = 0;
}

void ez_spans_add(const struct ez_entry *e, const struct ez_span *span, uint64_t total_before)
{
	struct ez_span_page *page = page_of(e);
	uint64_t bucket = EZ_BUCKET_ID(span->end_ns);

	if (!page)
		return;
	seq_raise(page);
	/* Running numbers in a page have no hole: what was recorded long ago stays apart. */
	if (page->count &&
	    (page->bucket_id != bucket || page->first_total + page->count != total_before))
		hand_over(e, page);
	if (!page->count) {
		page->first_total = total_before;
		page->since_ns = span->end_ns;
		page->bucket_id = bucket;
		memcpy(page->publisher_id, e->publisher_id, sizeof(page->publisher_id));
	}
	page->spans[page->count] = *span;
	page->spans[page->count++].tid = tid();
	if (page->count == EZ_SPANS_PER_PAGE)
		hand_over(e, page);
	seq_raise(page);
}

void ez_spans_flush(const struct ez_entry *e)
{
	struct ez_span_page *page = page_of(e);

	if (!page || !ez_probe_enabled(EZ_PROBE_spans))
		return;
	seq_raise(page);
	hand_over(e, page);
	seq_raise(page);
}

void ez_spans_fork_child(void)
{
	own_tid = 0;
}
