/* SPDX-License-Identifier: MIT */
/* Places in the thread table; see thread_work.h. */
#include "thread_work.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

__thread struct ez_thread *ez_thread_own;

static struct ez_thread_table *table;

/* Written once, so that it is there when BPF looks, which can't wait for a page. */
uint64_t ez_thread_table_make(void)
{
	void *p = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED)
		return 0;
	madvise(p, sizeof(*table), MADV_NOHUGEPAGE);
	memset(p, 0, sizeof(*table));
	table = p;
	return (uintptr_t)p;
}

void ez_thread_fork_child(void)
{
	ez_thread_own = NULL;
	if (table)
		memset(table, 0, sizeof(*table));
}

static bool is_gone(uint32_t tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0) && errno == ESRCH;
}

/* A free place, its own (that of a thread with the same id, which has ended), or a dead thread's.
 */
static bool take(struct ez_thread_set *set, unsigned int way, uint32_t tid)
{
	uint32_t owner = __atomic_load_n(&set->tid[way], __ATOMIC_RELAXED);

	if (owner && owner != tid && !is_gone(owner))
		return false;
	/* Its last word first: nobody may take it for the new one's. */
	if (owner)
		memset(&set->threads[way], 0, sizeof(set->threads[way]));
	return __atomic_compare_exchange_n(&set->tid[way], &owner, tid, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

struct ez_thread *ez_thread_claim(void)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid);
	struct ez_thread_set *set = table ? &table->sets[tid % EZ_THREAD_SETS] : NULL;
	int saved = errno;

	ez_thread_own = EZ_THREAD_NONE;
	for (unsigned int way = 0; set && way < EZ_THREAD_WAYS; way++) {
		if (!take(set, way, tid))
			continue;
		ez_thread_own = &set->threads[way];
		break;
	}
	errno = saved;
	return ez_thread_own == EZ_THREAD_NONE ? NULL : ez_thread_own;
}

bool ez_work_may_begin(struct ez_bucket_page *page, struct ez_work *w, uint64_t endpoint,
		       uint64_t now)
{
	/* Another thread's, or its own outer one. */
	if (page->worker && page->worker != w && ez_work_endpoint(page->worker) == endpoint)
		return false;
	if (ez_work_endpoint(w) && now - w->since_ns < EZ_WORK_STALE_NS)
		return false;
	/* Else there is one put aside, of another message: what it had goes on with this one. */
	if (page->worker != w)
		page->covered.kept_ns = 0;
	__atomic_store_n(&w->endpoint, 0, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return true;
}

void ez_work_end_other(const struct ez_entry *e, struct ez_bucket_page *page, uint64_t now,
		       uint64_t bucket_ns)
{
	uint64_t endpoint = EZ_ENDPOINT_REF(e->generation, e->index);
	struct ez_covered *c = &page->covered;
	uint64_t since = c->since_ns, kept = c->kept_ns;
	struct ez_work *w = page->worker;

	page->worker = NULL;
	c->since_ns = 0;
	c->kept_ns = 0;
	/* By an exchange: its thread may be giving the word to another endpoint now, whose lock
	 * isn't this one. */
	if (since && !__atomic_compare_exchange_n(&w->endpoint, &endpoint, 0, false,
						  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	c->covered_ns += kept;
	if (!since)
		return;
	c->covered_ns += now > since ? now - since : 0;
	if (since < bucket_ns)
		c->carry_ns += bucket_ns - since + kept;
}

void ez_work_suspend(struct ez_entry *e)
{
	struct ez_bucket_page *page = e ? ez_entry_page(e) : NULL;
	uint64_t now;

	if (!page || !page->worker || !page->covered.since_ns || !ez_bucket_open(&page->bucket))
		return;
	now = ez_counter_now_ns();
	if (now > page->covered.since_ns)
		page->covered.kept_ns += now - page->covered.since_ns;
	page->covered.since_ns = 0;
	__atomic_store_n(&page->worker->endpoint, 0, __ATOMIC_RELEASE);
	ez_bucket_close(&page->bucket);
}

void ez_work_resume(struct ez_entry *e)
{
	struct ez_bucket_page *page = e ? ez_entry_page(e) : NULL;
	uint64_t now;

	if (!page || !page->worker || page->covered.since_ns || ez_work_endpoint(page->worker) ||
	    !ez_bucket_open(&page->bucket))
		return;
	now = ez_counter_now_ns();
	ez_work_say(page->worker, EZ_ENDPOINT_REF(e->generation, e->index), now);
	page->covered.since_ns = now;
	ez_bucket_close(&page->bucket);
}

void ez_work_drop(struct ez_entry *e)
{
	struct ez_bucket_page *page = e ? ez_entry_page(e) : NULL;

	if (!page || !page->worker || !ez_bucket_open(&page->bucket))
		return;
	ez_work_end(e, page, ez_counter_now_ns(), page->bucket.id << EZ_BUCKET_SHIFT);
	ez_bucket_close(&page->bucket);
}
