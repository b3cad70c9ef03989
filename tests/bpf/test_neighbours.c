/* SPDX-License-Identifier: MIT */
/* Who isn't asked for isn't counted and pays nothing: other processes, forked children. */
#include "player.h"
#include "registry_layout.h"
#include "require.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const struct ezprof_bpf_options options;

static int64_t semaphores(struct player *player)
{
	int64_t n[16], sum = 0;
	unsigned int count = player_do(player, n, "semaphores");

	for (unsigned int i = 0; i < count; i++)
		sum += n[i];
	return sum;
}

static void start(struct player *player)
{
	player_start(player);
	player_do(player, NULL, "open %d 32", EZ_KIND_PUBLISHER);
}

/* B14: two processes run the same file, one is asked for. Then two tools, one process each. */
static void test_one_of_two(void **state)
{
	struct player asked, other;
	struct bench bench, second;

	(void)state;
	start(&asked);
	start(&other);
	bench_open(&bench, &options);
	bench_attach(&bench, &asked, false);
	assert_true(semaphores(&asked) > 0);
	assert_int_equal(semaphores(&other), 0);
	player_do(&asked, NULL, "publish 0 1001 7");
	player_do(&other, NULL, "publish 0 2003 7");
	assert_int_equal(bench_window(&bench, &asked, 0, 2).measured_messages, 1001);
	assert_int_equal(bench_counters(&bench).hits[EZ_PROBE_publish], 1001);
	assert_int_equal(bench_losses(&bench), 0);

	bench_open(&second, &options);
	bench_attach(&second, &other, false);
	player_do(&asked, NULL, "publish 0 10 7");
	player_do(&other, NULL, "publish 0 20 7");
	assert_int_equal(bench_window(&bench, &asked, 0, 2).measured_messages, 1011);
	assert_int_equal(bench_window(&second, &other, 0, 2).measured_messages, 20);
	assert_int_equal(bench_losses(&bench) + bench_losses(&second), 0);
	bench_close(&second);
	assert_int_equal(semaphores(&other), 0);
	assert_true(semaphores(&asked) > 0);
	bench_close(&bench);
	player_stop(&asked);
	player_stop(&other);
}

/* One link for everyone: targets are counted, the others are told apart and said. */
static void test_everyone(void **state)
{
	struct player asked, other;
	struct bench bench;

	(void)state;
	start(&asked);
	start(&other);
	bench_open(&bench, &options);
	bench_attach(&bench, &asked, true);
	assert_true(semaphores(&other) > 0);
	player_do(&asked, NULL, "publish 0 1001 7");
	player_do(&other, NULL, "publish 0 2003 7");
	assert_int_equal(bench_window(&bench, &asked, 0, 2).measured_messages, 1001);
	assert_int_equal(bench_counters(&bench).losses[EZ_LOSS_NOT_A_TARGET], 2003);
	assert_int_equal(bench_losses(&bench), 2003);
	bench_close(&bench);
	player_stop(&asked);
	player_stop(&other);
}

#define FORKS 1000

/* A child forked while attached inherits breakpoints and semaphores: it survives, uncounted. */
static void forks(const struct ezprof_bpf_options *how, bool everyone)
{
	struct player player;
	struct bench bench;
	int64_t n[16];

	start(&player);
	bench_open(&bench, how);
	bench_attach(&bench, &player, everyone);
	for (int i = 0; i < FORKS; i++) {
		assert_int_equal(player_do(&player, n, "fork 3 7 0"), 1);
		assert_int_equal(n[0], 0);
	}
	player_do(&player, NULL, "publish 0 23 7");
	assert_int_equal(bench_window(&bench, &player, 0, 16).measured_messages, 23);
	assert_int_equal(bench_counters(&bench).losses[EZ_LOSS_NOT_A_TARGET],
			 everyone ? 3 * FORKS : 0);
	bench_close(&bench);
	assert_int_equal(semaphores(&player), 0);
	player_stop(&player);
}

static void test_forks(void **state)
{
	(void)state;
	forks(&options, false);
}

static void test_forks_everyone(void **state)
{
	(void)state;
	forks(&options, true);
}

static void test_forks_perf_event(void **state)
{
	const struct ezprof_bpf_options perf_event = {.perf_event = true};

	(void)state;
	forks(&perf_event, false);
}

/* A target that is killed: what was counted until then can still be read. */
static void test_target_killed(void **state)
{
	struct player player;
	struct bench bench;

	(void)state;
	start(&player);
	bench_open(&bench, &options);
	bench_attach(&bench, &player, false);
	player_do(&player, NULL, "publish 0 1001 7");
	player_kill(&player);
	assert_int_equal(bench_window(&bench, &player, 0, 2).measured_messages, 1001);
	assert_int_equal(ezprof_maps_release(bench.maps, player.pid), 0);
	bench_close(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_of_two),
		cmocka_unit_test(test_everyone),
		cmocka_unit_test(test_forks),
		cmocka_unit_test(test_forks_everyone),
		cmocka_unit_test(test_forks_perf_event),
		cmocka_unit_test(test_target_killed),
	};

	ez_require_bpf();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
