/* SPDX-License-Identifier: MIT */
/*
 * B19: each missing right is named, and none is asked for that isn't needed. Every case runs in a
 * child with the capabilities that the case has.
 */
#include "opener.h"
#include "player.h"
#include "privileges.h"
#include "registry_layout.h"
#include "require.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <cap-ng.h>
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define END ((unsigned int)-1)

/* Becomes nobody with these capabilities and no others. */
static int become(const unsigned int *caps)
{
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgroups(0, NULL) ||
	    setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		return -errno;
	capng_clear(CAPNG_SELECT_BOTH);
	for (size_t i = 0; caps[i] != END; i++)
		capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, caps[i]);
	return capng_apply(CAPNG_SELECT_CAPS);
}

/* Runs the case in a child with these capabilities; 0: it went well. */
static int run_with(const unsigned int *caps, int (*what)(struct player *), struct player *player)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(become(caps) ? 99 : what(player));
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int expect(bool condition, int code)
{
	return condition ? 0 : code;
}

static int load(bool perf_event, struct ezprof_bpf **ret_bpf, struct ezprof_refusal *ret_refusal)
{
	const struct ezprof_bpf_options options = {.perf_event = perf_event};

	memset(ret_refusal, 0, sizeof(*ret_refusal));
	return ezprof_bpf_load(&options, ret_bpf, ret_refusal);
}

static int load_as_nobody(struct player *player)
{
	struct ezprof_refusal r;
	struct ezprof_bpf *bpf;

	(void)player;
	if (load(false, &bpf, &r) != -EPERM)
		return 1;
	/* One EPERM has many reasons: not the memory limit, which kernels no longer look at. */
	return expect(strcmp(r.why, "CAP_BPF and CAP_PERFMON missing") == 0, 2) +
	       expect(strstr(r.what, "load BPF") != NULL, 4) +
	       expect(strncmp(r.now, "sudo /", 6) == 0, 8) +
	       expect(strstr(r.forever, "setcap cap_bpf,cap_perfmon") != NULL, 16) +
	       expect(strstr(r.why, "MEMLOCK") == NULL, 32);
}

static int load_without_perfmon(struct player *player)
{
	struct ezprof_refusal r;
	struct ezprof_bpf *bpf;

	(void)player;
	if (load(false, &bpf, &r) >= 0)
		return 1;
	return expect(strcmp(r.why, "CAP_PERFMON missing") == 0, 2);
}

/* CAP_BPF and CAP_PERFMON, a small limit on locked memory: enough to load and attach. */
static int load_with_little_memlock(struct player *player)
{
	const struct rlimit limit = {.rlim_cur = 65536, .rlim_max = 65536};
	struct ezprof_refusal r;
	struct ezprof_bpf *bpf;

	(void)player;
	if (setrlimit(RLIMIT_MEMLOCK, &limit) || load(false, &bpf, &r))
		return 1;
	ezprof_bpf_free(bpf);
	return 0;
}

/* A process of root: its memory is refused, and the right that is missing is named. */
static int look_at_root(struct player *player)
{
	struct ezprof_opener *opener;
	struct ezprof_process *process;
	struct ezprof_refusal r = {0};
	int err;

	if (ezprof_opener_start(&opener))
		return 1;
	err = ezprof_opener_target(opener, player->pid, &process, &r);
	ezprof_opener_stop(opener);
	return expect(err == -EPERM || err == -EACCES, 2) +
	       expect(strstr(r.why, "CAP_SYS_PTRACE") != NULL, 4);
}

/* The fallback wants CAP_SYS_ADMIN on kernels with the fix for CVE-2025-38466. */
static int link_by_perf_event(struct player *player)
{
	struct ezprof_opener *opener;
	struct ezprof_process *process;
	struct ezprof_refusal r = {0};
	struct ezprof_links links;
	struct ezprof_bpf *bpf;
	int err;

	if (ezprof_opener_start(&opener) || load(true, &bpf, &r) ||
	    ezprof_opener_set_program(opener, bpf) ||
	    ezprof_opener_target(opener, player->pid, &process, &r))
		return 1;
	err = ezprof_opener_link(opener, process, &process->objects[0], 1, &links, &r);
	ezprof_process_free(process);
	ezprof_opener_stop(opener);
	/* An older kernel lets it pass. */
	if (!err)
		return 0;
	return expect(err == -EACCES || err == -EPERM, 2) +
	       expect(strcmp(r.why, "CAP_SYS_ADMIN missing") == 0, 4);
}

static void test_missing_rights(void **state)
{
	static const unsigned int none[] = {END};
	static const unsigned int bpf_only[] = {CAP_BPF, END};
	static const unsigned int bpf[] = {CAP_BPF, CAP_PERFMON, END};
	static const unsigned int least[] = {
		CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE,
		END};
	struct player player;

	(void)state;
	player_start(&player);
	assert_int_equal(run_with(none, load_as_nobody, &player), 0);
	assert_int_equal(run_with(bpf_only, load_without_perfmon, &player), 0);
	assert_int_equal(run_with(bpf, load_with_little_memlock, &player), 0);
	assert_int_equal(run_with(bpf, look_at_root, &player), 0);
	assert_int_equal(run_with(least, link_by_perf_event, &player), 0);
	player_stop(&player);
}

/* Attach and count with the least rights, for another user's process. */
static int measure(struct player *player)
{
	struct ezprof_opener *opener;
	struct ezprof_process *process;
	struct ezprof_refusal r = {0};
	struct ezprof_links links;
	struct bench bench;
	const struct ezprof_bpf_options options = {0};

	if (ezprof_opener_start(&opener))
		return 1;
	bench_open(&bench, &options);
	if (!ezprof_bpf_uprobe_multi(bench.bpf))
		return 0;
	if (ezprof_opener_set_program(opener, bench.bpf) ||
	    ezprof_opener_target(opener, player->pid, &process, &r) ||
	    ezprof_maps_add_target(bench.maps, player->pid, 1))
		return 2;
	if (ezprof_opener_link(opener, process, &process->objects[0], 1, &links, &r))
		return 3;
	player_do(player, NULL, "publish 0 23 5");
	if (bench_window(&bench, player, 0, 2).measured_messages != 23)
		return 4;
	ezprof_links_close(&links);
	ezprof_process_free(process);
	ezprof_opener_stop(opener);
	return 0;
}

static void test_least_rights(void **state)
{
	static const unsigned int least[] = {
		CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE,
		END};
	struct player player;

	(void)state;
	player_start(&player);
	player_do(&player, NULL, "open %d 32", EZ_KIND_PUBLISHER);
	assert_int_equal(run_with(least, measure, &player), 0);
	player_stop(&player);
}

/* ---- refused though all capabilities are there: what /proc and /sys say of it ---- */

/* A folder of our own making over a real one, and a file in it. In a mount namespace of our own. */
static int pretend(const char *over, const char *folder, const char *file, const char *says)
{
	char path[128];
	FILE *text;

	snprintf(path, sizeof(path), "%s/%s", over, folder);
	if (mount("none", over, "tmpfs", 0, NULL) || mkdir(path, 0755))
		return -errno;
	snprintf(path, sizeof(path), "%s/%s/%s", over, folder, file);
	text = fopen(path, "we");
	if (!text)
		return -errno;
	fputs(says, text);
	return fclose(text) ? -EIO : 0;
}

/* All four lines are there, and the second says so. */
static int explains(enum ezprof_attempt attempt, const char *why)
{
	struct ezprof_refusal r;

	ezprof_privileges_explain(attempt, -EPERM, &r);
	if (!strstr(r.why, why))
		printf("'%s' in place of '%s'\n", r.why, why);
	return expect(strstr(r.why, why) && *r.what && *r.now && *r.forever && !r.missing, 1);
}

static int explain_yama(void)
{
	return explains(EZPROF_ATTEMPT_MEMORY, "security module refuses") +
	       expect(!pretend("/proc/sys/kernel", "yama", "ptrace_scope", "3\n"), 10) +
	       explains(EZPROF_ATTEMPT_MEMORY, "ptrace_scope is 3") +
	       explains(EZPROF_ATTEMPT_OBJECT, "ptrace_scope is 3") +
	       explains(EZPROF_ATTEMPT_LOAD, "security module or the kernel's configuration");
}

static int explain_lockdown(void)
{
	return expect(!pretend("/sys/kernel", "security", "lockdown",
			       "none [integrity] confidentiality\n"),
		      10) +
	       explains(EZPROF_ATTEMPT_LOAD, "security module or the kernel's configuration") +
	       expect(!pretend("/sys/kernel", "security", "lockdown",
			       "none integrity [confidentiality]\n"),
		      10) +
	       explains(EZPROF_ATTEMPT_LOAD, "locked down (confidentiality)") +
	       explains(EZPROF_ATTEMPT_LINK, "locked down (confidentiality)") +
	       explains(EZPROF_ATTEMPT_MEMORY, "security module refuses");
}

static int run_apart(int (*what)(void))
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)
			      ? 99
			      : what());
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_causes(void **state)
{
	(void)state;
	assert_int_equal(run_apart(explain_yama), 0);
	assert_int_equal(run_apart(explain_lockdown), 0);
}

static void test_user(void **state)
{
	uid_t uid;
	gid_t gid;

	(void)state;
	setenv("SUDO_UID", "1234", 1);
	setenv("SUDO_GID", "1235", 1);
	ezprof_privileges_user(&uid, &gid);
	assert_int_equal(uid, 1234);
	assert_int_equal(gid, 1235);
	for (const char *bad[] = {"", "-1", "0", "12x", "4294967295", "99999999999"}, **b = bad;
	     b < bad + 6; b++) {
		setenv("SUDO_UID", *b, 1);
		ezprof_privileges_user(&uid, &gid);
		assert_int_equal(uid, 65534);
		assert_int_equal(gid, 65534);
	}
	unsetenv("SUDO_UID");
	ezprof_privileges_user(&uid, &gid);
	assert_int_equal(uid, 65534);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing_rights),
		cmocka_unit_test(test_least_rights),
		cmocka_unit_test(test_causes),
		cmocka_unit_test(test_user),
	};

	ez_require_bpf();
	if (geteuid() != 0)
		ez_skip("EZPROF_REQUIRE_BPF", "needs root, to have rights to give up");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
