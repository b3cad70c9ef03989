/* SPDX-License-Identifier: MIT */
/*
 * The writer's side of the thread table (thread_layout.h): the thread says which endpoint it works
 * for, in a word of its own, and the endpoint's page adds up how long it said so. The word costs
 * two stores per message while somebody listens to windows, nothing while nobody does.
 *
 * One thread at a time works for an endpoint, the first one that says so; it counts as at work
 * until the endpoint's work ends, on whatever thread that happens. In a thread the outermost work
 * of a kind is the one that counts. What none of these rules covers is not covered: it is missing
 * in `covered_ns`, never wrong in it.
 *
 * All functions: the caller holds the endpoint's lock; begin and end: and has its bucket open.
 */
#ifndef EZ_THREAD_WORK_H
#define EZ_THREAD_WORK_H

#include <stddef.h>
#include <stdint.h>

#include "bucket.h"
#include "thread_layout.h"

/* Work that is older than this may be one whose end nobody heard: another may take its place. */
#define EZ_WORK_STALE_NS 10000000000ull

/* No room for this thread, found once. */
#define EZ_THREAD_NONE ((struct ez_thread *)1)

/* Initial-exec: one instruction. NULL: not looked for. */
extern __thread struct ez_thread *ez_thread_own
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The calling thread's place in the table, taken at its first call; NULL: there is none. */
struct ez_thread *ez_thread_claim(void);

/* Makes the table; 0: no memory. Once per process. */
uint64_t ez_thread_table_make(void);
/* Of a forked child: its threads are others. */
void ez_thread_fork_child(void);

static inline struct ez_thread *ez_thread_self(void)
{
	struct ez_thread *t = ez_thread_own;

	if (__builtin_expect((uintptr_t)t > 1, 1))
		return t;
	return t ? NULL : ez_thread_claim();
}

static inline void ez_work_say(struct ez_work *w, uint64_t endpoint, uint64_t now)
{
	/* BPF sees these in order: it runs on this thread's own CPU. */
	__atomic_store_n(&w->endpoint, 0, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	w->since_ns = now;
	__atomic_store_n(&w->endpoint, endpoint, __ATOMIC_RELEASE);
}

static inline uint64_t ez_work_endpoint(const struct ez_work *w)
{
	return __atomic_load_n(&w->endpoint, __ATOMIC_RELAXED);
}

/* This thread works for the endpoint from now on. */
static inline void ez_work_begin(const struct ez_entry *e, struct ez_bucket_page *page,
				 enum ez_work_kind kind, uint64_t now)
{
	uint64_t endpoint = EZ_ENDPOINT_REF(e->generation, e->index);
	struct ez_thread *self = ez_thread_self();
	struct ez_work *w;

	if (!self)
		return;
	w = &self->work[kind];
	/* Another thread's, or its own outer one. */
	if (page->worker && page->worker != w && ez_work_endpoint(page->worker) == endpoint)
		return;
	if (__builtin_expect(ez_work_endpoint(w) && now - w->since_ns < EZ_WORK_STALE_NS, 0))
		return;
	ez_work_say(w, endpoint, now);
	/* Else there is one put aside, of another message: what it had goes on with this one. */
	if (page->worker != w)
		page->covered.kept_ns = 0;
	page->worker = w;
	page->covered.since_ns = now;
}

/*
 * Clears the word if it is still the endpoint's. From another thread by an exchange: that thread
 * may be giving it to another endpoint now, whose lock isn't this one.
 */
static inline bool ez_work_unsay(struct ez_work *w, uint64_t endpoint)
{
	struct ez_thread *self = ez_thread_own;

	if (self && (w == &self->work[EZ_WORK_CALLBACK] || w == &self->work[EZ_WORK_WAIT])) {
		if (ez_work_endpoint(w) != endpoint)
			return false;
		__atomic_store_n(&w->endpoint, 0, __ATOMIC_RELAXED);
		return true;
	}
	return __atomic_compare_exchange_n(&w->endpoint, &endpoint, 0, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

/*
 * The endpoint's work ends, on whatever thread. `bucket_ns`: where the current bucket begins.
 */
static inline void ez_work_end(const struct ez_entry *e, struct ez_bucket_page *page, uint64_t now,
			       uint64_t bucket_ns)
{
	uint64_t endpoint = EZ_ENDPOINT_REF(e->generation, e->index);
	struct ez_covered *c = &page->covered;
	struct ez_work *w = page->worker;
	uint64_t since = c->since_ns;

	if (!w)
		return;
	page->worker = NULL;
	c->since_ns = 0;
	if (since && !ez_work_unsay(w, endpoint))
		return;
	c->covered_ns += c->kept_ns;
	if (!since)
		return;
	c->covered_ns += now > since ? now - since : 0;
	if (since < bucket_ns)
		c->carry_ns += bucket_ns - since + c->kept_ns;
}

/*
 * For event loops, whose thread does something else meanwhile: the endpoint's work is put aside,
 * and later taken up again, by the thread that began it.
 */
void ez_work_suspend(struct ez_entry *e);
void ez_work_resume(struct ez_entry *e);

/* The endpoint is about to close: nobody works for it any more. NULL is ignored. */
void ez_work_drop(struct ez_entry *e);

#endif
