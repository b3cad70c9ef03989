/* SPDX-License-Identifier: MIT */
/*
 * Many threads of several processes on one CPU: every one of them is counted exactly. A kernel that
 * preempts everywhere (preempt=full) interrupts BPF programs in any of their steps, so that maps of
 * that CPU have several writers at once; by default a kernel hardly ever does.
 */
#include "player.h"
#include "registry_layout.h"
#include "require.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#define PLAYERS 4u
#define THREADS 4u
#define COUNT 2503u
#define BYTES 97u

/* Without waiting for the answer. */
static void begin(struct player *player, const char *command)
{
	fprintf(player->to, "%s\n", command);
	fflush(player->to);
}

static void finish(struct player *player)
{
	char line[64];

	assert_non_null(fgets(line, sizeof(line), player->from));
	assert_int_equal(strncmp(line, "ok", 2), 0);
}

static void test_overlap(void **state)
{
	const struct ezprof_bpf_options options = {0};
	struct player players[PLAYERS];
	struct bench bench;
	char command[64];

	(void)state;
	bench_open(&bench, &options);
	for (unsigned int i = 0; i < PLAYERS; i++) {
		player_start(&players[i]);
		player_do(&players[i], NULL, "open %d 32", EZ_KIND_PUBLISHER);
		player_do(&players[i], NULL, "pin 0");
		bench_attach(&bench, &players[i], false);
	}
	snprintf(command, sizeof(command), "threads %u %u %u 0", THREADS, COUNT, BYTES);
	for (unsigned int i = 0; i < PLAYERS; i++)
		begin(&players[i], command);
	for (unsigned int i = 0; i < PLAYERS; i++)
		finish(&players[i]);
	for (unsigned int i = 0; i < PLAYERS; i++) {
		struct ezprof_window w = bench_window(&bench, &players[i], 0, 16);

		assert_int_equal(w.measured_messages, THREADS * COUNT);
		assert_int_equal(w.measured_bytes, THREADS * COUNT * BYTES);
		assert_int_equal(w.last_total, THREADS * COUNT);
	}
	assert_int_equal(bench_counters(&bench).hits[EZ_PROBE_publish], PLAYERS * THREADS * COUNT);
	assert_int_equal(bench_losses(&bench), 0);
	bench_close(&bench);
	for (unsigned int i = 0; i < PLAYERS; i++)
		player_stop(&players[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overlap),
	};

	ez_require_bpf();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
