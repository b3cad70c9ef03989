/* SPDX-License-Identifier: MIT */
/* What the kernel counts is what the program did, to the message and byte, on any CPU. */
#include "player.h"
#include "require.h"
#include "registry_layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define COUNT 10007u
#define BYTES 97u

static const struct ezprof_bpf_options options;

/* A publisher and a client, attached; what both did so far is 0. */
static void start(struct bench *bench, struct player *player)
{
	player_start(player);
	player_do(player, NULL, "open %d 32", EZ_KIND_PUBLISHER);
	player_do(player, NULL, "open %d 32", EZ_KIND_CLIENT);
	bench_open(bench, &options);
	bench_attach(bench, player, false);
}

static void stop(struct bench *bench, struct player *player)
{
	bench_close(bench);
	player_stop(player);
}

static void check_exact(struct bench *bench, struct player *player, uint32_t index, uint64_t count)
{
	struct ezprof_window w = bench_window(bench, player, index, 16);

	assert_int_equal(w.measured_messages, count);
	assert_int_equal(w.measured_bytes, count * BYTES);
	assert_int_equal(w.messages, count);
	assert_int_equal(w.first_total, 1);
	assert_int_equal(w.last_total, count);
	assert_int_equal(w.unmatched, 0);
	assert_int_equal(bench_losses(bench), 0);
}

static void test_pinned(void **state)
{
	struct bench bench;
	struct player player;

	(void)state;
	start(&bench, &player);
	player_do(&player, NULL, "pin 0");
	player_do(&player, NULL, "publish 0 %u %u", COUNT, BYTES);
	player_do(&player, NULL, "roundtrip 1 %u %u", COUNT, BYTES);
	check_exact(&bench, &player, 0, COUNT);
	check_exact(&bench, &player, 1, COUNT);
	stop(&bench, &player);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pinned),
	};

	ez_require_bpf();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
