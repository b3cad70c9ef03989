/* SPDX-License-Identifier: MIT */
/* The two processes: what the opener hands over, whom it refuses, and what stays when one dies. */
#include "opener.h"
#include "player.h"
#include "privileges.h"
#include "proc_process.h"
#include "registry_layout.h"
#include "require.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ezprof_opener *start_opener(void)
{
	struct ezprof_opener *opener;

	assert_int_equal(ezprof_opener_start(&opener), 0);
	return opener;
}

static struct ezprof_process *target(struct ezprof_opener *opener, pid_t pid)
{
	struct ezprof_process *process;
	struct ezprof_refusal refusal = {0};
	int err = ezprof_opener_target(opener, pid, &process, &refusal);

	if (err)
		fail_msg("target: %s: %s", strerror(-err), refusal.why);
	return process;
}

/* The sum of the player's semaphores; each probe counts once while we alone are attached. */
static int64_t semaphores(struct player *player)
{
	int64_t n[16], sum = 0;
	unsigned int count = player_do(player, n, "semaphores");

	for (unsigned int i = 0; i < count; i++)
		sum += n[i];
	return sum;
}

/* The kernel cleans up a moment after the last descriptor is gone; emulation makes it long. */
#define MOMENT_TRIES 3000

static void expect_semaphores_fall(struct player *player)
{
	int i;

	for (i = 0; i < MOMENT_TRIES && semaphores(player) != 0; i++)
		sleep_ms(10);
	if (i > 100)
		printf("semaphores fell after %d ms\n", 10 * i);
	assert_int_equal(semaphores(player), 0);
}

static void test_target(void **state)
{
	struct ezprof_opener *opener = start_opener();
	struct ezprof_process *p;
	struct player player;
	uint64_t magic = 0;
	struct stat exe;
	char path[64];

	(void)state;
	player_start(&player);
	player_do(&player, NULL, "open %d 32", EZ_KIND_PUBLISHER);
	p = target(opener, player.pid);
	assert_int_equal(p->pid, player.pid);
	assert_string_equal(p->comm, "probe_player");
	assert_true(p->searched >= 2);
	assert_int_equal(p->object_count, 1);
	assert_int_equal(p->objects[0].elf.site_count, EZ_PROBE_COUNT);
	snprintf(path, sizeof(path), "/proc/%d/exe", player.pid);
	assert_int_equal(stat(path, &exe), 0);
	assert_int_equal(p->objects[0].inode, exe.st_ino);
	assert_true(p->objects[0].elf.has_registry);
	assert_int_equal(pread(p->mem_fd, &magic, sizeof(magic),
			       (off_t)(p->objects[0].elf.registry_vaddr + p->objects[0].bias)),
			 sizeof(magic));
	assert_int_equal(magic, EZ_REGISTRY_MAGIC);
	assert_int_equal(ezprof_opener_rescan(opener, p), 0);
	assert_int_equal(p->object_count, 1);
	player_stop(&player);
	assert_int_equal(ezprof_opener_rescan(opener, p), -ESRCH);
	ezprof_process_free(p);
	ezprof_opener_stop(opener);
}

static void *hold_thread(void *arg)
{
	pid_t *tid = arg;

	__atomic_store_n(tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	pause();
	return NULL;
}

static void test_refused_pids(void **state)
{
	struct ezprof_opener *opener = start_opener();
	struct ezprof_process *p;
	pthread_t thread;
	pid_t zombie, tid = 0;

	(void)state;
	assert_int_equal(ezprof_opener_target(opener, 0, &p, NULL), -ESRCH);
	assert_int_equal(ezprof_opener_target(opener, -1, &p, NULL), -ESRCH);
	assert_int_equal(ezprof_opener_target(opener, 0x7fffffff, &p, NULL), -ESRCH);
	zombie = fork();
	if (zombie == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)zombie, NULL, WEXITED | WNOWAIT), 0);
	assert_int_equal(ezprof_opener_target(opener, zombie, &p, NULL), -ECHILD);
	waitpid(zombie, NULL, 0);
	assert_int_equal(ezprof_opener_target(opener, zombie, &p, NULL), -ESRCH);
	assert_int_equal(pthread_create(&thread, NULL, hold_thread, &tid), 0);
	while (!__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
		sleep_ms(1);
	assert_int_equal(ezprof_opener_target(opener, tid, &p, NULL), -EINVAL);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	ezprof_opener_stop(opener);
}

/* A process without probes is no error, and one sentence can say what was searched. */
static void test_without_probes(void **state)
{
	struct ezprof_opener *opener = start_opener();
	struct ezprof_process *p;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execlp("sleep", "sleep", "60", (char *)NULL);
		_exit(127);
	}
	sleep_ms(100);
	p = target(opener, child);
	assert_int_equal(p->object_count, 0);
	assert_true(p->searched >= 1);
	assert_null(p->refused_path);
	ezprof_process_free(p);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ezprof_opener_stop(opener);
}

/* B17: processes that end while they are being looked at give -ESRCH or are taken; nothing hangs.
 */
#define TRIES 500

static void test_short_lived(void **state)
{
	struct ezprof_opener *opener = start_opener();
	struct ezprof_process *p;
	struct timespec life = {0};
	static pid_t children[TRIES];

	(void)state;
	for (int i = 0; i < TRIES; i++) {
		pid_t child = fork();
		int err;

		life.tv_nsec = i * (50000000 / TRIES);
		if (child == 0) {
			nanosleep(&life, NULL);
			_exit(0);
		}
		err = ezprof_opener_target(opener, child, &p, NULL);
		if (!err)
			ezprof_process_free(p);
		else
			assert_true(err == -ESRCH || err == -ECHILD);
		children[i] = child;
	}
	/* Not the opener, which is a child as well. */
	for (int i = 0; i < TRIES; i++)
		waitpid(children[i], NULL, 0);
	ezprof_opener_stop(opener);
}

struct attached {
	struct bench bench;
	struct ezprof_opener *opener;
	struct ezprof_process *process;
	struct ezprof_links links;
};

static void attach(struct attached *a, const struct player *player)
{
	const struct ezprof_bpf_options options = {0};
	struct ezprof_refusal refusal = {0};
	int err;

	a->opener = start_opener();
	a->process = target(a->opener, player->pid);
	bench_open(&a->bench, &options);
	assert_int_equal(ezprof_opener_set_program(a->opener, a->bench.bpf), 0);
	assert_int_equal(ezprof_maps_add_target(a->bench.maps, player->pid, 1), 0);
	err = ezprof_opener_link(a->opener, a->process, &a->process->objects[0], 1, &a->links,
				 &refusal);
	if (err)
		fail_msg("link: %s: %s", strerror(-err), refusal.why);
}

static void detach(struct attached *a)
{
	ezprof_links_close(&a->links);
	ezprof_process_free(a->process);
	ezprof_opener_stop(a->opener);
	bench_close(&a->bench);
}

static void test_link(void **state)
{
	struct player player;
	struct attached a;

	(void)state;
	player_start(&player);
	player_do(&player, NULL, "open %d 32", EZ_KIND_PUBLISHER);
	assert_int_equal(semaphores(&player), 0);
	attach(&a, &player);
	assert_int_equal(semaphores(&player), EZ_PROBE_BOUNDARY_COUNT);
	player_do(&player, NULL, "publish 0 23 5");
	assert_int_equal(bench_window(&a.bench, &player, 0, 2).measured_messages, 23);
	ezprof_links_close(&a.links);
	expect_semaphores_fall(&player);
	player_do(&player, NULL, "publish 0 23 5");
	assert_int_equal(bench_window(&a.bench, &player, 0, 2).measured_messages, 23);
	detach(&a);
	player_stop(&player);
}

/* Started with stdin, stdout and stderr closed, so that the opener's socket is one of them. */
static void test_without_stdio(void **state)
{
	struct player player;
	pid_t child;
	int status;

	(void)state;
	player_start(&player);
	child = fork();
	if (child == 0) {
		struct ezprof_opener *opener;
		struct ezprof_process *p;

		for (int fd = 0; fd < 3; fd++)
			close(fd);
		if (ezprof_opener_start(&opener))
			_exit(1);
		_exit(ezprof_opener_target(opener, player.pid, &p, NULL) ? 2 : 0);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	player_stop(&player);
}

/* The opener dies: what is attached goes on, calls say so, its end can be polled. */
static void test_opener_killed(void **state)
{
	struct ezprof_process *p;
	struct player player;
	struct attached a;
	struct pollfd poll_fd;

	(void)state;
	player_start(&player);
	player_do(&player, NULL, "open %d 32", EZ_KIND_PUBLISHER);
	attach(&a, &player);
	poll_fd = (struct pollfd){.fd = ezprof_opener_fd(a.opener), .events = POLLIN};
	assert_int_equal(poll(&poll_fd, 1, 0), 0);
	kill(ezprof_opener_pid(a.opener), SIGKILL);
	assert_int_equal(poll(&poll_fd, 1, 10 * MOMENT_TRIES), 1);
	assert_int_equal(ezprof_opener_target(a.opener, player.pid, &p, NULL), -EPIPE);
	player_do(&player, NULL, "publish 0 23 5");
	assert_int_equal(bench_window(&a.bench, &player, 0, 2).measured_messages, 23);
	detach(&a);
	expect_semaphores_fall(&player);
	player_stop(&player);
}

/* What a test needs to know of an agent that it is going to kill. */
struct agent_facts {
	pid_t opener;
	uint32_t program_id;
};

static uint32_t program_id(const struct ezprof_bpf *bpf)
{
	struct bpf_prog_info info = {0};
	uint32_t bytes = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(ezprof_bpf_program_fd(bpf), &info, &bytes), 0);
	return info.id;
}

static void expect_program_gone(uint32_t id)
{
	int fd = -1;

	for (int i = 0; i < MOMENT_TRIES; i++) {
		fd = bpf_prog_get_fd_by_id(id);
		if (fd < 0)
			break;
		close(fd);
		sleep_ms(10);
	}
	assert_int_equal(fd, -ENOENT);
}

/* In a process of its own: attaches, tells so, drops its rights, goes on measuring, then waits. */
static _Noreturn void agent(struct player *player, int ready_fd)
{
	struct attached a;
	struct ezprof_process *again;
	struct ezprof_links more;
	struct agent_facts facts;
	int err;

	attach(&a, player);
	facts.opener = ezprof_opener_pid(a.opener);
	facts.program_id = program_id(a.bench.bpf);
	if (ezprof_privileges_drop(65534, 65534))
		_exit(2);
	/* A change of user forgets it. A test that fails must not leave an agent behind. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* With nothing left, it still gets a process opened, attaches and reads maps. */
	if (geteuid() != 65534 || open("/proc/1/mem", O_RDONLY | O_CLOEXEC) >= 0)
		_exit(3);
	err = ezprof_opener_target(a.opener, player->pid, &again, NULL);
	if (err || again->object_count != 1)
		_exit(4);
	if (ezprof_opener_link(a.opener, again, &again->objects[0], 2, &more, NULL))
		_exit(5);
	ezprof_links_close(&more);
	player_do(player, NULL, "publish 0 23 5");
	if (bench_window(&a.bench, player, 0, 2).measured_messages != 23)
		_exit(6);
	if (write(ready_fd, &facts, sizeof(facts)) != sizeof(facts))
		_exit(7);
	for (;;)
		pause();
}

static pid_t start_agent(struct player *player, struct agent_facts *ret_facts)
{
	int ready[2];
	pid_t child;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	child = fork();
	if (child == 0)
		agent(player, ready[1]);
	close(ready[1]);
	assert_int_equal(read(ready[0], ret_facts, sizeof(*ret_facts)), sizeof(*ret_facts));
	close(ready[0]);
	return child;
}

/* Dead is enough: who waits for orphans may take its time. */
static bool is_dead(pid_t pid)
{
	struct ezprof_proc_info info;
	int dir, err = ezprof_proc_open(pid, &dir);

	if (err)
		return err == -ESRCH;
	err = ezprof_proc_info(dir, &info);
	close(dir);
	return err == -ESRCH || (!err && (info.state == 'Z' || info.state == 'X'));
}

static void expect_dead(pid_t pid)
{
	for (int i = 0; i < MOMENT_TRIES && !is_dead(pid); i++)
		sleep_ms(10);
	assert_true(is_dead(pid));
}

/* The command for all of them is in docs/cases.md. An emulated machine has less time. */
#define CYCLES (getenv("EZPROF_SLOW") ? 200 : getenv("EZPROF_TEST_EMULATED") ? 10 : 30)

/* B16. Killed: the agent; both at once. Semaphores fall, opener and program go, every time. */
static void test_agent_killed(void **state)
{
	struct player player;

	(void)state;
	player_start(&player);
	player_do(&player, NULL, "open %d 32", EZ_KIND_PUBLISHER);
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		struct agent_facts facts;
		pid_t child = start_agent(&player, &facts);

		assert_int_equal(semaphores(&player), EZ_PROBE_BOUNDARY_COUNT);
		if (cycle % 2)
			kill(facts.opener, SIGKILL);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		expect_semaphores_fall(&player);
		expect_dead(facts.opener);
		expect_program_gone(facts.program_id);
	}
	player_stop(&player);
}

/* B08: the file a process runs is replaced, or gone. It is still the one that is attached to. */
static void test_deleted_file(void **state)
{
	char folder[] = "/tmp/ezprof-test-XXXXXX", copy[64], command[4300];
	struct player player;
	struct attached a;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(copy, sizeof(copy), "%s/probe_player", folder);
	snprintf(command, sizeof(command), "cp '%s' '%s'", player_path(), copy);
	assert_int_equal(system(command), 0);
	player_start_at(&player, copy);
	player_do(&player, NULL, "open %d 32", EZ_KIND_PUBLISHER);
	assert_int_equal(unlink(copy), 0);
	assert_int_equal(symlink("/bin/true", copy), 0);
	attach(&a, &player);
	player_do(&player, NULL, "publish 0 23 5");
	assert_int_equal(bench_window(&a.bench, &player, 0, 2).measured_messages, 23);
	detach(&a);
	player_stop(&player);
	unlink(copy);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_target),	       cmocka_unit_test(test_refused_pids),
		cmocka_unit_test(test_without_probes), cmocka_unit_test(test_short_lived),
		cmocka_unit_test(test_link),	       cmocka_unit_test(test_without_stdio),
		cmocka_unit_test(test_opener_killed),  cmocka_unit_test(test_agent_killed),
		cmocka_unit_test(test_deleted_file),
	};

	ez_require_bpf();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
