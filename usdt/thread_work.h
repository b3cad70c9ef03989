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

static inline uint64_t ez_work_endpoint(const struct ez_work *w)
{
	return __atomic_load_n(&w->endpoint, __ATOMIC_RELAXED);
}

/* The word must be empty: BPF, which runs on this thread's own CPU, sees these in order. */
static inline void ez_work_say(struct ez_work *w, uint64_t endpoint, uint64_t now)
{
	w->since_ns = now;
	__atomic_store_n(&w->endpoint, endpoint, __ATOMIC_RELEASE);
}

/* Somebody works for the endpoint, or the thread for somebody: may it begin? Empties the word. */
bool ez_work_may_begin(struct ez_bucket_page *page, struct ez_work *w, uint64_t endpoint,
		       uint64_t now);

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
	if (__builtin_expect(page->worker || ez_work_endpoint(w), 0) &&
	    !ez_work_may_begin(page, w, endpoint, now))
		return;
	ez_work_say(w, endpoint, now);
	page->worker = w;
	page->covered.since_ns = now;
}

/* The rest of ez_work_end(): on another thread, put aside, or begun in an earlier bucket. */
void ez_work_end_other(const struct ez_entry *e, struct ez_bucket_page *page, uint64_t now,
		       uint64_t bucket_ns);

/*
 * The endpoint's work ends, on whatever thread. `bucket_ns`: where the current bucket begins.
 */
static inline void ez_work_end(const struct ez_entry *e, struct ez_bucket_page *page, uint64_t now,
			       uint64_t bucket_ns)
{
	struct ez_thread *self = ez_thread_own;
	struct ez_covered *c = &page->covered;
	struct ez_work *w = page->worker;

	if (!w)
		return;
	/* Its own word, which still is the endpoint's if it says the same moment. */
	if (__builtin_expect(!self || w != &self->work[EZ_WORK_CALLBACK] || !w->endpoint ||
				     w->since_ns != c->since_ns || c->kept_ns ||
				     c->since_ns < bucket_ns || now < c->since_ns,
			     0)) {
		ez_work_end_other(e, page, now, bucket_ns);
		return;
	}
	__atomic_store_n(&w->endpoint, 0, __ATOMIC_RELAXED);
	c->covered_ns += now - c->since_ns;
	c->since_ns = 0;
	page->worker = NULL;
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
