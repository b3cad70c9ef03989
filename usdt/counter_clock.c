/* SPDX-License-Identifier: MIT */
/* Anchors and rate of the counter clock; see counter_clock.h. */
#include "counter_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define TRUSTED "tsc\n"
#elif defined(__aarch64__)
#define TRUSTED "arch_sys_counter\n"
#endif

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

#define PAIR_TRIES 3
#define ANCHOR_NS 1000000000ull /* how long one holds */
#define NO_RATE 1ull

struct ez_counter_clock ez_counter_clock_state __attribute__((visibility("hidden"), aligned(64)));

/* Written once by ez_counter_init(), before there is a second thread that could ask. */
static bool usable;

static uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The kernel drops a counter that stops, drifts or differs between processors. */
static bool kernel_trusts_counter(void)
{
	char name[32] = "";
	int saved = errno, fd = open(CLOCKSOURCE, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0) {
		errno = saved;
		return false;
	}
	n = read(fd, name, sizeof(name) - 1);
	close(fd);
	errno = saved;
	return n > 0 && strcmp(name, TRUSTED) == 0;
}

/* A process may have been forbidden to read it: it would get SIGSEGV. */
static bool process_may_read_counter(void)
{
#if defined(__x86_64__)
	int mode = 0;

	return prctl(PR_GET_TSC, &mode) == 0 && mode == PR_TSC_ENABLE;
#else
	return true;
#endif
}

/*
 * Of a few readings the one that took the least time, for an interruption makes it long; the clock
 * is taken to have been read in its middle.
 */
static void read_pair(uint64_t *ret_counter, uint64_t *ret_ns)
{
	uint64_t best = UINT64_MAX;
	int i;

	for (i = 0; i < PAIR_TRIES; i++) {
		uint64_t before = ez_counter_read(), ns = monotonic_ns();
		uint64_t took = ez_counter_read() - before;

		if (took >= best)
			continue;
		best = took;
		*ret_counter = before + took / 2;
		*ret_ns = ns;
	}
}

static bool try_take(struct ez_counter_clock *c)
{
	return !__atomic_exchange_n(&c->taken, 1, __ATOMIC_ACQUIRE);
}

/*
 * The rate between the base pair and this one. A rate that leaps was no rate: the machine slept or
 * moved in between. Then, and when the base is too old to say anything about now, it starts anew.
 */
static uint64_t rate_of(struct ez_counter_clock *c, uint64_t counter, uint64_t ns)
{
	uint64_t age = ns - c->base_ns, wanted = c->mult ? 10 : 1, mult;

	if (!c->base_ns || counter <= c->base_counter || age > 2 * EZ_COUNTER_BASE_NS_MAX) {
		c->base_counter = counter;
		__atomic_store_n(&c->base_ns, ns, __ATOMIC_RELAXED);
		return counter <= c->counter ? 0 : c->mult;
	}
	if (age < wanted * EZ_COUNTER_BASE_NS_MIN)
		return c->mult;
	mult = (age << EZ_COUNTER_SHIFT) / (counter - c->base_counter);
	if (c->mult && (mult > c->mult + c->mult / 1024 || mult < c->mult - c->mult / 1024)) {
		mult = 0;
		age = UINT64_MAX;
	}
	if (age > EZ_COUNTER_BASE_NS_MAX) {
		c->base_counter = counter;
		__atomic_store_n(&c->base_ns, ns, __ATOMIC_RELAXED);
	}
	return mult;
}

static void anchor_taken(struct ez_counter_clock *c)
{
	uint64_t counter = 0, ns = 0, mult;

	read_pair(&counter, &ns);
	mult = rate_of(c, counter, ns);
	__atomic_store_n(&c->seq, c->seq + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&c->counter, counter, __ATOMIC_RELAXED);
	__atomic_store_n(&c->ns, ns, __ATOMIC_RELAXED);
	__atomic_store_n(&c->mult, mult, __ATOMIC_RELAXED);
	__atomic_store_n(&c->valid, mult ? (ANCHOR_NS << EZ_COUNTER_SHIFT) / mult : NO_RATE,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&c->seq, c->seq + 1, __ATOMIC_RELEASE);
}

void ez_counter_anchor(void)
{
	struct ez_counter_clock *c = &ez_counter_clock_state;

	if (!usable || !try_take(c))
		return;
	anchor_taken(c);
	__atomic_store_n(&c->taken, 0, __ATOMIC_RELEASE);
}

uint64_t ez_counter_slow_ns(void)
{
	const struct ez_counter_clock *c = &ez_counter_clock_state;
	uint64_t valid = __atomic_load_n(&c->valid, __ATOMIC_RELAXED), now = monotonic_ns();
	bool due;

	if (!usable)
		return now;
	if (valid == NO_RATE)
		due = now - __atomic_load_n(&c->base_ns, __ATOMIC_RELAXED) >=
		      EZ_COUNTER_BASE_NS_MIN;
	else
		due = now - __atomic_load_n(&c->ns, __ATOMIC_RELAXED) >= ANCHOR_NS / 2;
	if (due)
		ez_counter_anchor();
	return now;
}

void ez_counter_init(void)
{
	usable = process_may_read_counter() && kernel_trusts_counter();
	ez_counter_anchor();
}

void ez_counter_fork_child(void)
{
	struct ez_counter_clock *c = &ez_counter_clock_state;

	memset(c, 0, sizeof(*c));
	if (usable)
		ez_counter_anchor();
}
