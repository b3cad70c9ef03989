/* SPDX-License-Identifier: MIT */
/* What must not make a number wrong: failed reads, forks, attaching again and again. */
#include "registry_layout.h"
#include "require.h"
#include "window_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <time.h>

static const struct ezprof_bpf_options options;

static void open_one(struct window_bench *bench, struct player *player)
{
	int64_t page[16];

	player_start(player);
	player_do(player, NULL, "open %d 32", EZ_KIND_PUBLISHER);
	player_do(player, page, "page 0");
	window_bench_open(bench, &options);
	bench->pages[0] = (uint64_t)page[0];
}

static void start(struct window_bench *bench, struct player *player)
{
	open_one(bench, player);
	window_bench_attach(bench, player);
	window_bench_wait(bench);
}

static struct window_view view_of(struct window_bench *bench, uint64_t total)
{
	struct window_view view;

	window_bench_read(bench, 1, 16, &total, &view);
	return view;
}

/* Memory that the process gives back, or that is reclaimed, is a hole in the running numbers. */
static void test_wiped_page(void **state)
{
	struct window_bench bench;
	struct player player;
	struct window_view view;

	(void)state;
	start(&bench, &player);
	player_do(&player, NULL, "publish 0 100 1");
	sleep_ms(150);
	player_do(&player, NULL, "publish 0 23 1");
	player_do(&player, NULL, "wipe 0");
	player_do(&player, NULL, "publish 0 7 1");
	view = view_of(&bench, 130);
	assert_true(view.at_rest);
	assert_int_equal(view.window.measured_messages + view.loss.lost, 130);
	assert_true(view.loss.known && view.loss.exact);
	assert_in_range(view.loss.lost, 1, 23);
	window_bench_close(&bench);
	player_stop(&player);
}

/* A page that BPF can't read: counted as such, nothing made up, and what follows is right. */
static void offer_unreadable(bool shared)
{
	struct window_bench bench;
	struct player player;
	struct window_view view;

	start(&bench, &player);
	player_do(&player, NULL, "offer 0 %d", shared);
	assert_int_equal(window_bench_loss(&bench, EZ_LOSS_READ_FAILED), 1);
	sleep_ms(150);
	player_do(&player, NULL, "publish 0 41 1");
	sleep_ms(150);
	player_do(&player, NULL, "publish 0 1 1");
	view = view_of(&bench, 42);
	assert_int_equal(view.window.measured_messages, 42);
	assert_int_equal(view.loss.lost, 0);
	window_bench_close(&bench);
	player_stop(&player);
}

static void test_page_never_touched(void **state)
{
	(void)state;
	offer_unreadable(false);
}

static void test_shared_page_paged_out(void **state)
{
	(void)state;
	offer_unreadable(true);
}

static void step_wall_clock(int64_t seconds)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec += seconds;
	assert_int_equal(clock_settime(CLOCK_REALTIME, &now), 0);
}

/*
 * B31: somebody sets the wall clock back by an hour, and on again. Only where the clock is our own
 * (tests/qemu); on a real machine it is everybody's, and the same is done without the step.
 */
static void test_wall_clock(void **state)
{
	bool own = getenv("EZPROF_TEST_EMULATED");
	struct window_bench bench;
	struct player player;
	struct window_view view;

	(void)state;
	start(&bench, &player);
	player_do(&player, NULL, "pace 200");
	player_do(&player, NULL, "publish 0 61 1");
	if (own)
		step_wall_clock(-3600);
	player_do(&player, NULL, "publish 0 61 1");
	if (own)
		step_wall_clock(3600);
	player_do(&player, NULL, "publish 0 61 1");
	view = view_of(&bench, 183);
	assert_true(view.at_rest);
	assert_int_equal(view.window.measured_messages, 183);
	assert_int_equal(view.window.messages, 183);
	assert_int_equal(view.loss.lost, 0);
	assert_in_range(view.window.covered_ns, 900000000u, 100000000000u);
	assert_in_range(view.window.interval[EZ_PUB_GAP].max_ns, 1, 100000000000u);
	assert_in_range(view.window.gap_longest_ns, 1, 100000000000u);
	printf("the wall clock was %s\n", own ? "set" : "left alone: it is not ours");
	window_bench_close(&bench);
	player_stop(&player);
}

/* Children inherit breakpoint, semaphore, registry and bucket; none of theirs counts as ours. */
static void test_forks(void **state)
{
	unsigned int forks = getenv("EZPROF_SLOW") ? 1000 : 100;
	struct window_bench bench;
	struct player player;
	struct window_view view;
	int64_t status[16];

	(void)state;
	start(&bench, &player);
	for (unsigned int i = 0; i < forks; i++) {
		player_do(&player, NULL, "publish 0 3 1");
		player_do(&player, status, "fork 5 1 0");
		assert_int_equal(status[0], 0);
	}
	view = view_of(&bench, 3 * forks);
	assert_true(view.at_rest);
	assert_int_equal(view.window.measured_messages, 3 * forks);
	assert_int_equal(view.loss.lost, 0);
	window_bench_close(&bench);
	player_stop(&player);
}

/* Under traffic: every time from the first whole bucket on, nothing twice, nothing missing. */
static void test_attach_again(void **state)
{
	unsigned int cycles = getenv("EZPROF_SLOW") ? 1000 : 25;
	int64_t numbers[16];
	struct player player;
	struct window_bench bench;
	uint64_t page;

	(void)state;
	open_one(&bench, &player);
	page = bench.pages[0];
	window_bench_close(&bench);
	for (unsigned int i = 0; i < cycles; i++) {
		struct window_view view;
		uint64_t total;

		window_bench_open(&bench, &options);
		bench.pages[0] = page;
		window_bench_attach(&bench, &player);
		player_do(&player, NULL, "pace 2000");
		player_do(&player, NULL, "publish 0 500 1");
		player_do(&player, numbers, "totals 0");
		total = (uint64_t)numbers[0];
		view = view_of(&bench, total);
		assert_true(view.loss.known && view.loss.exact);
		assert_int_equal(view.loss.lost, 0);
		assert_int_equal(view.window.first_total - 1 + view.window.measured_messages,
				 total);
		assert_in_range(view.window.measured_messages, 1, 500);
		window_bench_close(&bench);
	}
	player_do(&player, numbers, "semaphores");
	for (unsigned int i = 0; i < EZ_PROBE_COUNT; i++)
		assert_int_equal(numbers[i], 0);
	player_stop(&player);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wiped_page),
		cmocka_unit_test(test_page_never_touched),
		cmocka_unit_test(test_shared_page_paged_out),
		cmocka_unit_test(test_wall_clock),
		cmocka_unit_test(test_forks),
		cmocka_unit_test(test_attach_again),
	};

	signal(SIGPIPE, SIG_IGN);
	ez_require_bpf();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
