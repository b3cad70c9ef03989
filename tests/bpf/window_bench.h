/* SPDX-License-Identifier: MIT */
/* The window path attached to one player, read as an agent reads it. See player.h. */
#ifndef EZ_TEST_WINDOW_BENCH_H
#define EZ_TEST_WINDOW_BENCH_H

#include "loss.h"
#include "player.h"
#include "window_fold.h"
#include "window_reader.h"

struct window_bench {
	struct ezprof_bpf *bpf;
	struct ezprof_maps *maps;
	struct ezprof_buckets *buckets;
	const struct player *player;
	int mem_fd;
	uint64_t from_id;
	int link_fds[EZPROF_LINKS_MAX];
	uint32_t link_count;
	uint64_t pages[64]; /* by endpoint index */
};

/* What an endpoint's snapshot gave. */
struct window_view {
	struct ezprof_window window;
	struct ezprof_loss loss;
	bool at_rest;
};

void window_bench_open(struct window_bench *bench, const struct ezprof_bpf_options *options);
void window_bench_attach(struct window_bench *bench, const struct player *player);
void window_bench_detach(struct window_bench *bench);
void window_bench_close(struct window_bench *bench);

/* Sleeps until the first whole bucket has begun. */
void window_bench_wait(const struct window_bench *bench);

/* Reads `count` endpoints, indices from 0 on, generation 1; `total` may be NULL (not known). */
void window_bench_read(struct window_bench *bench, unsigned int count, double window_s,
		       const uint64_t *totals, struct window_view *ret_views);

uint64_t window_bench_loss(struct window_bench *bench, enum ez_loss loss);

#endif
