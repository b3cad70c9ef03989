/* SPDX-License-Identifier: MIT */
/* Checks of the kernel and of rights; see checkup.h. */
#include "checkup.h"
#include "kernel_features.h"
#include "privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#define BTF "/sys/kernel/btf/vmlinux"
#define LOCKDOWN "/sys/kernel/security/lockdown"
#define TRACEFS "/sys/kernel/tracing"
#define DEBUG_TRACEFS "/sys/kernel/debug/tracing"
#define REF_CTR "/sys/bus/event_source/devices/uprobe/format/ref_ctr_offset"
#define PTRACE_SCOPE "/proc/sys/kernel/yama/ptrace_scope"

static bool read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static void check_version(struct ezprof_checkup *c)
{
	struct utsname machine;

	if (uname(&machine))
		return;
	ezprof_checkup_add(c, "version", EZPROF_HEALTHY, NULL,
			   "ezprof %s with libbpf %s on %s %s, %s", EZPROF_VERSION,
			   ezprof_libbpf_version(), machine.sysname, machine.release,
			   machine.machine);
}

static void check_kernel(struct ezprof_checkup *c, const struct ezprof_refusal *lack)
{
	struct ezprof_features found;
	int err = ezprof_features_probe(&found);

	if ((err == -EPERM || err == -EACCES) && lack->missing)
		ezprof_checkup_add(c, "kernel", EZPROF_AILING,
				   lack->bounded ? lack->forever : "sudo ezprof doctor",
				   "what it can is found out by trying, which this user may not");
	else if (err == -ENOSYS)
		ezprof_checkup_add(c, "kernel", EZPROF_SICK,
				   "use a kernel with CONFIG_BPF_SYSCALL=y",
				   "it has no BPF: nothing can be measured from outside");
	else if (err)
		ezprof_checkup_add(c, "kernel", EZPROF_SICK,
				   "allow the system call bpf() (in containers: --privileged, or a "
				   "seccomp profile with it)",
				   "it does not load BPF programs: %s", strerror(-err));
	else if (!found.uprobe_multi)
		ezprof_checkup_add(c, "kernel", EZPROF_AILING, "Linux 6.6 or later",
				   "no uprobe_multi: one link per probe site by perf_event");
	else if (!found.uprobe_multi_pid)
		ezprof_checkup_add(
			c, "kernel", EZPROF_AILING, "Linux 6.10 or later",
			"uprobe_multi can't tell processes apart: all that have the file "
			"pay for the probes");
	else
		ezprof_checkup_add(c, "kernel", EZPROF_HEALTHY, NULL,
				   "BPF, uprobe_multi with a filter by process");
}

static void check_btf(struct ezprof_checkup *c)
{
	if (access(BTF, R_OK) == 0)
		ezprof_checkup_add(c, "btf", EZPROF_HEALTHY, NULL, BTF " is there");
	else
		ezprof_checkup_add(c, "btf", EZPROF_AILING,
				   "a kernel with CONFIG_DEBUG_INFO_BTF=y, if bpftrace is wanted",
				   BTF ": %s; ezprof can do without", strerror(errno));
}

static void check_semaphores(struct ezprof_checkup *c)
{
	if (access(REF_CTR, F_OK) == 0)
		ezprof_checkup_add(c, "semaphores", EZPROF_HEALTHY, NULL,
				   "the kernel raises the probes' semaphores");
	else
		ezprof_checkup_add(c, "semaphores", EZPROF_SICK,
				   "Linux 4.20 or later with CONFIG_UPROBE_EVENTS=y, and /sys "
				   "mounted",
				   REF_CTR ": %s: probes stay off", strerror(errno));
}

static void check_lockdown(struct ezprof_checkup *c)
{
	char text[256];

	if (!read_text(LOCKDOWN, text, sizeof(text)))
		ezprof_checkup_add(c, "lockdown", EZPROF_HEALTHY, NULL, "the kernel has none");
	else if (strstr(text, "[confidentiality]"))
		ezprof_checkup_add(
			c, "lockdown", EZPROF_SICK,
			"set lockdown=integrity on the kernel's command line and restart",
			"confidentiality: BPF may not read memory");
	else
		ezprof_checkup_add(c, "lockdown", EZPROF_HEALTHY, NULL, "%s",
				   strstr(text, "[none]") ? "none" : "integrity");
}

static bool is_tracefs(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && fs.f_type == TRACEFS_MAGIC;
}

static void check_tracefs(struct ezprof_checkup *c)
{
	if (is_tracefs(TRACEFS) || is_tracefs(DEBUG_TRACEFS))
		ezprof_checkup_add(c, "tracefs", EZPROF_HEALTHY, NULL, "mounted");
	else if (access(TRACEFS, F_OK) && errno == EACCES)
		ezprof_checkup_add(c, "tracefs", EZPROF_HEALTHY, NULL,
				   "only root may see whether it is mounted");
	else
		ezprof_checkup_add(c, "tracefs", EZPROF_AILING,
				   "sudo mount -t tracefs tracefs " TRACEFS,
				   "not mounted: ezprof can do without, bpftrace complains");
}

static void check_capabilities(struct ezprof_checkup *c, const struct ezprof_refusal *lack)
{
	char fix[sizeof(lack->now) + sizeof(lack->forever) + 16];

	if (!lack->missing) {
		ezprof_checkup_add(c, "capabilities", EZPROF_HEALTHY, NULL,
				   "all that attaching wants");
		return;
	}
	snprintf(fix, sizeof(fix), "%s; for good: %s", lack->now, lack->forever);
	ezprof_checkup_add(c, "capabilities", EZPROF_AILING, fix,
			   "attaching wants more than user %u has: %s", (unsigned int)geteuid(),
			   lack->why);
}

static void check_ptrace(struct ezprof_checkup *c)
{
	char text[16];

	/* 3: nobody may, whatever the capabilities. */
	if (read_text(PTRACE_SCOPE, text, sizeof(text)) && text[0] == '3')
		ezprof_checkup_add(c, "ptrace", EZPROF_SICK,
				   "set kernel.yama.ptrace_scope to 2 or less in /etc/sysctl.d and "
				   "restart",
				   "ptrace_scope is 3: no process may look into another");
}

void ezprof_checkup_system(struct ezprof_checkup *c)
{
	struct ezprof_refusal lack;

	ezprof_privileges_lacking(EZPROF_ATTEMPT_ATTACH, "ezprof-bpf attach PID",
				  "\"$(command -v ezprof-bpf)\"", &lack);
	check_version(c);
	check_kernel(c, &lack);
	check_btf(c);
	check_semaphores(c);
	check_lockdown(c);
	check_tracefs(c);
	check_capabilities(c, &lack);
	check_ptrace(c);
}
