/* SPDX-License-Identifier: MIT */
/* The spans path: every message with its number and times, once; what is lost is counted. */
#include "link_closer.h"
#include "registry_layout.h"
#include "require.h"
#include "spans_reader.h"
#include "window_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT 10007u
#define BYTES 97u
#define FILE_NUMBER 1u
#define KEPT 50000u

struct span_bench {
	struct window_bench window;
	struct player player;
	struct ezprof_span_ring *ring;
	int link_fds[EZPROF_LINKS_MAX];
	uint32_t link_count;
	uint64_t since_ns, malformed;
	struct ezprof_span_account accounts[2];
	struct ez_span *spans[2];
	size_t counts[2];
};

static void keep(void *context, const struct ezprof_span_batch *batch)
{
	struct span_bench *b = context;
	struct ezprof_span_batch rest = *batch;
	uint32_t i = batch->index;

	assert_true(i < 2);
	assert_int_equal(batch->tgid, b->player.pid);
	assert_int_equal(batch->file, FILE_NUMBER);
	assert_int_equal(batch->generation, 1);
	ezprof_span_account_take(&b->accounts[i], &rest);
	assert_true(b->counts[i] + rest.count <= KEPT);
	memcpy(b->spans[i] + b->counts[i], rest.spans, rest.count * sizeof(rest.spans[0]));
	b->counts[i] += rest.count;
}

static void link_spans(struct span_bench *b)
{
	struct ezprof_link_request request = {
		.pid = b->player.pid,
		.program_fd = ezprof_bpf_path_fd(b->window.bpf, EZPROF_PATH_SPANS),
		.uprobe_multi = ezprof_bpf_uprobe_multi(b->window.bpf),
		.object_fd = open(player_path(), O_RDONLY | O_CLOEXEC),
		.site_count = 1,
	};
	struct ezprof_elf elf;

	assert_int_equal(ezprof_elf_read(request.object_fd, &elf), 0);
	for (uint32_t i = 0; i < elf.site_count; i++) {
		if (elf.sites[i].probe == EZ_PROBE_spans)
			request.sites[0] = (struct ezprof_link_site){
				.offset = elf.sites[i].offset,
				.semaphore_offset = elf.sites[i].semaphore_offset,
				.cookie = EZ_COOKIE(FILE_NUMBER, EZ_PROBE_spans),
			};
	}
	assert_int_equal(ezprof_links_create(&request, b->link_fds, &b->link_count), 0);
	close(request.object_fd);
}

static bool perf_event; /* the way of older kernels */

static void attach(struct span_bench *b, const struct ezprof_bpf_options *wanted)
{
	struct ezprof_bpf_options options = *wanted;

	options.perf_event = perf_event;
	window_bench_open(&b->window, &options);
	assert_int_equal(ezprof_span_ring_open(b->window.bpf, keep, b, &b->ring), 0);
	window_bench_attach(&b->window, &b->player);
	link_spans(b);
	b->since_ns = now_ns();
}

static void start(struct span_bench *b, const struct ezprof_bpf_options *options)
{
	int64_t page[16];

	memset(b, 0, sizeof(*b));
	for (int i = 0; i < 2; i++) {
		b->spans[i] = calloc(KEPT, sizeof(struct ez_span));
		assert_non_null(b->spans[i]);
	}
	player_start(&b->player);
	player_do(&b->player, NULL, "open %d 32", EZ_KIND_PUBLISHER);
	player_do(&b->player, NULL, "open %d 32", EZ_KIND_CLIENT);
	attach(b, options);
	for (unsigned int i = 0; i < 2; i++) {
		player_do(&b->player, page, "page %u", i);
		b->window.pages[i] = (uint64_t)page[0];
	}
}

static void detach(struct span_bench *b)
{
	ezprof_links_close_all(b->link_fds, b->link_count);
	b->link_count = 0;
	ezprof_span_ring_close(b->ring);
	window_bench_close(&b->window);
}

static void stop(struct span_bench *b)
{
	detach(b);
	player_stop(&b->player);
	free(b->spans[0]);
	free(b->spans[1]);
}

static void drain(struct span_bench *b)
{
	assert_int_equal(ezprof_span_ring_drain(b->ring, &b->malformed), 0);
	assert_int_equal(b->malformed, 0);
}

/* As a recorder does it: the pages, then the ring, then what the pages had. */
static void take_all(struct span_bench *b)
{
	struct ezprof_memory memory = {ezprof_memory_read_fd, &b->window.mem_fd};
	static struct ez_span_page pages[2];
	struct ezprof_span_batch batch;

	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(ezprof_span_page_read(&memory, b->window.pages[i], &pages[i]), 0);
	drain(b);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(ezprof_span_page_decode(&pages[i], &batch), 0);
		batch.tgid = (uint32_t)b->player.pid;
		batch.file = FILE_NUMBER;
		batch.index = i;
		batch.generation = 1;
		keep(b, &batch);
	}
}

static struct ez_span_counters counters(struct span_bench *b)
{
	struct ez_span_counters c;

	assert_int_equal(ezprof_span_ring_counters(b->ring, &c), 0);
	return c;
}

static void play(struct span_bench *b, uint32_t count)
{
	player_do(&b->player, NULL, "roundtrip 1 %u %u", count, BYTES);
	player_do(&b->player, NULL, "publish 0 %u %u", count, BYTES);
}

static void check_spans(const struct span_bench *b, uint64_t first_message)
{
	uint64_t last_ns[2] = {0}, until_ns = now_ns();

	for (size_t i = 0; i < b->counts[1]; i++) {
		const struct ez_span *publish = &b->spans[0][i], *s = &b->spans[1][i];

		assert_int_equal(publish->message_id, first_message + i);
		assert_int_equal(s->message_id, first_message + i);
		assert_int_equal(s->bytes, BYTES);
		assert_int_equal(publish->bytes, BYTES);
		assert_int_equal(s->tid, b->player.pid);
		assert_true(s->start_ns >= b->since_ns && s->start_ns <= s->begin_ns + 1);
		assert_true(s->begin_ns <= s->finish_ns && s->finish_ns <= s->end_ns);
		assert_true(s->end_ns >= last_ns[1] && s->end_ns <= until_ns);
		assert_true(publish->end_ns >= last_ns[0] && publish->end_ns <= until_ns);
		last_ns[0] = publish->end_ns;
		last_ns[1] = s->end_ns;
	}
}

static void every_message_once(void **state)
{
	const struct ezprof_bpf_options options = {.paths = EZPROF_PATH_SPANS};
	struct span_bench b;
	struct ez_span_counters c;

	(void)state;
	start(&b, &options);
	play(&b, COUNT - 5);
	drain(&b);
	play(&b, 5);
	take_all(&b);
	for (int i = 0; i < 2; i++) {
		ezprof_span_account_end(&b.accounts[i], COUNT);
		assert_int_equal(b.counts[i], COUNT);
		assert_int_equal(b.accounts[i].first, 0);
		assert_int_equal(b.accounts[i].taken, COUNT);
		assert_int_equal(b.accounts[i].lost, 0);
	}
	c = counters(&b);
	assert_int_equal(c.no_room, 0);
	assert_int_equal(c.unreadable, 0);
	assert_true(c.spans <= 2 * COUNT && c.spans + 2 * EZ_SPANS_PER_PAGE >= 2 * COUNT);
	assert_int_equal(window_bench_loss(&b.window, EZ_LOSS_NOT_A_TARGET), 0);
	stop(&b);
}

static void times_are_in_order(void **state)
{
	const struct ezprof_bpf_options options = {.paths = EZPROF_PATH_SPANS};
	struct span_bench b;

	(void)state;
	start(&b, &options);
	player_do(&b.player, NULL, "pace 200");
	play(&b, 199);
	player_do(&b.player, NULL, "pace 0");
	play(&b, 2000);
	take_all(&b);
	assert_int_equal(b.counts[1], 2199);
	check_spans(&b, b.spans[1][0].message_id);
	stop(&b);
}

/* A ring of one page holds one batch: the others are counted, by BPF and by running numbers. */
static void full_ring(void **state)
{
	const struct ezprof_bpf_options options = {.paths = EZPROF_PATH_SPANS,
						   .span_ring_bytes = 1};
	struct span_bench b;
	struct ez_span_counters c;
	uint64_t taken;

	(void)state;
	start(&b, &options);
	assert_int_equal(ezprof_bpf_span_ring_bytes(b.window.bpf), sysconf(_SC_PAGESIZE));
	for (int i = 0; i < 2; i++)
		ezprof_span_account_begin(&b.accounts[i], 0);
	play(&b, COUNT);
	drain(&b);
	play(&b, COUNT);
	take_all(&b);
	c = counters(&b);
	taken = b.accounts[0].taken + b.accounts[1].taken;
	for (int i = 0; i < 2; i++) {
		ezprof_span_account_end(&b.accounts[i], 2 * COUNT);
		assert_int_equal(b.accounts[i].taken + b.accounts[i].lost, 2 * COUNT);
	}
	assert_true(c.no_room > COUNT);
	assert_int_equal(b.accounts[0].lost + b.accounts[1].lost, c.no_room);
	assert_true(taken > 0);
	assert_int_equal(taken, b.counts[0] + b.counts[1]);
	stop(&b);
}

/* What an earlier recording left in the page is not taken for the new one's. */
static void recorded_twice(void **state)
{
	const struct ezprof_bpf_options options = {.paths = EZPROF_PATH_SPANS};
	uint64_t pages[2];
	struct span_bench b;

	(void)state;
	start(&b, &options);
	play(&b, 101);
	memcpy(pages, b.window.pages, sizeof(pages));
	detach(&b);
	play(&b, COUNT);
	memset(b.accounts, 0, sizeof(b.accounts));
	attach(&b, &options);
	memcpy(b.window.pages, pages, sizeof(pages));
	for (int i = 0; i < 2; i++)
		ezprof_span_account_begin(&b.accounts[i], COUNT + 101);
	play(&b, 1001);
	take_all(&b);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(b.counts[i], 1001);
		assert_int_equal(b.accounts[i].lost, 0);
	}
	check_spans(&b, b.spans[1][0].message_id);
	stop(&b);
}

/* A process that exits hands over what it has. */
static void exit_flushes(void **state)
{
	const struct ezprof_bpf_options options = {.paths = EZPROF_PATH_SPANS};
	struct span_bench b;

	(void)state;
	start(&b, &options);
	play(&b, 77);
	player_stop(&b.player);
	drain(&b);
	assert_int_equal(b.counts[0], 77);
	assert_int_equal(b.counts[1], 77);
	detach(&b);
	free(b.spans[0]);
	free(b.spans[1]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_message_once), cmocka_unit_test(times_are_in_order),
		cmocka_unit_test(full_ring),	      cmocka_unit_test(recorded_twice),
		cmocka_unit_test(exit_flushes),
	};

	signal(SIGPIPE, SIG_IGN);
	ez_require_bpf();
	perf_event = argc > 1 && strcmp(argv[1], "perf_event") == 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
