/* SPDX-License-Identifier: MIT */
/* Refusals in words, and giving rights up; see privileges.h. */
#include "privileges.h"

#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NOBODY 65534u

/* Kernels before 5.8 and libcap-ng of that time know neither. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

struct need {
	const char *what;
	unsigned int caps[3]; /* all of them; 0 (CAP_CHOWN, never needed here): no more */
};

static const struct need needs[] = {
	[EZPROF_ATTEMPT_LOAD] = {"cannot load BPF programs", {CAP_BPF, CAP_PERFMON}},
	[EZPROF_ATTEMPT_LINK] = {"cannot attach to the probes (uprobe_multi)",
				 {CAP_BPF, CAP_PERFMON}},
	/* Kernels with the fix for CVE-2025-38466 want CAP_SYS_ADMIN here. */
	[EZPROF_ATTEMPT_PERF_EVENT] = {"cannot attach to the probes (perf_event)", {CAP_SYS_ADMIN}},
	[EZPROF_ATTEMPT_MEMORY] = {"cannot read the process's memory",
				   {CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH}},
	[EZPROF_ATTEMPT_OBJECT] = {"cannot open the files that the process maps",
				   {CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE}},
};

static void append(char *text, size_t size, const char *more)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, "%s", more);
}

/* The missing ones by name, and all of them as setcap wants them. */
static bool missing_caps(const struct need *need, char *names, size_t size)
{
	bool missing = false;

	names[0] = '\0';
	for (size_t i = 0; i < 3 && need->caps[i]; i++) {
		char name[40];
		const char *lower = capng_capability_to_name(need->caps[i]);

		if (capng_have_capability(CAPNG_EFFECTIVE, need->caps[i]))
			continue;
		snprintf(name, sizeof(name), "%sCAP_%s", missing ? " and " : "",
			 lower ? lower : "?");
		for (char *c = name + (missing ? 5 : 0); *c; c++)
			*c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
		append(names, size, name);
		missing = true;
	}
	return missing;
}

static void own_path(char *ret_path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", ret_path, size - 1);

	snprintf(ret_path + (n > 0 ? n : 0), size - (n > 0 ? (size_t)n : 0), "%s",
		 n > 0 ? "" : "ezprof-bpf");
}

static bool is_plain(const char *word)
{
	return *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_-+=./:,@%")];
}

/* Our own arguments, as a shell takes them. What doesn't fit, or would need care, is left out. */
static void append_arguments(char *text, size_t size)
{
	char line[512];
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	const char *word;

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return;
	line[n] = '\0';
	for (word = line + strlen(line) + 1; word < line + n; word += strlen(word) + 1) {
		append(text, size, " ");
		append(text, size, is_plain(word) ? word : "...");
	}
}

static void explain_missing(const char *names, struct ezprof_refusal *r)
{
	char path[200];

	own_path(path, sizeof(path));
	r->missing = true;
	snprintf(r->why, sizeof(r->why), "%s missing", names);
	/* With the full path: sudo doesn't see a virtual environment, or $PATH. */
	snprintf(r->now, sizeof(r->now), "sudo %s", path);
	append_arguments(r->now, sizeof(r->now));
	snprintf(r->forever, sizeof(r->forever),
		 "sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search,"
		 "cap_checkpoint_restore+ep %s",
		 path);
}

/* All capabilities are there, and still it was refused: a container, a security module, lockdown.
 */
static void explain_refused(int err, struct ezprof_refusal *r)
{
	snprintf(r->why, sizeof(r->why),
		 "all capabilities that this needs are there, yet the kernel says \"%s\": "
		 "a container's seccomp filter, a security module or kernel lockdown",
		 strerror(-err));
	snprintf(r->now, sizeof(r->now), "run it on the host, outside of the container");
	snprintf(r->forever, sizeof(r->forever),
		 "allow bpf() and perf_event_open() in the container's seccomp profile; "
		 "see /sys/kernel/security/lockdown");
}

void ezprof_privileges_explain(enum ezprof_attempt attempt, int err,
			       struct ezprof_refusal *ret_refusal)
{
	const struct need *need = &needs[attempt];
	struct ezprof_refusal r = {0};
	char names[160];

	snprintf(r.what, sizeof(r.what), "%s", need->what);
	capng_get_caps_process();
	if (err != -EPERM && err != -EACCES)
		snprintf(r.why, sizeof(r.why), "%s", strerror(-err));
	else if (missing_caps(need, names, sizeof(names)))
		explain_missing(names, &r);
	else
		explain_refused(err, &r);
	*ret_refusal = r;
}

static bool id_from_environment(const char *name, unsigned int *ret_id)
{
	const char *text = getenv(name);
	unsigned long value;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || value >= UINT32_MAX)
		return false;
	*ret_id = (unsigned int)value;
	return true;
}

void ezprof_privileges_user(uid_t *ret_uid, gid_t *ret_gid)
{
	uid_t uid;
	gid_t gid;

	/* Only root may become somebody else, and only root was called by sudo. */
	if (geteuid() != 0) {
		uid = getuid();
		gid = getgid();
	} else if (!id_from_environment("SUDO_UID", &uid) ||
		   !id_from_environment("SUDO_GID", &gid) || uid == 0) {
		uid = NOBODY;
		gid = NOBODY;
	}
	*ret_uid = uid;
	*ret_gid = gid;
}

static int become(uid_t uid, gid_t gid)
{
	if (geteuid() == 0 && setgroups(0, NULL))
		return -errno;
	if (setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		return -errno;
	return 0;
}

int ezprof_privileges_drop(uid_t uid, gid_t gid)
{
	int err;

	/* The bounding set goes first, while CAP_SETPCAP is there; without it nothing can be
	   regained by exec, no_new_privs sees to that. */
	capng_get_caps_process();
	if (capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP)) {
		capng_clear(CAPNG_SELECT_BOUNDS);
		if (capng_apply(CAPNG_SELECT_BOUNDS))
			return -EPERM;
	}
	err = become(uid, gid);
	if (err)
		return err;
	capng_clear(CAPNG_SELECT_ALL);
	if (capng_apply(CAPNG_SELECT_CAPS))
		return -EPERM;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return -errno;
	return 0;
}
