/* SPDX-License-Identifier: MIT */
/*
 * One hit of the boundary path in units of the floor: the same sites, the same kind of link, a
 * program that does nothing. Each switch attaches anew; the variants alternate.
 */
#include "bench_row.h"
#include "player.h"
#include "registry_layout.h"
#include "require.h"
#include "window_shared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 15u
#define HITS 20000u
/* BPF_TRACE_UPROBE_MULTI, which the headers of Debian 12 don't know. */
#define UPROBE_MULTI 48

enum variant { DETACHED, EMPTY, BOUNDARY, VARIANTS };

static int load_empty(bool uprobe_multi)
{
	/* r0 = 0; exit */
	const struct bpf_insn code[] = {{.code = 0xb7}, {.code = 0x95}};
	LIBBPF_OPTS(bpf_prog_load_opts, options,
		    .expected_attach_type = uprobe_multi ? (enum bpf_attach_type)UPROBE_MULTI : 0);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "empty", "GPL", code, 2, &options);
}

/* The sites that a publish, or a pair, hits. */
static void attach(const struct bench *bench, const struct player *player, int program_fd,
		   bool pairs, int fds[EZPROF_LINKS_MAX], uint32_t *ret_count)
{
	struct ezprof_link_request request = {.pid = player->pid,
					      .program_fd = program_fd,
					      .uprobe_multi = ezprof_bpf_uprobe_multi(bench->bpf)};
	struct ezprof_elf elf;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", player->pid);
	request.object_fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(ezprof_elf_read(request.object_fd, &elf), 0);
	for (uint32_t i = 0; i < elf.site_count; i++) {
		uint32_t probe = elf.sites[i].probe;

		if (pairs ? probe == EZ_PROBE_lease || probe == EZ_PROBE_free
			  : probe == EZ_PROBE_publish)
			request.sites[request.site_count++] = (struct ezprof_link_site){
				.offset = elf.sites[i].offset,
				.semaphore_offset = elf.sites[i].semaphore_offset,
				.cookie = EZ_COOKIE(1, probe)};
	}
	assert_int_equal(ezprof_links_create(&request, fds, ret_count), 0);
	close(request.object_fd);
}

static double measure(const struct bench *bench, struct player *player, enum variant variant,
		      int empty_fd, bool pairs)
{
	int fds[EZPROF_LINKS_MAX];
	uint32_t count = 0;
	double best = 1e9;
	int64_t answer[16];

	if (variant != DETACHED)
		attach(bench, player,
		       variant == EMPTY ? empty_fd : ezprof_bpf_program_fd(bench->bpf), pairs, fds,
		       &count);
	for (unsigned int chunk = 0; chunk < 5; chunk++) {
		double ns;

		player_do(player, answer, "clocked %d %u %d", pairs, HITS / 5, pairs);
		ns = (double)answer[0] / (HITS / 5) / (pairs ? 2 : 1);
		best = ns < best ? ns : best;
	}
	while (count > 0)
		close(fds[--count]);
	return best;
}

/* The median of the rounds' ratios: what is compared lies side by side in time. */
static double ratio(struct bench *bench, struct player *player, int empty_fd, bool pairs)
{
	double ns[VARIANTS][ROUNDS], ratios[ROUNDS];

	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int v = 0; v < VARIANTS; v++)
			ns[v][round] = measure(bench, player, (enum variant)v, empty_fd, pairs);
		ratios[round] = (ns[BOUNDARY][round] - ns[DETACHED][round]) /
				(ns[EMPTY][round] - ns[DETACHED][round]);
	}
	printf("%s: detached %.0f ns, floor %.0f ns, boundary %.0f ns per hit\n",
	       pairs ? "pairs" : "publish", bench_median(ns[DETACHED], ROUNDS),
	       bench_median(ns[EMPTY], ROUNDS), bench_median(ns[BOUNDARY], ROUNDS));
	return bench_median(ratios, ROUNDS);
}

int main(void)
{
	const struct ezprof_bpf_options options = {.paths = EZPROF_PATH_BOUNDARY};
	struct player player;
	struct bench bench;
	int empty_fd;

	ez_require_bpf();
	player_start(&player);
	player_do(&player, NULL, "open %d 32", EZ_KIND_PUBLISHER);
	player_do(&player, NULL, "open %d 32", EZ_KIND_CLIENT);
	bench_open(&bench, &options);
	assert_int_equal(ezprof_maps_add_target(bench.maps, player.pid, 1), 0);
	empty_fd = load_empty(ezprof_bpf_uprobe_multi(bench.bpf));
	assert_true(empty_fd >= 0);
	bench_row_at_most("kernel.boundary_vs_floor", ratio(&bench, &player, empty_fd, false),
			  "ratio", 1.25);
	bench_row_at_most("kernel.boundary_pair_vs_floor", ratio(&bench, &player, empty_fd, true),
			  "ratio", 1.40);
	close(empty_fd);
	bench_close(&bench);
	player_stop(&player);
	return 0;
}
