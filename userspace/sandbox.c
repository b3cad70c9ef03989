/* SPDX-License-Identifier: MIT */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* Sanitizers' own threads and reports need more than any list here. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANDBOX_OFF 1
#else
#define SANDBOX_OFF 0
#endif

/* Memory, time, signals' ends, and what is open already. */
static const char *const common[] = {
	"read",
	"readv",
	"pread64",
	"write",
	"writev",
	"close",
	"close_range",
	"fcntl",
	"fstat",
	"newfstatat",
	"statx",
	"lseek",
	"readlink",
	"readlinkat",
	"brk",
	"munmap",
	"mremap",
	"madvise",
	"sendmsg",
	"recvmsg",
	"poll",
	"ppoll",
	"clock_gettime",
	"gettimeofday",
	"clock_nanosleep",
	"nanosleep",
	"rt_sigreturn",
	"rt_sigprocmask",
	"rt_sigaction",
	"sigaltstack",
	"getpid",
	"gettid",
	"getppid",
	"getuid",
	"geteuid",
	"getgid",
	"getegid",
	"futex",
	"getrandom",
	"restart_syscall",
	"exit",
	"exit_group",
	"capget",
	"sched_yield",
	"rseq",
	"uname",
	"sysinfo",
	"set_robust_list",
	"getdents64",
	"getdents",
	"set_tid_address",
};

static const char *const of_opener[] = {"pidfd_open", "perf_event_open", "openat2", "capset"};

static const char *const of_agent[] = {
	"epoll_create1",
	"epoll_create",
	"epoll_ctl",
	"epoll_wait",
	"epoll_pwait",
	"epoll_pwait2",
	"eventfd2",
	"timerfd_create",
	"timerfd_settime",
	"timerfd_gettime",
	"signalfd4",
	"pipe2",
	"select",
	"pselect6",
	"connect",
	"bind",
	"accept4",
	"accept",
	"getsockname",
	"getpeername",
	"setsockopt",
	"getsockopt",
	"sendto",
	"recvfrom",
	"sendmmsg",
	"recvmmsg",
	"shutdown",
	"ioctl",
	"access",
	"faccessat",
	"faccessat2",
	"unlink",
	"unlinkat",
	"wait4",
	"waitid",
	"preadv",
	"sched_getaffinity",
	"getrusage",
	"times",
	"dup",
	"getresuid",
	"getresgid",
	"getsid",
	"clock_getres",
	"prctl",
};

/* One argument, of which only the masked bits count. */
struct rule {
	const char *name;
	unsigned int argument;
	uint64_t mask, value;
};

#define FLAGS_THAT_WRITE (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND)
#define ANY_BIT UINT64_C(0xffffffff)

static const struct rule of_both[] = {
	{"openat", 2, FLAGS_THAT_WRITE, O_RDONLY},
	{"open", 1, FLAGS_THAT_WRITE, O_RDONLY},
	{"mmap", 2, PROT_EXEC, 0},
	{"mprotect", 2, PROT_EXEC, 0},
};

static const struct rule rules_of_opener[] = {
	{"bpf", 0, ANY_BIT, BPF_LINK_CREATE},	    {"prctl", 0, ANY_BIT, PR_CAPBSET_READ},
	{"prctl", 0, ANY_BIT, PR_CAP_AMBIENT},	    {"prctl", 0, ANY_BIT, PR_GET_SECUREBITS},
	{"prctl", 0, ANY_BIT, PR_SET_NO_NEW_PRIVS},
};

static const struct rule rules_of_agent[] = {
	{"bpf", 0, ANY_BIT, BPF_MAP_LOOKUP_ELEM},
	{"bpf", 0, ANY_BIT, BPF_MAP_UPDATE_ELEM},
	{"bpf", 0, ANY_BIT, BPF_MAP_DELETE_ELEM},
	{"bpf", 0, ANY_BIT, BPF_MAP_GET_NEXT_KEY},
	{"bpf", 0, ANY_BIT, BPF_MAP_LOOKUP_AND_DELETE_ELEM},
	{"bpf", 0, ANY_BIT, BPF_MAP_LOOKUP_BATCH},
	{"bpf", 0, ANY_BIT, BPF_MAP_UPDATE_BATCH},
	{"bpf", 0, ANY_BIT, BPF_MAP_DELETE_BATCH},
	{"bpf", 0, ANY_BIT, BPF_OBJ_GET_INFO_BY_FD},
	{"socket", 0, ANY_BIT, AF_UNIX},
	{"socket", 0, ANY_BIT, AF_INET},
	{"socket", 0, ANY_BIT, AF_INET6},
	{"socket", 0, ANY_BIT, AF_NETLINK}, /* resolving names */
	{"clone", 0, CLONE_THREAD, CLONE_THREAD},
	{"prlimit64", 2, UINT64_MAX, 0}, /* to ask, not to set */
};

/* Names that this kernel's headers or this machine don't have are none to allow. */
static int allow(scmp_filter_ctx filter, const char *name, unsigned int count,
		 const struct scmp_arg_cmp *argument)
{
	int number = seccomp_syscall_resolve_name(name);

	if (number < 0)
		return 0;
	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, number, count, argument);
}

static int allow_names(scmp_filter_ctx filter, const char *const *names, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = allow(filter, names[i], 0, NULL);
	return err;
}

static int allow_rules(scmp_filter_ctx filter, const struct rule *rules, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		const struct scmp_arg_cmp argument = {.arg = rules[i].argument,
						      .op = SCMP_CMP_MASKED_EQ,
						      .datum_a = rules[i].mask,
						      .datum_b = rules[i].value};

		err = allow(filter, rules[i].name, 1, &argument);
	}
	return err;
}

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static int fill(scmp_filter_ctx filter, const char *const *names, size_t name_count,
		const struct rule *rules, size_t rule_count)
{
	int err = allow_names(filter, common, COUNT(common));

	if (!err)
		err = allow_names(filter, names, name_count);
	if (!err)
		err = allow_rules(filter, of_both, COUNT(of_both));
	if (!err)
		err = allow_rules(filter, rules, rule_count);
	/* Its flags lie in memory, where a filter can't look: libc then takes clone(). */
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	return err;
}

static int confine(const char *const *names, size_t name_count, const struct rule *rules,
		   size_t rule_count)
{
	scmp_filter_ctx filter;
	int err;

	if (SANDBOX_OFF)
		return 0;
	filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	if (!filter)
		return -ENOMEM;
	err = fill(filter, names, name_count, rules, rule_count);
	/* libseccomp sets no_new_privs itself, without which there is no filter for the
	 * unprivileged. */
	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err == -EINVAL ? -EOPNOTSUPP : err;
}

int ezprof_sandbox_opener(void)
{
	return confine(of_opener, COUNT(of_opener), rules_of_opener, COUNT(rules_of_opener));
}

int ezprof_sandbox_agent(void)
{
	return confine(of_agent, COUNT(of_agent), rules_of_agent, COUNT(rules_of_agent));
}
