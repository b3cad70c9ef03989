/* SPDX-License-Identifier: MIT */
/*
 * What the kernel counts is what the program did, to the message and byte, on any CPU.
 * With the argument "perf_event" the same by the fallback.
 */
#include "player.h"
#include "registry_layout.h"
#include "require.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <sched.h>
#include <string.h>
#include <unistd.h>

#define COUNT 10007u
#define BYTES 97u
#define PUBLISHER 0u
#define CLIENT 1u

static struct ezprof_bpf_options options;

struct fixture {
	struct bench bench;
	struct player player;
};

/* A publisher and a client, attached; what both did so far is 0. */
static void start(struct fixture *f)
{
	player_start(&f->player);
	player_do(&f->player, NULL, "open %d 32", EZ_KIND_PUBLISHER);
	player_do(&f->player, NULL, "open %d 32", EZ_KIND_CLIENT);
	bench_open(&f->bench, &options);
	bench_attach(&f->bench, &f->player, false);
}

static void stop(struct fixture *f)
{
	bench_close(&f->bench);
	player_stop(&f->player);
}

static void pin_reader(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned int i = 0; i < CPU_SETSIZE; i++) {
		if (cpu < 0 || i == (unsigned int)cpu)
			CPU_SET(i, &set);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

static void check_exact(struct fixture *f, uint32_t index, uint64_t count)
{
	struct ezprof_window w = bench_window(&f->bench, &f->player, index, 16);

	assert_int_equal(w.measured_messages, count);
	assert_int_equal(w.measured_bytes, count * BYTES);
	/* A slow machine takes longer than the widest window. */
	if (now_ns() - f->bench.attached_ns < 15000000000u) {
		assert_int_equal(w.messages, count);
		assert_int_equal(w.bytes, count * BYTES);
	}
	assert_int_equal(w.first_total, 1);
	assert_int_equal(w.last_total, count);
	assert_int_equal(w.unmatched, 0);
	assert_int_equal(w.gaps, 0);
	assert_int_equal(bench_losses(&f->bench), 0);
}

static void test_pinned(void **state)
{
	struct fixture f;
	struct ezprof_counters c;

	(void)state;
	start(&f);
	player_do(&f.player, NULL, "pin 0");
	player_do(&f.player, NULL, "publish 0 %u %u", COUNT, BYTES);
	player_do(&f.player, NULL, "roundtrip 1 %u %u", COUNT, BYTES);
	check_exact(&f, PUBLISHER, COUNT);
	check_exact(&f, CLIENT, COUNT);
	c = bench_counters(&f.bench);
	for (unsigned int i = EZ_PROBE_publish; i <= EZ_PROBE_callback_end; i++)
		assert_int_equal(c.hits[i], COUNT);
	stop(&f);
}

static void test_migrating(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	player_do(&f.player, NULL, "migrate 1");
	player_do(&f.player, NULL, "publish 0 %u %u", COUNT, BYTES);
	player_do(&f.player, NULL, "roundtrip 1 %u %u", COUNT, BYTES);
	check_exact(&f, PUBLISHER, COUNT);
	check_exact(&f, CLIENT, COUNT);
	stop(&f);
}

/* One endpoint from 8 threads: its lock keeps the hits apart, on two CPUs in turn. */
static void test_threads(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	player_do(&f.player, NULL, "threads 8 %u %u 0", COUNT, BYTES);
	check_exact(&f, PUBLISHER, 8 * COUNT);
	stop(&f);
}

/* B25: whichever CPU the reader is on, all CPUs are read. */
static void test_reader_elsewhere(void **state)
{
	struct fixture f;
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);

	(void)state;
	if (cpus < 2)
		skip();
	start(&f);
	for (int cpu = 0; cpu < 2; cpu++) {
		pin_reader(1 - cpu);
		player_do(&f.player, NULL, "pin %d", cpu);
		player_do(&f.player, NULL, "publish 0 10000 %u", BYTES);
		check_exact(&f, PUBLISHER, 10000 * (uint64_t)(cpu + 1));
	}
	player_do(&f.player, NULL, "migrate 1");
	player_do(&f.player, NULL, "publish 0 10000 %u", BYTES);
	check_exact(&f, PUBLISHER, 30000);
	pin_reader(-1);
	stop(&f);
}

/* What was counted before the attach stays out; the running number says where counting began. */
static void test_late(void **state)
{
	struct fixture f;
	struct ezprof_window w;

	(void)state;
	player_start(&f.player);
	player_do(&f.player, NULL, "open %d 32", EZ_KIND_PUBLISHER);
	player_do(&f.player, NULL, "publish 0 23 %u", BYTES);
	bench_open(&f.bench, &options);
	bench_attach(&f.bench, &f.player, false);
	player_do(&f.player, NULL, "publish 0 %u %u", COUNT, BYTES);
	w = bench_window(&f.bench, &f.player, PUBLISHER, 16);
	assert_int_equal(w.measured_messages, COUNT);
	assert_int_equal(w.first_total, 24);
	assert_int_equal(w.last_total, 23 + COUNT);
	stop(&f);
}

/* An endpoint that opens while attached counts from its first message, before any was sent. */
static void test_opened_while_attached(void **state)
{
	struct fixture f;
	struct ezprof_window w;

	(void)state;
	start(&f);
	player_do(&f.player, NULL, "open %d 32", EZ_KIND_PUBLISHER);
	w = bench_window(&f.bench, &f.player, 2, 16);
	assert_int_equal(w.first_total, 1);
	assert_int_equal(w.measured_messages, 0);
	player_do(&f.player, NULL, "publish 2 7 %u", BYTES);
	check_exact(&f, 2, 7);
	player_do(&f.player, NULL, "close 2");
	assert_int_equal(bench_counters(&f.bench).hits[EZ_PROBE_endpoint_close], 1);
	stop(&f);
}

/* One group of 16 for two processes: the second one's hits are lost, and exactly those. */
static void test_map_too_small(void **state)
{
	struct ezprof_bpf_options small = options;
	struct fixture f;
	struct player second;
	struct ezprof_counters c;

	(void)state;
	small.endpoints_max = 16;
	player_start(&f.player);
	player_start(&second);
	player_do(&f.player, NULL, "open %d 32", EZ_KIND_PUBLISHER);
	player_do(&second, NULL, "open %d 32", EZ_KIND_PUBLISHER);
	bench_open(&f.bench, &small);
	assert_int_equal(ezprof_bpf_endpoints_max(f.bench.bpf), 16);
	bench_attach(&f.bench, &f.player, false);
	bench_attach(&f.bench, &second, false);
	player_do(&f.player, NULL, "publish 0 %u %u", COUNT, BYTES);
	player_do(&second, NULL, "publish 0 %u %u", COUNT, BYTES);
	c = bench_counters(&f.bench);
	assert_int_equal(c.losses[EZ_LOSS_NO_SLOT], COUNT);
	assert_int_equal(bench_losses(&f.bench), COUNT);
	assert_int_equal(bench_window(&f.bench, &f.player, 0, 16).measured_messages, COUNT);
	/* The dead one's slots are for the next one, who starts from 0. */
	player_stop(&f.player);
	assert_int_equal(ezprof_maps_release(f.bench.maps, f.player.pid), 0);
	player_do(&second, NULL, "publish 0 11 %u", BYTES);
	assert_int_equal(bench_window(&f.bench, &second, 0, 16).measured_messages, 11);
	assert_int_equal(bench_window(&f.bench, &second, 0, 16).messages, 11);
	assert_int_equal(bench_window(&f.bench, &second, 0, 16).first_total, COUNT + 1);
	bench_close(&f.bench);
	player_stop(&second);
}

/* Twice what was found, at least 64; half as many groups again; or what was asked for. */
static void test_sizes(void **state)
{
	static const struct {
		struct ezprof_bpf_options wanted;
		uint32_t endpoints;
	} cases[] = {
		{{0}, 64},
		{{.endpoints_found = 100, .groups_found = 7}, 208},
		{{.endpoints_found = 6, .groups_found = 6}, 144},
		{{.endpoints_found = 100, .groups_found = 7, .endpoints_max = 17}, 32},
		{{.buffers_max = UINT32_MAX}, 64},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;

		bench_open(&bench, &cases[i].wanted);
		assert_int_equal(ezprof_bpf_endpoints_max(bench.bpf), cases[i].endpoints);
		/* The lease table's own limit, and a ring per endpoint and CPU. */
		assert_true(ezprof_bpf_map_bytes(bench.bpf) <
			    (100u << 20) + 20000ull * cases[i].endpoints *
						   (unsigned int)ezprof_bpf_cpu_count(bench.bpf));
		bench_close(&bench);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pinned),	      cmocka_unit_test(test_migrating),
		cmocka_unit_test(test_threads),	      cmocka_unit_test(test_reader_elsewhere),
		cmocka_unit_test(test_late),	      cmocka_unit_test(test_opened_while_attached),
		cmocka_unit_test(test_map_too_small), cmocka_unit_test(test_sizes),
	};

	ez_require_bpf();
	options.perf_event = argc > 1 && strcmp(argv[1], "perf_event") == 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
