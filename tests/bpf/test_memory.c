/* SPDX-License-Identifier: MIT */
/*
 * The maps for 500 endpoints are as large as stated, and each endpoint counts exactly in them.
 * Where more CPUs are possible than there are (a guest booted for that), the kernel's own figure of
 * per-CPU memory is compared too: it pays for every possible one.
 */
#include "map_reader.h"
#include "player.h"
#include "registry_layout.h"
#include "require.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define STREAMS 500u
#define MIB(bytes) ((double)(bytes) / (1 << 20))

/* What the kernel says that a map takes, by its descriptor. */
static uint64_t map_memory(int fd)
{
	char path[64], line[128];
	uint64_t bytes = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "memlock: %" SCNu64, &bytes) == 1)
			break;
	}
	fclose(file);
	return bytes;
}

/* Per-CPU memory of the whole machine. */
static uint64_t percpu_memory(void)
{
	char line[128];
	uint64_t kib = 0;
	FILE *file = fopen("/proc/meminfo", "re");

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Percpu: %" SCNu64 " kB", &kib) == 1)
			break;
	}
	fclose(file);
	return kib << 10;
}

/* The same once nothing is freed any more: the kernel takes its time with an earlier test's maps.
 */
static uint64_t percpu_memory_at_rest(void)
{
	uint64_t now = percpu_memory();

	for (unsigned int tries = 0, same = 0; tries < 100 && same < 5; tries++) {
		uint64_t before = now;

		sleep_ms(100);
		now = percpu_memory();
		same = now == before ? same + 1 : 0;
	}
	return now;
}

/* The large maps of that path; the small hashes beside them grow with the targets. */
static uint64_t all_memory(const struct bench *bench, enum ezprof_path path)
{
	const struct ezprof_bpf_fds *fds = ezprof_bpf_map_fds(bench->bpf);

	if (path == EZPROF_PATH_BOUNDARY)
		return map_memory(fds->rings) + map_memory(fds->slots) + map_memory(fds->leases);
	return map_memory(fds->bucket_sums) + map_memory(fds->bucket_shapes) +
	       map_memory(fds->bucket_totals) + map_memory(fds->slots);
}

/* As loaded; returns what is stated. */
static uint64_t check_memory(const struct bench *bench, enum ezprof_path path, uint64_t percpu)
{
	uint64_t stated = ezprof_bpf_map_bytes(bench->bpf), taken = all_memory(bench, path);
	uint64_t shared = taken - map_memory(path == EZPROF_PATH_BOUNDARY
						     ? ezprof_bpf_map_fds(bench->bpf)->rings
						     : ezprof_bpf_map_fds(bench->bpf)->bucket_sums);

	percpu = percpu_memory() - percpu;
	printf("%s: %u endpoints, %d possible CPUs: %.1f MiB stated, %.1f MiB by the kernel\n",
	       path == EZPROF_PATH_BOUNDARY ? "boundary" : "window", STREAMS,
	       ezprof_bpf_cpu_count(bench->bpf), MIB(stated), MIB(taken));
	assert_in_range(taken, stated - stated / 50, stated + stated / 50 + (1 << 20));
	if (ezprof_bpf_cpu_count(bench->bpf) > sysconf(_SC_NPROCESSORS_ONLN)) {
		printf("per-CPU memory of the machine grew by %.1f MiB\n", MIB(percpu));
		assert_in_range(percpu, stated - shared - stated / 20, stated + stated / 10);
	}
	return stated;
}

/* 500 endpoints on 64 CPUs in 512 MiB: the default path keeps to that. */
static void test_window_memory(void **state)
{
	const struct ezprof_bpf_options options = {.endpoints_max = STREAMS,
						   .paths = EZPROF_PATH_WINDOW};
	uint64_t percpu = percpu_memory_at_rest(), stated;
	struct bench bench;

	(void)state;
	bench_open(&bench, &options);
	stated = check_memory(&bench, EZPROF_PATH_WINDOW, percpu);
	assert_true(stated <=
		    (uint64_t)ezprof_bpf_cpu_count(bench.bpf) * (512u << 20) / 64 + (160u << 20));
	if (ezprof_bpf_cpu_count(bench.bpf) == 64)
		assert_true(stated <= 512u << 20);
	bench_close(&bench);
}

static void count_on_each(struct bench *bench, struct player *player)
{
	uint64_t begin_ns;

	for (unsigned int i = 0; i < STREAMS; i++)
		player_do(player, NULL, "publish %u 3 %u", i, 10 + i);
	begin_ns = now_ns();
	for (unsigned int i = 0; i < STREAMS; i++) {
		struct ezprof_window w = bench_window(bench, player, i, 16);

		assert_int_equal(w.measured_messages, 3);
		assert_int_equal(w.measured_bytes, 3 * (10 + i));
	}
	printf("%u endpoints read in %" PRIu64 " ms\n", STREAMS, (now_ns() - begin_ns) / 1000000);
	assert_int_equal(bench_losses(bench), 0);
}

static void test_memory(void **state)
{
	const struct ezprof_bpf_options options = {.endpoints_max = STREAMS};
	uint64_t percpu = percpu_memory_at_rest();
	struct player player;
	struct bench bench;

	(void)state;
	player_start(&player);
	for (unsigned int i = 0; i < STREAMS; i++)
		player_do(&player, NULL, "open %d 32", EZ_KIND_PUBLISHER);
	bench_open(&bench, &options);
	check_memory(&bench, EZPROF_PATH_BOUNDARY, percpu);
	bench_attach(&bench, &player, false);
	count_on_each(&bench, &player);
	bench_close(&bench);
	player_stop(&player);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_window_memory),
	};

	ez_require_bpf();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
