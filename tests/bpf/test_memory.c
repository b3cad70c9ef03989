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

/* The large maps; the small hashes beside them grow with the targets. */
static uint64_t all_memory(const struct bench *bench)
{
	const struct ezprof_bpf_fds *fds = ezprof_bpf_map_fds(bench->bpf);

	return map_memory(fds->rings) + map_memory(fds->slots) + map_memory(fds->leases);
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
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t percpu = percpu_memory(), stated, taken;
	struct player player;
	struct bench bench;

	(void)state;
	player_start(&player);
	for (unsigned int i = 0; i < STREAMS; i++)
		player_do(&player, NULL, "open %d 32", EZ_KIND_PUBLISHER);
	bench_open(&bench, &options);
	stated = ezprof_bpf_map_bytes(bench.bpf);
	taken = all_memory(&bench);
	percpu = percpu_memory() - percpu;
	printf("%u endpoints, %d possible CPUs: %.1f MiB stated, %.1f MiB by the kernel\n", STREAMS,
	       ezprof_bpf_cpu_count(bench.bpf), MIB(stated), MIB(taken));
	assert_in_range(taken, stated, stated + stated / 50 + (1 << 20));
	if (ezprof_bpf_cpu_count(bench.bpf) > online) {
		printf("per-CPU memory of the machine grew by %.1f MiB\n", MIB(percpu));
		assert_in_range(percpu, stated - stated / 20, stated + stated / 10);
	}
	bench_attach(&bench, &player, false);
	count_on_each(&bench, &player);
	bench_close(&bench);
	player_stop(&player);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
	};

	ez_require_bpf();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
