/* SPDX-License-Identifier: MIT */
/*
 * A thousand times detach and attach while the process publishes: nothing is counted twice, nothing
 * stays in the process, the kernel or this program.
 */
#include "opener.h"
#include "player.h"
#include "registry_layout.h"
#include "require.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CYCLES 1000
#define MESSAGES_PER_S 20000

static unsigned int open_descriptors(pid_t pid)
{
	char path[32];
	unsigned int n = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	folder = opendir(path);
	assert_non_null(folder);
	while (readdir(folder))
		n++;
	closedir(folder);
	return n;
}

struct cycles {
	struct player player;
	struct bench bench;
	struct ezprof_opener *opener;
	struct ezprof_process *process;
};

/* Read from outside: the player may be publishing. */
static unsigned int semaphores(const struct cycles *c)
{
	const struct ezprof_object *object = &c->process->objects[0];
	unsigned int sum = 0;

	for (uint32_t i = 0; i < object->elf.site_count; i++) {
		uint64_t at = object->bias + object->elf.sites[i].semaphore_vaddr;
		uint16_t value;

		assert_int_equal(pread(c->process->mem_fd, &value, sizeof(value), (off_t)at),
				 sizeof(value));
		sum += value;
	}
	return sum;
}

/* The opener lets go of its copy of the link when it has handed it over: it may be the last one. */
static void expect_detached(const struct cycles *c)
{
	uint64_t end_ns = now_ns() + 10000000000ull;

	while (semaphores(c) && now_ns() < end_ns)
		sleep_ms(1);
	assert_int_equal(semaphores(c), 0);
}

static void set_up(struct cycles *c)
{
	const struct ezprof_bpf_options options = {0};

	player_start(&c->player);
	player_do(&c->player, NULL, "open %d 32", EZ_KIND_PUBLISHER);
	assert_int_equal(ezprof_opener_start(&c->opener), 0);
	assert_int_equal(ezprof_opener_target(c->opener, c->player.pid, &c->process, NULL), 0);
	bench_open(&c->bench, &options);
	assert_int_equal(ezprof_opener_set_program(c->opener, c->bench.bpf), 0);
	assert_int_equal(ezprof_maps_add_target(c->bench.maps, c->player.pid, 1), 0);
}

static void attach(struct cycles *c, struct ezprof_links *ret_links)
{
	struct ezprof_refusal refusal = {0};
	int err = ezprof_opener_link(c->opener, c->process, &c->process->objects[0], 1, ret_links,
				     &refusal);

	if (err)
		fail_msg("%s %s", strerror(-err), refusal.why);
}

static uint64_t measured(struct cycles *c)
{
	return bench_window(&c->bench, &c->player, 0, 2).measured_messages;
}

/* Commands wait for the one before: it publishes in the meantime, for about so long. */
static void start_traffic(struct cycles *c, uint64_t messages)
{
	player_do(&c->player, NULL, "pace %d", MESSAGES_PER_S);
	fprintf(c->player.to, "publish 0 %llu 5\n", (unsigned long long)messages);
	fflush(c->player.to);
}

static void end_traffic(struct cycles *c)
{
	char line[64];

	assert_non_null(fgets(line, sizeof(line), c->player.from));
	assert_int_equal(strncmp(line, "ok", 2), 0);
	player_do(&c->player, NULL, "pace 0");
}

/* The opener may still be closing its copy of the last link. */
static void expect_opener_descriptors(const struct cycles *c, unsigned int wanted)
{
	uint64_t end_ns = now_ns() + 10000000000ull;
	pid_t pid = ezprof_opener_pid(c->opener);

	while (open_descriptors(pid) != wanted && now_ns() < end_ns)
		sleep_ms(1);
	assert_int_equal(open_descriptors(pid), wanted);
}

static void test_cycles(void **state)
{
	struct ezprof_links links = {0};
	unsigned int ours, openers;
	uint64_t begin_ns, before;
	struct cycles c;

	(void)state;
	set_up(&c);
	attach(&c, &links);
	/* It has its slot, though the scheduler may let none of the traffic meet an attach. */
	player_do(&c.player, NULL, "publish 0 1 5");
	ezprof_links_close(&links);
	expect_detached(&c);
	ours = open_descriptors(getpid());
	sleep_ms(200);
	openers = open_descriptors(ezprof_opener_pid(c.opener));
	begin_ns = now_ns();
	for (int i = 0; i < CYCLES; i += 10) {
		start_traffic(&c, MESSAGES_PER_S / 4);
		for (int j = 0; j < 10; j++) {
			attach(&c, &links);
			ezprof_links_close(&links);
		}
		expect_detached(&c);
		before = measured(&c);
		end_traffic(&c);
		/* Detached: not one more. */
		assert_int_equal(measured(&c), before);
	}
	printf("%d times in %.1f s\n", CYCLES, (double)(now_ns() - begin_ns) / 1e9);
	assert_int_equal(open_descriptors(getpid()), ours);
	expect_opener_descriptors(&c, openers);
	/* And each hit counts once, as on the first day. */
	before = measured(&c);
	attach(&c, &links);
	player_do(&c.player, NULL, "publish 0 10007 5");
	assert_int_equal(measured(&c), before + 10007);
	assert_int_equal(bench_losses(&c.bench), 0);
	ezprof_links_close(&links);
	expect_detached(&c);
	ezprof_process_free(c.process);
	ezprof_opener_stop(c.opener);
	bench_close(&c.bench);
	player_stop(&c.player);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_cycles)};

	ez_require_bpf();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
