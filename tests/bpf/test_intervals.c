/* SPDX-License-Identifier: MIT */
/*
 * Intervals: what the kernel measures lies between what the program measured just inside and just
 * outside of it, whatever the machine was doing. And what can't be timed is counted, not invented.
 */
#include "player.h"
#include "registry_layout.h"
#include "require.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <inttypes.h>
#include <stdlib.h>

#define MS 1000000u

struct fixture {
	struct bench bench;
	struct player player;
};

static void start(struct fixture *f, const char *before)
{
	const struct ezprof_bpf_options options = {.buffers_max = 128};

	player_start(&f->player);
	player_do(&f->player, NULL, "open %d 128", EZ_KIND_CLIENT);
	player_do(&f->player, NULL, "open %d 128", EZ_KIND_PUBLISHER);
	for (int i = 0; before && i < 100; i++)
		player_do(&f->player, NULL, before, i);
	bench_open(&f->bench, &options);
	bench_attach(&f->bench, &f->player, false);
}

static void stop(struct fixture *f)
{
	bench_close(&f->bench);
	player_stop(&f->player);
}

/* 20 messages that take 5 ms each. */
static void test_pairing(void **state)
{
	struct fixture f;
	struct ezprof_window w;
	uint64_t inner = 0, outer = 0;
	int64_t n[16];

	(void)state;
	start(&f, NULL);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(player_do(&f.player, n, "nap 0 %u", 5 * MS), 2);
		inner += (uint64_t)n[0];
		outer += (uint64_t)n[1];
	}
	w = bench_window(&f.bench, &f.player, 0, 16);
	assert_int_equal(w.interval[EZ_SUB_LEASE].samples, 20);
	assert_int_equal(w.interval[EZ_SUB_PROCESSING].samples, 20);
	assert_int_equal(w.interval[EZ_SUB_QUEUE].samples, 20);
	assert_int_equal(w.interval[EZ_SUB_GAP].samples, 19);
	assert_in_range(w.interval[EZ_SUB_PROCESSING].sum_ns, inner, outer);
	assert_in_range(w.interval[EZ_SUB_LEASE].sum_ns, w.interval[EZ_SUB_PROCESSING].sum_ns,
			outer);
	assert_in_range(w.interval[EZ_SUB_LEASE].max_ns, 5 * MS, outer);
	assert_true(w.interval[EZ_SUB_QUEUE].sum_ns < outer - inner);
	assert_int_equal(bench_losses(&f.bench), 0);
	stop(&f);
}

/* A zero-copy exit: the lease ends before user code does. */
static void test_free_before_end(void **state)
{
	struct fixture f;
	struct ezprof_window w;

	(void)state;
	start(&f, NULL);
	player_do(&f.player, NULL, "lease 0 7");
	player_do(&f.player, NULL, "begin 0 7");
	player_do(&f.player, NULL, "free 0 7 1");
	player_do(&f.player, NULL, "end 0 7");
	w = bench_window(&f.bench, &f.player, 0, 16);
	assert_int_equal(w.interval[EZ_SUB_LEASE].samples, 1);
	assert_int_equal(w.interval[EZ_SUB_PROCESSING].samples, 1);
	assert_true(w.interval[EZ_SUB_PROCESSING].sum_ns > 0);
	assert_int_equal(bench_losses(&f.bench), 0);
	stop(&f);
}

/* B28: 100 leases open at the attach; a free without a lease; a double free; an end before its
 * start. */
static void test_unmatched(void **state)
{
	struct fixture f;
	struct ezprof_window w;
	struct ezprof_counters c;
	struct ez_lease lease;
	uint32_t key;

	(void)state;
	start(&f, "lease 0 %d");
	for (int i = 0; i < 100; i++)
		player_do(&f.player, NULL, "free 0 %d 3", i);
	player_do(&f.player, NULL, "free 0 500 3");
	player_do(&f.player, NULL, "lease 0 600");
	player_do(&f.player, NULL, "free 0 600 3");
	player_do(&f.player, NULL, "free 0 600 3");
	w = bench_window(&f.bench, &f.player, 0, 16);
	assert_int_equal(w.measured_messages, 103);
	assert_int_equal(w.measured_bytes, 309);
	assert_int_equal(w.unmatched, 102);
	assert_int_equal(w.interval[EZ_SUB_LEASE].samples, 1);
	assert_true(w.interval[EZ_SUB_LEASE].max_ns < 60000ull * MS);
	assert_int_equal(w.interval[EZ_SUB_LEASE].sum_ns, w.interval[EZ_SUB_LEASE].max_ns);

	/* A lease of tomorrow: put there by hand, since no program can fire it. */
	player_do(&f.player, NULL, "lease 0 1");
	for (key = 0; key < 16 * 128; key++) {
		assert_int_equal(
			bpf_map_lookup_elem(ezprof_bpf_map_fds(f.bench.bpf)->leases, &key, &lease),
			0);
		if (lease.message == 2)
			break;
	}
	assert_int_equal(key % 128, 1);
	lease.lease_ns += 86400ull * 1000 * MS;
	assert_int_equal(
		bpf_map_update_elem(ezprof_bpf_map_fds(f.bench.bpf)->leases, &key, &lease, BPF_ANY),
		0);
	player_do(&f.player, NULL, "free 0 1 3");
	w = bench_window(&f.bench, &f.player, 0, 16);
	assert_int_equal(w.interval[EZ_SUB_LEASE].samples, 1);
	assert_int_equal(w.unmatched, 103);
	c = bench_counters(&f.bench);
	assert_int_equal(c.losses[EZ_LOSS_UNMATCHED_FREE], 102);
	assert_int_equal(c.losses[EZ_LOSS_NEGATIVE], 1);
	assert_int_equal(bench_losses(&f.bench), 103);
	stop(&f);
}

/* Two messages that take turns on one buffer are not mistaken for each other. */
static void test_same_buffer(void **state)
{
	struct fixture f;
	struct ezprof_window w;

	(void)state;
	start(&f, NULL);
	player_do(&f.player, NULL, "lease 0 7");
	player_do(&f.player, NULL, "free 0 135 1");
	player_do(&f.player, NULL, "end 0 135");
	w = bench_window(&f.bench, &f.player, 0, 16);
	assert_int_equal(w.interval[EZ_SUB_LEASE].samples, 0);
	assert_int_equal(bench_counters(&f.bench).losses[EZ_LOSS_UNMATCHED_FREE], 1);
	assert_int_equal(bench_counters(&f.bench).losses[EZ_LOSS_UNMATCHED_CALLBACK], 1);
	player_do(&f.player, NULL, "free 0 7 1");
	w = bench_window(&f.bench, &f.player, 0, 16);
	assert_int_equal(w.interval[EZ_SUB_LEASE].samples, 1);
	assert_int_equal(w.measured_messages, 2);
	stop(&f);
}

/* Callbacks whose lease was not seen: no queue time, but processing time all the same. */
static void test_callback_without_lease(void **state)
{
	struct fixture f;
	struct ezprof_window w;

	(void)state;
	start(&f, "lease 0 %d");
	player_do(&f.player, NULL, "begin 0 5");
	player_do(&f.player, NULL, "end 0 5");
	player_do(&f.player, NULL, "end 0 6");
	player_do(&f.player, NULL, "free 0 5 1");
	w = bench_window(&f.bench, &f.player, 0, 16);
	assert_int_equal(w.interval[EZ_SUB_QUEUE].samples, 0);
	assert_int_equal(w.interval[EZ_SUB_PROCESSING].samples, 1);
	assert_int_equal(w.interval[EZ_SUB_LEASE].samples, 0);
	assert_int_equal(bench_counters(&f.bench).losses[EZ_LOSS_UNMATCHED_CALLBACK], 2);
	assert_int_equal(bench_counters(&f.bench).losses[EZ_LOSS_UNMATCHED_FREE], 1);
	stop(&f);
}

/* More buffers than the lease table was made for: counted, not timed, and said. */
static void test_too_many_buffers(void **state)
{
	struct fixture f;
	struct ezprof_window w;

	(void)state;
	start(&f, NULL);
	player_do(&f.player, NULL, "open %d 129", EZ_KIND_CLIENT);
	player_do(&f.player, NULL, "lease 2 1");
	player_do(&f.player, NULL, "free 2 1 1");
	w = bench_window(&f.bench, &f.player, 2, 16);
	assert_int_equal(w.measured_messages, 1);
	assert_int_equal(w.interval[EZ_SUB_LEASE].samples, 0);
	assert_int_equal(bench_counters(&f.bench).losses[EZ_LOSS_BUFFERS], 2);
	stop(&f);
}

/* A wait is seen while it lasts, and counts once when it is over. */
static void test_blocked(void **state)
{
	struct fixture f;
	struct ezprof_window during, after;
	uint64_t begin_ns, end_ns;

	(void)state;
	start(&f, "blocked 1");
	player_do(&f.player, NULL, "unblocked 1");
	assert_int_equal(bench_counters(&f.bench).losses[EZ_LOSS_UNMATCHED_BLOCKED], 1);
	begin_ns = now_ns();
	player_do(&f.player, NULL, "blocked 1");
	sleep_ms(600);
	during = bench_window(&f.bench, &f.player, 1, 2);
	assert_in_range(during.blocked_ns, 600 * MS, now_ns() - begin_ns);
	assert_int_equal(during.interval[EZ_PUB_BLOCKED].samples, 0);
	player_do(&f.player, NULL, "unblocked 1");
	end_ns = now_ns();
	after = bench_window(&f.bench, &f.player, 1, 2);
	assert_int_equal(after.interval[EZ_PUB_BLOCKED].samples, 1);
	assert_in_range(after.blocked_ns, during.blocked_ns, end_ns - begin_ns);
	assert_in_range(after.interval[EZ_PUB_BLOCKED].max_ns, 600 * MS, end_ns - begin_ns);
	/* A window that begins within the wait has only the rest of it: what is not after its end.
	 */
	sleep_ms(50);
	after = bench_window(&f.bench, &f.player, 1, 0.16);
	assert_int_equal(after.interval[EZ_PUB_BLOCKED].samples, 1);
	assert_true(after.blocked_ns > 0);
	assert_true(after.blocked_ns <= after.covered_ns - (after.end_ns - end_ns));
	stop(&f);
}

/* The busy machine that runs other things meanwhile doesn't keep a pace: one of three is enough. */
static bool paced_right(void)
{
	struct fixture f;
	struct ezprof_window w;
	uint64_t gap_ns;
	double rate;

	start(&f, NULL);
	player_do(&f.player, NULL, "pace 1000");
	player_do(&f.player, NULL, "publish 1 2500 64");
	w = bench_window(&f.bench, &f.player, 1, 2);
	assert_false(w.warming_up);
	stop(&f);
	rate = (double)w.messages * 1e9 / (double)w.covered_ns;
	gap_ns = w.interval[EZ_PUB_GAP].sum_ns / w.interval[EZ_PUB_GAP].samples;
	print_message("%.1f messages per second, %" PRIu64 " ns apart\n", rate, gap_ns);
	return rate >= 990 && rate <= 1010 && gap_ns >= 990000 && gap_ns <= 1010000;
}

/* At a paced 1,000 messages a second the rate is right within 1 %. */
static void test_paced_rate(void **state)
{
	(void)state;
	/* A machine in software emulation doesn't keep the pace. */
	if (getenv("EZPROF_TEST_EMULATED"))
		skip();
	assert_true(paced_right() || paced_right() || paced_right());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairing),
		cmocka_unit_test(test_free_before_end),
		cmocka_unit_test(test_unmatched),
		cmocka_unit_test(test_same_buffer),
		cmocka_unit_test(test_callback_without_lease),
		cmocka_unit_test(test_too_many_buffers),
		cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_paced_rate),
	};

	ez_require_bpf();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
