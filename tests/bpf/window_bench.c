/* SPDX-License-Identifier: MIT */
#include "window_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NUMBER 1u

void window_bench_open(struct window_bench *bench, const struct ezprof_bpf_options *options)
{
	struct ezprof_bpf_options with_window = *options;
	struct ezprof_refusal refusal = {0};
	int err;

	memset(bench, 0, sizeof(*bench));
	bench->mem_fd = -1;
	with_window.paths |= EZPROF_PATH_WINDOW;
	err = ezprof_bpf_load(&with_window, &bench->bpf, &refusal);
	if (err)
		fail_msg("load: %s: %s: %s", strerror(-err), refusal.what, refusal.why);
	assert_int_equal(ezprof_maps_open(bench->bpf, &bench->maps), 0);
	assert_int_equal(ezprof_buckets_open(bench->bpf, &bench->buckets), 0);
}

static int open_of(pid_t pid, const char *what)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

void window_bench_attach(struct window_bench *bench, const struct player *player)
{
	struct ezprof_link_request request = {
		.pid = player->pid,
		.program_fd = ezprof_bpf_path_fd(bench->bpf, EZPROF_PATH_WINDOW),
		.uprobe_multi = ezprof_bpf_uprobe_multi(bench->bpf),
		.object_fd = open_of(player->pid, "exe"),
	};
	struct ezprof_elf elf;

	bench->player = player;
	assert_int_equal(ezprof_elf_read(request.object_fd, &elf), 0);
	for (uint32_t i = 0; i < elf.site_count; i++) {
		if (elf.sites[i].probe == EZ_PROBE_window)
			request.sites[request.site_count++] = (struct ezprof_link_site){
				.offset = elf.sites[i].offset,
				.semaphore_offset = elf.sites[i].semaphore_offset,
				.cookie = EZ_COOKIE(FILE_NUMBER, EZ_PROBE_window),
			};
	}
	assert_int_equal(request.site_count, 1);
	assert_int_equal(ezprof_maps_add_target(bench->maps, player->pid, 1), 0);
	assert_int_equal(ezprof_links_create(&request, bench->link_fds, &bench->link_count), 0);
	assert_int_equal(
		ezprof_buckets_accept(bench->buckets, player->pid, FILE_NUMBER, 0, &bench->from_id),
		0);
	close(request.object_fd);
	if (bench->mem_fd < 0)
		bench->mem_fd = open_of(player->pid, "mem");
}

void window_bench_detach(struct window_bench *bench)
{
	for (uint32_t i = 0; i < bench->link_count; i++)
		close(bench->link_fds[i]);
	bench->link_count = 0;
}

void window_bench_close(struct window_bench *bench)
{
	window_bench_detach(bench);
	ezprof_buckets_close(bench->buckets);
	ezprof_maps_close(bench->maps);
	ezprof_bpf_free(bench->bpf);
	if (bench->mem_fd >= 0)
		close(bench->mem_fd);
}

void window_bench_wait(const struct window_bench *bench)
{
	while (EZ_BUCKET_ID(now_ns()) < bench->from_id)
		sleep_ms(5);
}

static void read_pages(struct window_bench *bench, unsigned int count, struct ezprof_page *pages)
{
	struct ezprof_memory memory = {ezprof_memory_read_fd, &bench->mem_fd};

	for (unsigned int i = 0; i < count; i++) {
		if (ezprof_page_read(&memory, bench->pages[i], &pages[i]))
			pages[i] = (struct ezprof_page){0};
	}
}

static void fold_one(struct window_bench *bench, const struct ezprof_page *page,
		     struct ezprof_window_input *input, unsigned int index,
		     struct window_view *ret_view)
{
	struct ezprof_bucket_list list;
	uint64_t last = EZ_BUCKET_ID(input->now_ns);
	int err = ezprof_buckets_read(bench->buckets, bench->player->pid, FILE_NUMBER, index, 1,
				      last > 121 ? last - 121 : 0, last, &list);

	assert_true(err == 0 || err == -ENOENT);
	input->buckets = list.buckets;
	input->count = list.count;
	input->totals = list.have_totals ? &list.totals : NULL;
	input->page = page->at_rest ? &page->bucket : NULL;
	input->page_id = page->id;
	input->from_id = bench->from_id;
	ezprof_window_fold(input, &ret_view->window);
	ezprof_window_loss(input, &ret_view->loss);
	ret_view->at_rest = page->at_rest;
	assert_true(ezprof_buckets_valid(bench->buckets, &list));
}

void window_bench_read(struct window_bench *bench, unsigned int count, double window_s,
		       const uint64_t *totals, struct window_view *ret_views)
{
	struct ezprof_page *pages = calloc(count, sizeof(*pages));
	struct ezprof_window_input input = {.now_ns = now_ns(),
					    .window_ns = (uint64_t)(window_s * 1e9),
					    .publisher = true,
					    .in_flight = 1};

	assert_non_null(pages);
	read_pages(bench, count, pages);
	assert_int_equal(ezprof_buckets_begin(bench->buckets), 0);
	for (unsigned int i = 0; i < count; i++) {
		input.total = totals ? totals[i] : 0;
		input.total_stable = totals;
		fold_one(bench, &pages[i], &input, i, &ret_views[i]);
	}
	free(pages);
}

uint64_t window_bench_loss(struct window_bench *bench, enum ez_loss loss)
{
	struct ezprof_counters counters;

	assert_int_equal(ezprof_maps_counters(bench->maps, &counters), 0);
	return counters.losses[loss];
}
