/* SPDX-License-Identifier: MIT */
/* The window path: what buckets and page say is what the program did, at any moment. */
#include "registry_layout.h"
#include "require.h"
#include "window_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define COUNT 10007u
#define BYTES 97u

static const struct ezprof_bpf_options options;

static void open_both(struct window_bench *bench, struct player *player)
{
	int64_t page[16];

	player_start(player);
	player_do(player, NULL, "open %d 32", EZ_KIND_PUBLISHER);
	player_do(player, NULL, "open %d 32", EZ_KIND_CLIENT);
	window_bench_open(bench, &options);
	for (unsigned int i = 0; i < 2; i++) {
		player_do(player, page, "page %u", i);
		bench->pages[i] = (uint64_t)page[0];
	}
}

static void start(struct window_bench *bench, struct player *player)
{
	open_both(bench, player);
	window_bench_attach(bench, player);
	window_bench_wait(bench);
}

static void stop(struct window_bench *bench, struct player *player)
{
	window_bench_close(bench);
	player_stop(player);
}

static void check_both(struct window_bench *bench, uint64_t before, uint64_t count)
{
	uint64_t totals[2] = {before + count, before + count};
	struct window_view views[2];

	window_bench_read(bench, 2, 16, totals, views);
	for (unsigned int i = 0; i < 2; i++) {
		assert_true(views[i].at_rest);
		assert_int_equal(views[i].window.messages, count);
		assert_int_equal(views[i].window.bytes, count * BYTES);
		assert_int_equal(views[i].window.measured_messages, count);
		assert_int_equal(views[i].window.measured_bytes, count * BYTES);
		assert_true(views[i].loss.known && views[i].loss.exact);
		assert_int_equal(views[i].loss.lost, 0);
		assert_int_equal(views[i].window.gaps, 0);
	}
	assert_int_equal(views[1].window.interval[EZ_SUB_QUEUE].samples, count);
	assert_int_equal(views[1].window.interval[EZ_SUB_PROCESSING].samples, count);
	assert_int_equal(views[1].window.interval[EZ_SUB_LEASE].samples, count);
	for (enum ez_loss loss = 0; loss < EZ_LOSS_COUNT; loss++)
		assert_int_equal(window_bench_loss(bench, loss), 0);
}

/* Over several buckets, so that some are handed over and one is not. */
static void play(struct player *player)
{
	player_do(player, NULL, "roundtrip 1 %u %u", COUNT, BYTES);
	player_do(player, NULL, "publish 0 %u %u", COUNT - 60, BYTES);
	player_do(player, NULL, "pace 100");
	player_do(player, NULL, "publish 0 60 %u", BYTES);
	player_do(player, NULL, "pace 0");
}

static void test_pinned_and_migrating(void **state)
{
	struct window_bench bench;
	struct player player;

	(void)state;
	start(&bench, &player);
	player_do(&player, NULL, "pin 0");
	play(&player);
	check_both(&bench, 0, COUNT);
	player_do(&player, NULL, "migrate 1");
	play(&player);
	check_both(&bench, 0, 2 * COUNT);
	stop(&bench, &player);
}

static void test_attach_late(void **state)
{
	struct window_bench bench;
	struct player player;

	(void)state;
	open_both(&bench, &player);
	play(&player);
	window_bench_attach(&bench, &player);
	window_bench_wait(&bench);
	play(&player);
	check_both(&bench, COUNT, COUNT);
	stop(&bench, &player);
}

/* What a first attach left in the page is not counted by a second one. */
static void test_attach_twice(void **state)
{
	struct window_bench bench;
	struct player player;

	(void)state;
	start(&bench, &player);
	play(&player);
	window_bench_close(&bench);
	play(&player);
	{
		uint64_t pages[2] = {bench.pages[0], bench.pages[1]};

		window_bench_open(&bench, &options);
		bench.pages[0] = pages[0];
		bench.pages[1] = pages[1];
	}
	window_bench_attach(&bench, &player);
	window_bench_wait(&bench);
	play(&player);
	check_both(&bench, 2 * COUNT, COUNT);
	stop(&bench, &player);
}

/* The figures stop, the registry goes on: the difference is the loss. */
static void test_detached_under_way(void **state)
{
	struct window_bench bench;
	struct player player;
	struct window_view views[2];
	uint64_t totals[2] = {2 * COUNT, 2 * COUNT};

	(void)state;
	start(&bench, &player);
	play(&player);
	window_bench_detach(&bench);
	play(&player);
	window_bench_read(&bench, 2, 16, totals, views);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(views[i].window.measured_messages, COUNT);
		assert_true(views[i].loss.known);
		assert_int_equal(views[i].loss.lost, COUNT);
	}
	stop(&bench, &player);
}

static void test_eight_threads_with_snapshots(void **state)
{
	struct window_bench bench;
	struct player player;
	struct window_view view;
	uint64_t last = 0, total = 8 * 30000;

	(void)state;
	start(&bench, &player);
	fprintf(player.to, "threads 8 30000 %u 0\n", BYTES);
	fflush(player.to);
	for (unsigned int i = 0; i < 8; i++) {
		sleep_ms(20);
		window_bench_read(&bench, 1, 16, NULL, &view);
		/* A busy page isn't counted: then it may be less than a page at rest showed. */
		if (view.at_rest) {
			assert_true(view.window.measured_messages >= last);
			last = view.window.measured_messages;
		}
		if (view.loss.known && view.loss.exact)
			assert_int_equal(view.loss.lost, 0);
	}
	assert_non_null(fgets((char[64]){0}, 64, player.from));
	window_bench_read(&bench, 1, 16, &total, &view);
	assert_int_equal(view.window.messages, total);
	assert_int_equal(view.window.measured_bytes, total * BYTES);
	assert_int_equal(view.loss.lost, 0);
	stop(&bench, &player);
}

static struct ezprof_bucket_list read_list(struct window_bench *bench, uint32_t index)
{
	struct ezprof_bucket_list list;
	uint64_t now = EZ_BUCKET_ID(now_ns());

	assert_int_equal(ezprof_buckets_read(bench->buckets, bench->player->pid, 1, index, 1,
					     bench->from_id, now, &list),
			 0);
	return list;
}

/*
 * A bucket that is handed over while another endpoint's are read: who counts it as handed over, and
 * so not out of the page, has it in the list.
 */
static void test_handed_over_meanwhile(void **state)
{
	struct window_bench bench;
	struct ezprof_bucket_list list;
	struct player player;
	uint64_t messages = 0, id;

	(void)state;
	start(&bench, &player);
	for (unsigned int i = 0; i < 3; i++) {
		player_do(&player, NULL, "publish 0 10 1");
		player_do(&player, NULL, "roundtrip 1 10 1");
		id = EZ_BUCKET_ID(now_ns());
		while (i < 2 && EZ_BUCKET_ID(now_ns()) == id)
			sleep_ms(1);
	}
	id = EZ_BUCKET_ID(now_ns());
	while (EZ_BUCKET_ID(now_ns()) == id)
		sleep_ms(1);
	player_do(&player, NULL, "publish 0 1 1");
	assert_int_equal(ezprof_buckets_begin(bench.buckets), 0);
	list = read_list(&bench, 0);
	assert_int_equal(list.totals.messages, 30);
	player_do(&player, NULL, "roundtrip 1 1 1");
	list = read_list(&bench, 1);
	for (size_t i = 0; i < list.count; i++)
		messages += list.buckets[i].sums.messages;
	assert_int_equal(messages, list.totals.messages);
	stop(&bench, &player);
}

/* Half of it, none, and none again after a whole turn of the ring would have come. */
static void test_silence(void **state)
{
	struct window_bench bench;
	struct player player;
	struct window_view view;
	uint64_t whole, half, total = 1000;

	(void)state;
	start(&bench, &player);
	player_do(&player, NULL, "pace 1000");
	player_do(&player, NULL, "publish 0 1000 1");
	window_bench_read(&bench, 1, 1, &total, &view);
	whole = view.window.messages;
	assert_in_range(whole, 850, 1000);
	sleep_ms(500);
	window_bench_read(&bench, 1, 1, &total, &view);
	half = view.window.messages;
	assert_in_range(half, 300, 750);
	assert_in_range(view.window.gap_open_ns, 450000000, 900000000);
	assert_true(view.window.gap_longest_ns >= view.window.gap_open_ns);
	sleep_ms(800);
	window_bench_read(&bench, 1, 1, &total, &view);
	assert_int_equal(view.window.messages, 0);
	assert_int_equal(view.window.measured_messages, 1000);
	stop(&bench, &player);
}

/* A publisher that has been waiting shows it while it waits, and after. */
static void test_blocked(void **state)
{
	struct window_bench bench;
	struct player player;
	struct window_view view;

	(void)state;
	open_both(&bench, &player);
	player_do(&player, NULL, "blocked 0");
	window_bench_attach(&bench, &player);
	window_bench_wait(&bench);
	sleep_ms(300);
	window_bench_read(&bench, 1, 0.2, NULL, &view);
	assert_true(view.at_rest);
	assert_int_equal(view.window.blocked_ns, view.window.covered_ns);
	sleep_ms(400);
	player_do(&player, NULL, "unblocked 0");
	window_bench_read(&bench, 1, 0.2, NULL, &view);
	assert_int_equal(view.window.interval[EZ_PUB_BLOCKED].samples, 1);
	assert_true(view.window.interval[EZ_PUB_BLOCKED].max_ns > 700000000);
	assert_true(view.window.blocked_ns <= view.window.covered_ns);
	assert_true(view.window.blocked_ns >= view.window.covered_ns / 2);
	stop(&bench, &player);
}

/* A process that exits hands its last bucket over; one that is killed takes it with it. */
static void test_exit_flushes(void **state)
{
	struct window_bench bench;
	struct player player;
	struct window_view view;

	(void)state;
	start(&bench, &player);
	player_do(&player, NULL, "publish 0 %u %u", COUNT, BYTES);
	player_stop(&player);
	window_bench_read(&bench, 1, 16, NULL, &view);
	assert_int_equal(view.window.measured_messages, COUNT);
	window_bench_close(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pinned_and_migrating),
		cmocka_unit_test(test_attach_late),
		cmocka_unit_test(test_attach_twice),
		cmocka_unit_test(test_detached_under_way),
		cmocka_unit_test(test_eight_threads_with_snapshots),
		cmocka_unit_test(test_handed_over_meanwhile),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_exit_flushes),
	};

	signal(SIGPIPE, SIG_IGN);
	ez_require_bpf();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
