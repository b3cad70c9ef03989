/* SPDX-License-Identifier: MIT */
/*
 * What the ends of the runtime's benchmarks have in common: the clock, the time stamp that a
 * message begins with, and percentiles of the latencies that a receiver took. Not for two threads
 * at once.
 */
#ifndef EZ_RUNTIME_STAMP_H
#define EZ_RUNTIME_STAMP_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STAMP_BYTES 8
/* A message of this size ends a run: its receiver tells what it took. */
#define REPORT_BYTES 1
#define LATENCIES_MAX (1 << 20)

struct latencies {
	uint32_t *ns;
	size_t count;
};

static inline uint64_t stamp_now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static inline void stamp_put(void *content)
{
	uint64_t now = stamp_now_ns();

	memcpy(content, &now, sizeof(now));
}

static inline void latencies_take(struct latencies *latencies, const void *content)
{
	uint64_t sent, late = stamp_now_ns();

	memcpy(&sent, content, sizeof(sent));
	late -= sent;
	if (latencies->ns && latencies->count < LATENCIES_MAX)
		latencies->ns[latencies->count++] = late < UINT32_MAX ? (uint32_t)late : UINT32_MAX;
}

static inline int latencies_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Prints "P50 P99" in ns and starts anew. */
static inline void latencies_report(struct latencies *latencies)
{
	size_t n = latencies->count;

	if (n)
		qsort(latencies->ns, n, sizeof(*latencies->ns), latencies_compare);
	printf("%" PRIu32 " %" PRIu32 "\n", n ? latencies->ns[n / 2] : 0,
	       n ? latencies->ns[n * 99 / 100] : 0);
	fflush(stdout);
	latencies->count = 0;
}

static inline int latencies_init(struct latencies *latencies)
{
	latencies->count = 0;
	latencies->ns = calloc(LATENCIES_MAX, sizeof(*latencies->ns));
	return latencies->ns ? 0 : -1;
}

#endif
