/* SPDX-License-Identifier: MIT */
/*
 * Points in time of CLOCK_MONOTONIC, which is also what BPF programs read. A type of its own, so
 * that a duration or a wall-clock time isn't passed by mistake without a reader noticing.
 */
#ifndef EZ_CLOCK_H
#define EZ_CLOCK_H

#include <limits.h>
#include <stdint.h>
#include <time.h>

#define EZ_NS_PER_US UINT64_C(1000)
#define EZ_NS_PER_MS UINT64_C(1000000)
#define EZ_NS_PER_S UINT64_C(1000000000)

/*
 * A point in time, nanoseconds of CLOCK_MONOTONIC. EZ_NEVER as a deadline means: without a limit.
 */
typedef uint64_t ez_mono_ns_t;
#define EZ_NEVER UINT64_MAX

static inline uint64_t ez_clock_read_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * EZ_NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* The time of day in seconds since 1970, for people and documents. Any thread. */
static inline double ez_clock_unix_s(void)
{
	return (double)(ez_clock_read_ns(CLOCK_REALTIME) / 1000) / 1e6;
}

/* Now. Any thread; 23 to 32 ns. */
static inline ez_mono_ns_t ez_clock_mono_ns(void)
{
	return ez_clock_read_ns(CLOCK_MONOTONIC);
}

/* Now, as of the last timer tick (1 to 10 ms old), on the same scale. Any thread; about 5 ns. */
static inline ez_mono_ns_t ez_clock_coarse_ns(void)
{
	return ez_clock_read_ns(CLOCK_MONOTONIC_COARSE);
}

/* The deadline that lies timeout_ms from now; negative = EZ_NEVER. */
static inline ez_mono_ns_t ez_clock_deadline_ns(int64_t timeout_ms)
{
	uint64_t now_ns = ez_clock_mono_ns();

	if (timeout_ms < 0 || (uint64_t)timeout_ms > (EZ_NEVER - now_ns) / EZ_NS_PER_MS)
		return EZ_NEVER;
	return now_ns + (uint64_t)timeout_ms * EZ_NS_PER_MS;
}

/*
 * What is left until deadline_ns, in the form that poll() takes: ms rounded up, 0 = over, -1 = no
 * limit.
 */
static inline int ez_clock_left_ms(ez_mono_ns_t deadline_ns, ez_mono_ns_t now_ns)
{
	uint64_t left_ms;

	if (deadline_ns == EZ_NEVER)
		return -1;
	if (deadline_ns <= now_ns)
		return 0;
	left_ms = (deadline_ns - now_ns + EZ_NS_PER_MS - 1) / EZ_NS_PER_MS;
	return left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

#endif
