/* SPDX-License-Identifier: MIT */
/*
 * Ten million messages by eight threads, while two callers take snapshots every 50 ms: nothing is
 * lost and nothing counts twice, in totals and in sums of disjoint windows.
 */
#include "bench_row.h"
#include "registry_layout.h"
#include "require.h"
#include "window_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 8u
#define ENDPOINTS 4u
#define MESSAGES 10000000u
#define BYTES 97u

/* A caller with a reader of its own, who adds up disjoint windows of every endpoint. */
struct caller {
	struct window_bench bench;
	bool stop;
	uint64_t next_id[ENDPOINTS];
	uint64_t messages[ENDPOINTS], bytes[ENDPOINTS];
	uint64_t snapshots, wrong, at_rest;
};

static void add_buckets(struct caller *c, unsigned int e, uint64_t end_id)
{
	struct ezprof_bucket_list list;

	if (end_id <= c->next_id[e] ||
	    ezprof_buckets_read(c->bench.buckets, c->bench.player->pid, 1, e, 1, c->next_id[e],
				end_id - 1, &list))
		return;
	for (size_t i = 0; i < list.count; i++) {
		c->messages[e] += list.buckets[i].sums.messages;
		c->bytes[e] += list.buckets[i].sums.bytes;
	}
	c->next_id[e] = end_id;
}

/* Buckets before the page's are final, whatever becomes of the page. */
static void sum_windows(struct caller *c, bool with_page)
{
	struct ezprof_memory memory = {ezprof_memory_read_fd, &c->bench.mem_fd};
	struct ezprof_page pages[ENDPOINTS];

	for (unsigned int e = 0; e < ENDPOINTS; e++) {
		if (ezprof_page_read(&memory, c->bench.pages[e], &pages[e]))
			memset(&pages[e], 0, sizeof(pages[e]));
	}
	if (ezprof_buckets_begin(c->bench.buckets))
		c->wrong++;
	for (unsigned int e = 0; e < ENDPOINTS; e++) {
		add_buckets(c, e, pages[e].id);
		if (!with_page)
			continue;
		c->messages[e] += pages[e].bucket.messages;
		c->bytes[e] += pages[e].bucket.bytes;
	}
}

static void *call(void *arg)
{
	struct caller *c = arg;
	struct window_view views[ENDPOINTS];
	uint64_t last[ENDPOINTS] = {0};

	while (!__atomic_load_n(&c->stop, __ATOMIC_RELAXED)) {
		sleep_ms(50);
		window_bench_read(&c->bench, ENDPOINTS, 2, NULL, views);
		for (unsigned int e = 0; e < ENDPOINTS; e++) {
			c->wrong += views[e].loss.known && views[e].loss.lost != 0;
			c->at_rest += views[e].at_rest;
			/* A busy page isn't counted, so this may fall back to the last bucket
			 * closed. */
			c->wrong += views[e].at_rest && views[e].window.measured_messages < last[e];
			if (views[e].at_rest)
				last[e] = views[e].window.measured_messages;
		}
		c->snapshots++;
		sum_windows(c, false);
	}
	return NULL;
}

static void start_caller(struct caller *c, const struct window_bench *bench, pthread_t *thread)
{
	memset(c, 0, sizeof(*c));
	c->bench = *bench;
	assert_int_equal(ezprof_buckets_open(bench->bpf, &c->bench.buckets), 0);
	for (unsigned int e = 0; e < ENDPOINTS; e++)
		c->next_id[e] = bench->from_id;
	assert_int_equal(pthread_create(thread, NULL, call, c), 0);
}

static uint64_t check(struct caller *c, pthread_t thread)
{
	uint64_t wrong, totals[ENDPOINTS];
	struct window_view views[ENDPOINTS];

	__atomic_store_n(&c->stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	wrong = c->wrong;
	sum_windows(c, true);
	for (unsigned int e = 0; e < ENDPOINTS; e++)
		totals[e] = MESSAGES / ENDPOINTS;
	window_bench_read(&c->bench, ENDPOINTS, 16, totals, views);
	for (unsigned int e = 0; e < ENDPOINTS; e++) {
		wrong += c->messages[e] != MESSAGES / ENDPOINTS;
		wrong += c->bytes[e] != (uint64_t)MESSAGES / ENDPOINTS * BYTES;
		wrong += views[e].window.measured_messages != MESSAGES / ENDPOINTS;
		wrong += views[e].window.measured_bytes != (uint64_t)MESSAGES / ENDPOINTS * BYTES;
		wrong += !views[e].loss.known || views[e].loss.lost != 0;
	}
	printf("%ju snapshots, %ju of %ju pages at rest, %ju wrong\n", (uintmax_t)c->snapshots,
	       (uintmax_t)c->at_rest, (uintmax_t)c->snapshots * ENDPOINTS, (uintmax_t)wrong);
	ezprof_buckets_close(c->bench.buckets);
	return wrong;
}

int main(void)
{
	const struct ezprof_bpf_options options = {0};
	struct caller callers[2];
	pthread_t threads[2];
	struct window_bench bench;
	struct player player;
	uint64_t wrong = 0;
	int64_t page[16];

	ez_require_bpf();
	player_start(&player);
	window_bench_open(&bench, &options);
	for (unsigned int e = 0; e < ENDPOINTS; e++) {
		player_do(&player, NULL, "open %d 32", EZ_KIND_PUBLISHER);
		player_do(&player, page, "page %u", e);
		bench.pages[e] = (uint64_t)page[0];
	}
	window_bench_attach(&bench, &player);
	window_bench_wait(&bench);
	for (unsigned int i = 0; i < 2; i++)
		start_caller(&callers[i], &bench, &threads[i]);
	player_do(&player, NULL, "spread %u %u %u %u", THREADS, MESSAGES / THREADS, BYTES,
		  ENDPOINTS);
	for (unsigned int i = 0; i < 2; i++)
		wrong += check(&callers[i], threads[i]);
	for (enum ez_loss loss = 0; loss < EZ_LOSS_COUNT; loss++)
		wrong += window_bench_loss(&bench, loss);
	bench_row("kernel.exact", (double)wrong, "figures wrong", "0", wrong == 0);
	window_bench_close(&bench);
	player_stop(&player);
	return 0;
}
