/* SPDX-License-Identifier: MIT */
/*
 * A snapshot of 1,000 endpoints over 2 s by libezprof: pages out of processes, buckets out of maps,
 * folded. In ms per possible CPU; all endpoints have traffic in every bucket.
 */
#include "bench_row.h"
#include "measurement.h"
#include "player.h"
#include "registry_layout.h"
#include "require.h"
#include "snapshot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PLAYERS 16u
#define ENDPOINTS 63u /* of each */
#define SNAPSHOTS 25u
#define WINDOW_NS 2000000000ull

static struct player players[PLAYERS];

static void failed(void *context, const struct ezprof_target *target, int err, const char *sentence)
{
	(void)context;
	fprintf(stderr, "process %d: %s (%d)\n", target->process->pid, sentence, err);
}

static void start_players(struct ezprof_measurement *m)
{
	char sentence[EZPROF_SENTENCE_BYTES];

	for (unsigned int i = 0; i < PLAYERS; i++) {
		player_start(&players[i]);
		for (unsigned int e = 0; e < ENDPOINTS; e++)
			player_do(&players[i], NULL, "open %d 32", EZ_KIND_PUBLISHER);
		assert_int_equal(ezprof_measurement_add(m, players[i].pid, NULL, sentence), 0);
	}
}

/* A message a bucket and endpoint, for as long as the window. */
static void play(unsigned int seconds)
{
	for (unsigned int round = 0; round < seconds * 8; round++) {
		for (unsigned int i = 0; i < PLAYERS; i++)
			player_do(&players[i], NULL, "each 1 64");
		sleep_ms(120);
	}
}

/* A snapshot waits for nothing, so this is its time, less what other programs took meanwhile. */
static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(void)
{
	const struct ezprof_measurement_options options = {.paths = EZPROF_PATH_WINDOW,
							   .failed = failed};
	const struct ezprof_snapshot_request request = {.window_ns = WINDOW_NS,
							.viewer = EZPROF_VIEWER_ALL};
	struct ezprof_measurement *m;
	struct ezprof_snapshot *snapshot;
	struct ezprof_profile *profile;
	double ms[SNAPSHOTS], median;
	uint64_t messages = 0;

	ez_require_bpf();
	assert_int_equal(ezprof_measurement_new(&m), 0);
	start_players(m);
	assert_int_equal(ezprof_measurement_start(m, &options, NULL), 0);
	snapshot = ezprof_snapshot_new(m);
	play(2);
	for (unsigned int i = 0; i < SNAPSHOTS; i++) {
		double start = cpu_ms();

		assert_int_equal(ezprof_snapshot_take(snapshot, &request, &profile), 0);
		ms[i] = cpu_ms() - start;
		assert_int_equal(profile->row_count, PLAYERS * ENDPOINTS);
	}
	for (size_t i = 0; i < profile->row_count; i++)
		messages += profile->rows[i].window.messages;
	median = bench_median(ms, SNAPSHOTS);
	printf("%zu endpoints, %d possible CPUs: %.2f ms, %ju messages seen\n", profile->row_count,
	       ezprof_bpf_cpu_count(m->bpf), median, (uintmax_t)messages);
	bench_row_at_most("kernel.snapshot_1000_ms", median / ezprof_bpf_cpu_count(m->bpf),
			  "ms per possible CPU", 10);
	ezprof_snapshot_free(snapshot);
	ezprof_measurement_free(m);
	for (unsigned int i = 0; i < PLAYERS; i++)
		player_stop(&players[i]);
	return messages > 0 ? 0 : 1;
}
