/* SPDX-License-Identifier: MIT */
/*
 * CLOCK_MONOTONIC in ns, cheaper: the processor's counter, where the kernel itself keeps time by
 * it, between anchors taken from clock_gettime(); else clock_gettime(). An anchor holds for one
 * second (a suspended machine, or one moved elsewhere, is noticed thereby); whoever hands a bucket
 * over takes a new one. May step back by some tens of ns at an anchor: users clamp.
 *
 * The rate is measured over 0.1 s at least: until then, and while an anchor is being written, it is
 * clock_gettime() that answers. All functions: any thread, async-signal-safe, no errors.
 */
#ifndef EZ_COUNTER_CLOCK_H
#define EZ_COUNTER_CLOCK_H

#include <stdint.h>

#define EZ_COUNTER_SHIFT 28u /* ns = counter * mult >> 28: 2^58 for a second, 4e-9 of error */
#define EZ_COUNTER_BASE_NS_MIN 100000000ull
#define EZ_COUNTER_BASE_NS_MAX 5000000000ull

struct ez_counter_clock {
	uint32_t seq; /* odd: being written */
	uint32_t taken;
	uint64_t counter; /* the anchor: what the counter said ... */
	uint64_t ns;	  /* ... and CLOCK_MONOTONIC at that moment */
	uint64_t mult;
	uint64_t valid; /* counts for which the anchor holds; 1: no rate yet; 0: don't read it */
	uint64_t base_counter, base_ns; /* an older pair, to measure the rate from */
};

extern struct ez_counter_clock ez_counter_clock_state
	__attribute__((visibility("hidden"), aligned(64)));

/* Once per process, before other use: may the counter be used at all? Takes a first anchor. */
void ez_counter_init(void);
/* Of a forked child, in which another thread may have held the state. */
void ez_counter_fork_child(void);
/* Takes an anchor; about 60 ns. */
void ez_counter_anchor(void);
/* clock_gettime(CLOCK_MONOTONIC); takes an anchor if the old one is no longer valid. */
uint64_t ez_counter_slow_ns(void);

static inline uint64_t ez_counter_read(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#endif
}

static inline uint64_t ez_counter_now_ns(void)
{
	const struct ez_counter_clock *c = &ez_counter_clock_state;
	uint32_t seq = __atomic_load_n(&c->seq, __ATOMIC_ACQUIRE);
	uint64_t valid = __atomic_load_n(&c->valid, __ATOMIC_RELAXED);
	uint64_t counter = __atomic_load_n(&c->counter, __ATOMIC_RELAXED);
	uint64_t ns = __atomic_load_n(&c->ns, __ATOMIC_RELAXED);
	uint64_t mult = __atomic_load_n(&c->mult, __ATOMIC_RELAXED), since;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/* valid is 0 where the counter must not even be read. */
	if (__builtin_expect(
		    (seq & 1) || !valid || seq != __atomic_load_n(&c->seq, __ATOMIC_RELAXED), 0))
		return ez_counter_slow_ns();
	/* Another processor's counter may lie a little before the anchor: then since is huge. */
	since = ez_counter_read() - counter;
	if (__builtin_expect(since >= valid, 0))
		return ez_counter_slow_ns();
	return ns + (since * mult >> EZ_COUNTER_SHIFT);
}

#endif
