/* SPDX-License-Identifier: MIT */
/* Checks of the kernel and of rights; see checkup.h. */
#include "agent_status.h"
#include "checkup.h"
#include "kernel_features.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdint.h>
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

/* Headers of kernels before 5.9 lack them. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

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

static void check_kernel(struct ezprof_checkup *c)
{
	struct ezprof_features found;
	int err = ezprof_features_probe(&found);

	if (err == -EPERM || err == -EACCES)
		ezprof_checkup_add(c, "kernel", EZPROF_AILING, "sudo ezprof doctor",
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

/* What `ezprof-bpf attach` wants, by name. */
static const struct {
	unsigned int bit;
	const char *name;
} wanted[] = {
	{CAP_BPF, "CAP_BPF"},
	{CAP_PERFMON, "CAP_PERFMON"},
	{CAP_SYS_PTRACE, "CAP_SYS_PTRACE"},
	{CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH"},
	{CAP_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE"},
};

static void check_capabilities(struct ezprof_checkup *c)
{
	struct ezprof_rights rights;
	char text[4096], missing[200] = "";
	size_t i, used = 0;

	if (!read_text("/proc/self/status", text, sizeof(text)) ||
	    !ezprof_rights_parse(text, &rights)) {
		ezprof_checkup_add(c, "capabilities", EZPROF_SICK, "mount -t proc proc /proc",
				   "/proc/self/status can't be read");
		return;
	}
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (!(rights.effective >> wanted[i].bit & 1))
			used += (size_t)snprintf(missing + used, sizeof(missing) - used, "%s%s",
						 used ? ", " : "", wanted[i].name);
	}
	if (!used)
		ezprof_checkup_add(c, "capabilities", EZPROF_HEALTHY, NULL,
				   "all that attaching wants");
	else
		ezprof_checkup_add(c, "capabilities", EZPROF_AILING,
				   "sudo ezprof-bpf attach PID; for good: sudo setcap "
				   "cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search,"
				   "cap_checkpoint_restore+ep \"$(command -v ezprof-bpf)\"",
				   "user %u lacks %s, which attaching wants", (unsigned)geteuid(),
				   missing);
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
	check_version(c);
	check_kernel(c);
	check_btf(c);
	check_semaphores(c);
	check_lockdown(c);
	check_tracefs(c);
	check_capabilities(c);
	check_ptrace(c);
}
