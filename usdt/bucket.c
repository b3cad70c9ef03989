/* SPDX-License-Identifier: MIT */
/* Turning, flushing and resetting buckets; see bucket.h. */
#include "bucket.h"
#include "endpoint.h"
#include "probes.h"

#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define END_TRIES 50
#define END_PAUSE_NS 200000

bool ez_bucket_ended;

static int holds_something(const struct ez_bucket *b)
{
	return (b->messages | b->drops | b->n[0] | b->n[1] | b->n[2] | b->n[3]) != 0;
}

/* A bucket is the first thing in its page. */
static struct ez_covered *covered_of(struct ez_bucket *b)
{
	return &((struct ez_bucket_page *)b)->covered;
}

static void clear(struct ez_bucket *b)
{
	covered_of(b)->covered_ns = 0;
	covered_of(b)->carry_ns = 0;
	b->bytes = 0;
	b->messages = 0;
	b->drops = 0;
	memset(b->n, 0, sizeof(b->n));
	memset(b->sum_ns, 0, sizeof(b->sum_ns));
	b->carry_ns = 0;
	memset(&b->shape, 0, sizeof(b->shape));
	memset(b->shape.min_ns, 0xff, sizeof(b->shape.min_ns));
}

static void hand_over(const struct ez_entry *e, const struct ez_bucket *b)
{
	if (holds_something(b) && ez_probe_enabled(EZ_PROBE_window))
		ez_probe_window(ez_entry_ref(e), b, sizeof(*b) + sizeof(struct ez_covered), b->id,
				b->total_before);
}

void ez_bucket_turn(const struct ez_entry *e, struct ez_bucket *b, uint64_t id,
		    uint64_t total_before)
{
	hand_over(e, b);
	clear(b);
	b->id = id;
	b->total_before = total_before;
	ez_counter_anchor();
}

void ez_bucket_flush(const struct ez_entry *e)
{
	struct ez_bucket_page *page = ez_entry_page(e);

	if (!page || !page->bucket.id || !ez_bucket_open(&page->bucket))
		return;
	hand_over(e, &page->bucket);
	clear(&page->bucket);
	page->bucket.total_before = ez_entry_total(e);
	ez_bucket_close(&page->bucket);
}

void ez_bucket_reset(struct ez_bucket_page *page)
{
	/* A page that was never used need not become real memory. */
	if (!page->bucket.id && !page->bucket.open_since_ns[1])
		return;
	if (!ez_bucket_open(&page->bucket))
		return;
	clear(&page->bucket);
	page->bucket.id = 0;
	page->bucket.total_before = 0;
	memset(page->bucket.open_since_ns, 0, sizeof(page->bucket.open_since_ns));
	memset(&page->covered, 0, sizeof(page->covered));
	page->worker = NULL;
	page->heard_total = 0;
	page->waited_from_ns = 0;
	page->waited_to_ns = 0;
	ez_bucket_close(&page->bucket);
}

void ez_bucket_end_all(void)
{
	__atomic_store_n(&ez_bucket_ended, true, __ATOMIC_SEQ_CST);
	/*
	 * A barrier in every thread: one that didn't see the flag has made its odd sequence visible
	 * by now. Without the system call (kernel before 4.14, seccomp) the pause has to do.
	 */
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0))
		nanosleep(&(struct timespec){.tv_nsec = END_PAUSE_NS}, NULL);
}

bool ez_bucket_flush_ended(const struct ez_entry *e)
{
	struct ez_bucket_page *page = ez_entry_page(e);
	int i;

	if (!page || !page->bucket.id)
		return true;
	for (i = 0; i < END_TRIES; i++) {
		if (!(__atomic_load_n(&page->bucket.seq, __ATOMIC_ACQUIRE) & 1)) {
			hand_over(e, &page->bucket);
			return true;
		}
		nanosleep(&(struct timespec){.tv_nsec = END_PAUSE_NS}, NULL);
	}
	return false;
}
