/* SPDX-License-Identifier: MIT */
/* Harness of the BPF tests; see player.h. */
#include "player.h"
#include "link_closer.h"
#include "window_shared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FILE_NUMBER 1u

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void sleep_ms(unsigned int ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

	nanosleep(&t, NULL);
}

const char *player_path(void)
{
	static char path[4096];
	const char *folder = getenv("EZPROF_TEST_BIN_DIR");

	snprintf(path, sizeof(path), "%s/probe_player", folder ? folder : "tests/bin");
	return path;
}

void player_start(struct player *player)
{
	player_start_at(player, player_path());
}

void player_start_at(struct player *player, const char *path)
{
	int in[2], out[2];

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	player->pid = fork();
	assert_true(player->pid >= 0);
	if (player->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(path, path, (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	player->to = fdopen(in[1], "w");
	player->from = fdopen(out[0], "r");
	assert_non_null(player->to);
	assert_non_null(player->from);
	/* Answers once it has been executed, so that /proc/PID/exe is the player. */
	player_do(player, NULL, "semaphores");
}

void player_stop(struct player *player)
{
	int status;

	fclose(player->to);
	fclose(player->from);
	assert_int_equal(waitpid(player->pid, &status, 0), player->pid);
}

void player_kill(struct player *player)
{
	kill(player->pid, SIGKILL);
	player_stop(player);
}

unsigned int player_do(struct player *player, int64_t ret_numbers[16], const char *format, ...)
{
	char line[512];
	unsigned int count = 0;
	va_list args;
	char *at;

	va_start(args, format);
	vfprintf(player->to, format, args);
	va_end(args);
	fputc('\n', player->to);
	fflush(player->to);
	assert_non_null(fgets(line, sizeof(line), player->from));
	if (strncmp(line, "ok", 2) != 0)
		fail_msg("player answered %s to %s", line, format);
	for (at = line + 2; count < 16; count++) {
		char *end;
		int64_t value = strtoll(at, &end, 10);

		if (end == at)
			break;
		at = end;
		if (ret_numbers)
			ret_numbers[count] = value;
	}
	return count;
}

void bench_open(struct bench *bench, const struct ezprof_bpf_options *options)
{
	struct ezprof_refusal refusal = {0};
	int err;

	memset(bench, 0, sizeof(*bench));
	err = ezprof_bpf_load(options, &bench->bpf, &refusal);
	if (err)
		fail_msg("load: %s: %s: %s", strerror(-err), refusal.what, refusal.why);
	assert_int_equal(ezprof_maps_open(bench->bpf, &bench->maps), 0);
}

static void fill_sites(const struct ezprof_elf *elf, struct ezprof_link_request *request)
{
	request->site_count = 0;
	for (uint32_t i = 0; i < elf->site_count && elf->sites[i].probe < EZ_PROBE_BOUNDARY_COUNT;
	     i++)
		request->sites[request->site_count++] = (struct ezprof_link_site){
			.offset = elf->sites[i].offset,
			.semaphore_offset = elf->sites[i].semaphore_offset,
			.cookie = EZ_COOKIE(FILE_NUMBER, elf->sites[i].probe),
		};
}

void bench_attach(struct bench *bench, const struct player *player, bool everyone)
{
	struct ezprof_link_request request = {.pid = everyone ? 0 : player->pid};
	unsigned int n = bench->attached;
	struct ezprof_elf elf;
	char path[64];
	int err;

	assert_true(n < 4);
	snprintf(path, sizeof(path), "/proc/%d/exe", player->pid);
	request.object_fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(request.object_fd >= 0);
	assert_int_equal(ezprof_elf_read(request.object_fd, &elf), 0);
	assert_string_equal(ezprof_elf_verdict_text(elf.verdict),
			    ezprof_elf_verdict_text(EZPROF_ELF_PROBES));
	fill_sites(&elf, &request);
	request.program_fd = ezprof_bpf_program_fd(bench->bpf);
	request.uprobe_multi = ezprof_bpf_uprobe_multi(bench->bpf);
	assert_int_equal(ezprof_maps_add_target(bench->maps, player->pid, 1), 0);
	err = ezprof_links_create(&request, bench->link_fds[n], &bench->link_counts[n]);
	if (err)
		fail_msg("link: %s", strerror(-err));
	bench->attached_ns = now_ns();
	bench->attached++;
	close(request.object_fd);
}

void bench_detach(struct bench *bench)
{
	for (unsigned int i = 0; i < bench->attached; i++)
		ezprof_links_close_all(bench->link_fds[i], bench->link_counts[i]);
	bench->attached = 0;
}

void bench_close(struct bench *bench)
{
	bench_detach(bench);
	ezprof_maps_close(bench->maps);
	ezprof_bpf_free(bench->bpf);
}

struct ezprof_window bench_window(struct bench *bench, const struct player *player, uint32_t index,
				  double window_s)
{
	struct ezprof_window window;
	struct ezprof_raw raw;
	struct ezprof_fold_input input;
	int err = ezprof_maps_read(bench->maps, player->pid, FILE_NUMBER, index, 1, &raw);

	if (err)
		fail_msg("read: %s", strerror(-err));
	assert_true(raw.stable);
	input = (struct ezprof_fold_input){
		.rings = raw.rings,
		.cpu_count = raw.cpu_count,
		.slot = &raw.slot,
		.owner = raw.owner,
		.now_ns = now_ns(),
		.window_ns = (uint64_t)(window_s * 1e9),
		.attached_ns = bench->attached_ns,
		.blocked_since_ns = raw.slot.blocked_since_ns,
	};
	ezprof_fold(&input, &window);
	return window;
}

struct ezprof_counters bench_counters(struct bench *bench)
{
	struct ezprof_counters counters;

	assert_int_equal(ezprof_maps_counters(bench->maps, &counters), 0);
	return counters;
}

uint64_t bench_losses(struct bench *bench)
{
	struct ezprof_counters counters = bench_counters(bench);
	uint64_t sum = 0;

	for (unsigned int i = 0; i < EZ_LOSS_COUNT; i++)
		sum += counters.losses[i];
	return sum;
}
