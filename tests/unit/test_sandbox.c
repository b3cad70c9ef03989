/* SPDX-License-Identifier: MIT */
/* What must fail once the sandbox is up, and what must go on; each in a child of its own. */
#include "privileges.h"
#include "sandbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <net/if.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* The sandbox is off in a build with sanitizers. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static int bpf(int command)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	return (int)syscall(SYS_bpf, command, &attr, sizeof(attr));
}

static int perf_event(void)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static int read_memory(void)
{
	char byte;
	struct iovec iov = {.iov_base = &byte, .iov_len = 1};

	return (int)process_vm_readv(getppid(), &iov, 1, &iov, 1, 0);
}

static int map_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? -1
		       : 0;
}

static int start_program(void)
{
	char *const arguments[] = {(char *)(uintptr_t) "true", NULL};

	return execv("/bin/true", arguments);
}

struct attempt {
	const char *what;
	int failed;
};

#define ATTEMPT(call) \
	{ \
#call, (errno = 0, (call) < 0 && errno == EPERM) \
	}

/* What neither of the two may do. The number of the first one that went through; 0: none. */
static int both_must_fail(void)
{
	const struct attempt attempts[] = {
		ATTEMPT(open("/tmp/ezprof-sandbox", O_WRONLY | O_CREAT, 0600)),
		ATTEMPT(open("/proc/self/comm", O_RDWR)),
		ATTEMPT(open("/proc/self/comm", O_WRONLY | O_TRUNC)),
		ATTEMPT(start_program()),
		ATTEMPT((int)syscall(SYS_fork)),
		ATTEMPT((int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)),
		ATTEMPT((int)ptrace(PTRACE_ATTACH, getppid(), 0, 0)),
		ATTEMPT(read_memory()),
		ATTEMPT(kill(getppid(), SIGCONT)),
		ATTEMPT(mount("none", "/mnt", "tmpfs", 0, NULL)),
		ATTEMPT(map_code()),
		ATTEMPT(bpf(BPF_PROG_LOAD)),
		ATTEMPT(bpf(BPF_MAP_CREATE)),
		ATTEMPT(bpf(BPF_ENABLE_STATS)),
		ATTEMPT(bpf(BPF_OBJ_PIN)),
		ATTEMPT(socket(AF_PACKET, SOCK_RAW, 0)),
		ATTEMPT(setuid(0)),
		ATTEMPT((int)syscall(SYS_init_module, NULL, 0, "")),
		ATTEMPT((int)syscall(SYS_setns, 0, 0)),
		ATTEMPT((int)syscall(SYS_unshare, 0)),
		ATTEMPT((int)syscall(SYS_keyctl, 0, 0, 0, 0, 0)),
	};

	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		if (attempts[i].failed)
			continue;
		dprintf(2, "went through, or failed otherwise: %s\n", attempts[i].what);
		return (int)i + 1;
	}
	return 0;
}

static void *nothing(void *context)
{
	return context;
}

static int agent(void)
{
	pthread_t thread;
	int fd, status;

	if (ezprof_sandbox_agent())
		return 100;
	status = both_must_fail();
	if (status)
		return status;
	if (bpf(BPF_LINK_CREATE) >= 0 || errno != EPERM)
		return 101;
	if (perf_event() >= 0 || errno != EPERM)
		return 102;
	/* And what it lives on. */
	fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || close(fd))
		return 103;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || close(fd))
		return 104;
	if (bpf(BPF_MAP_LOOKUP_ELEM) >= 0 || errno == EPERM)
		return 105;
	if (pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL))
		return 106;
	return 0;
}

static int opener(void)
{
	int fd, status;

	if (ezprof_privileges_reduce(false) || ezprof_sandbox_opener())
		return 100;
	status = both_must_fail();
	if (status)
		return status;
	if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != EPERM)
		return 101;
	if (bpf(BPF_MAP_LOOKUP_ELEM) >= 0 || errno != EPERM)
		return 102;
	fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || close(fd))
		return 103;
	/* The kernel is asked, and has its own reason to refuse. */
	if (bpf(BPF_LINK_CREATE) >= 0 || errno == EPERM)
		return 104;
	/* Giving up more stays possible. */
	return ezprof_privileges_reduce(false) ? 105 : 0;
}

static void run(int (*what)(void))
{
	pid_t child;
	int status = -1;

	if (SANITIZED)
		skip();
	child = fork();
	if (child == 0)
		_exit(what());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_agent(void **state)
{
	(void)state;
	run(agent);
}

static void test_opener(void **state)
{
	(void)state;
	run(opener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agent),
		cmocka_unit_test(test_opener),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
