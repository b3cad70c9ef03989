/* SPDX-License-Identifier: MIT */
/* Refusals in words, and giving rights up; see privileges.h. */
#include "privileges.h"
#include "links.h"

#include <cap-ng.h>
#include <ctype.h>
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

#define NEED_MAX 5u

struct need {
	const char *what;
	unsigned int caps[NEED_MAX]; /* all of them; 0 (CAP_CHOWN, never needed here): no more */
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
	[EZPROF_ATTEMPT_ATTACH] = {"cannot attach",
				   {CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH,
				    CAP_CHECKPOINT_RESTORE}},
};

static void append(char *text, size_t size, const char *more)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, "%s", more);
}

/* The bounding set before it was given up; not known: it is still there. */
static struct {
	bool known;
	uint64_t caps;
} bounds;

static void note_bounds(void)
{
	uint64_t caps = 0;

	capng_get_caps_process();
	for (unsigned int cap = 0; cap < 64; cap++) {
		if (capng_have_capability(CAPNG_BOUNDING_SET, cap))
			caps |= UINT64_C(1) << cap;
	}
	bounds.caps = caps;
	bounds.known = true;
}

static bool in_bounds(unsigned int cap)
{
	if (!bounds.known)
		return capng_have_capability(CAPNG_BOUNDING_SET, cap);
	return bounds.caps >> cap & 1;
}

static void append_cap(char *text, size_t size, const char *before, unsigned int cap)
{
	const char *lower = capng_capability_to_name(cap);
	size_t at = strlen(text) + strlen(before);

	append(text, size, before);
	append(text, size, lower ? lower : "?");
	for (; at < size && text[at]; at++)
		text[at] = (char)toupper((unsigned char)text[at]);
}

/*
 * The missing ones by name. ret_regained: sudo or a file's capabilities bring them; they don't
 * where the bounding set lacks one, as in containers.
 */
static bool missing_caps(const struct need *need, char *names, size_t size, bool *ret_regained)
{
	*ret_regained = true;
	names[0] = '\0';
	for (size_t i = 0; i < NEED_MAX && need->caps[i]; i++) {
		if (capng_have_capability(CAPNG_EFFECTIVE, need->caps[i]))
			continue;
		append_cap(names, size, *names ? " and CAP_" : "CAP_", need->caps[i]);
		if (!in_bounds(need->caps[i]))
			*ret_regained = false;
	}
	return *names;
}

/*
 * What a container is to be started with: all that attaching will want as well, or one restart
 * would follow another.
 */
static void append_cap_adds(const struct need *need, char *text, size_t size)
{
	const struct need *const both[] = {&needs[EZPROF_ATTEMPT_ATTACH], need};
	uint64_t told = 0;

	for (size_t i = 0; i < 2 * NEED_MAX; i++) {
		unsigned int cap = both[i / NEED_MAX]->caps[i % NEED_MAX];

		if (!cap || in_bounds(cap) || told >> cap & 1)
			continue;
		told |= UINT64_C(1) << cap;
		append_cap(text, size, " --cap-add ", cap);
	}
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

/* How the capabilities come: by sudo and setcap, or, where they can't, from who made the bounds. */
static void put_remedies(const struct need *need, bool regained, const char *command,
			 const char *program, struct ezprof_refusal *r)
{
	if (regained) {
		snprintf(r->now, sizeof(r->now), "sudo %s", command);
		snprintf(r->forever, sizeof(r->forever),
			 "sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search,"
			 "cap_checkpoint_restore+ep %s",
			 program);
		return;
	}
	snprintf(r->now, sizeof(r->now), "run it on the host, outside of the container");
	snprintf(r->forever, sizeof(r->forever), "start the container with");
	append_cap_adds(need, r->forever, sizeof(r->forever));
	append(r->forever, sizeof(r->forever), " (a systemd service: CapabilityBoundingSet=)");
}

/* Of capabilities as capng_get_caps_process() found them. False: none is missing. */
static bool explain_missing(const struct need *need, const char *command, const char *program,
			    struct ezprof_refusal *r)
{
	char names[160];
	bool regained;

	if (!missing_caps(need, names, sizeof(names), &regained))
		return false;
	r->missing = true;
	r->bounded = !regained;
	snprintf(r->why, sizeof(r->why), "%s missing%s", names,
		 regained ? "" : ", and the bounding set keeps even root from having them");
	put_remedies(need, regained, command, program, r);
	return true;
}

bool ezprof_privileges_lacking(enum ezprof_attempt attempt, const char *command,
			       const char *program, struct ezprof_refusal *ret_refusal)
{
	struct ezprof_refusal r = {0};
	bool lacking;

	snprintf(r.what, sizeof(r.what), "%s", needs[attempt].what);
	capng_get_caps_process();
	lacking = explain_missing(&needs[attempt], command, program, &r);
	*ret_refusal = r;
	return lacking;
}

/* The running command, and its program. */
static bool explain_own_missing(const struct need *need, struct ezprof_refusal *r)
{
	/* With the full path: sudo doesn't see a virtual environment, or $PATH. */
	char program[200], command[sizeof(r->now)];

	own_path(program, sizeof(program));
	snprintf(command, sizeof(command), "%s", program);
	append_arguments(command, sizeof(command));
	return explain_missing(need, command, program, r);
}

static bool file_says(const char *path, const char *what)
{
	char text[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return strstr(text, what) != NULL;
}

#define FILTERED "\nSeccomp:\t2"

/* Whether somebody else's seccomp filter is in force: 1, or -1; 0: not looked at so far. */
static int others_filter;

/* Why the kernel refuses though all capabilities are there; the first that applies. */
struct cause {
	bool memory; /* to look into a process; else to load or attach */
	const char *path, *says;
	bool inverted; /* the file doesn't say it */
	const char *why, *now, *forever;
};

static const struct cause causes[] = {
	{true, "/proc/self/uid_map", " 4294967295\n", true,
	 "capabilities hold only inside of this user namespace, and the process is not of it",
	 "run it outside of the user namespace", "give the container no user namespace of its own"},
	{false, "/proc/self/uid_map", " 4294967295\n", true,
	 "capabilities hold only inside of this user namespace; BPF wants them outside",
	 "run it outside of the user namespace", "give the container no user namespace of its own"},
	{true, "/proc/sys/kernel/yama/ptrace_scope", "3", false,
	 "kernel.yama.ptrace_scope is 3: nobody may look into another process",
	 "restart the machine: 3 can't be taken back",
	 "set kernel.yama.ptrace_scope to 2 or less in /etc/sysctl.d"},
	{false, "/sys/kernel/security/lockdown", "[confidentiality]", false,
	 "the kernel is locked down (confidentiality): BPF may read nothing",
	 "restart with lockdown=integrity", "set lockdown=integrity on the kernel's command line"},
	{false, "/proc/self/status", FILTERED, false,
	 "a seccomp filter is in force, as containers have it, and all capabilities are there",
	 "run it on the host, outside of the container",
	 "allow bpf() and perf_event_open() in the container's seccomp profile"},
	{true, "/proc/self/status", "", false,
	 "all capabilities that this needs are there: a security module refuses, or the process is "
	 "of another user namespace above this one",
	 "run it on the host, outside of the container",
	 "allow ptrace in the security module's policy (AppArmor, SELinux)"},
	{false, "/proc/self/status", "", false,
	 "all capabilities that this needs are there: a security module or the kernel's "
	 "configuration refuses",
	 "run it on the host, outside of the container",
	 "allow bpf() and perf_event_open() in the security module's policy (AppArmor, SELinux)"},
};

static void explain_refused(enum ezprof_attempt attempt, int err, struct ezprof_refusal *r)
{
	bool memory = attempt == EZPROF_ATTEMPT_MEMORY || attempt == EZPROF_ATTEMPT_OBJECT;
	size_t i;

	for (i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		const struct cause *c = &causes[i];

		if (c->memory != memory || file_says(c->path, c->says) == c->inverted)
			continue;
		if (strcmp(c->says, FILTERED) == 0 && others_filter < 0)
			continue;
		snprintf(r->why, sizeof(r->why), "%s (%s)", c->why, strerror(-err));
		snprintf(r->now, sizeof(r->now), "%s", c->now);
		snprintf(r->forever, sizeof(r->forever), "%s", c->forever);
		return;
	}
}

void ezprof_privileges_explain(enum ezprof_attempt attempt, int err,
			       struct ezprof_refusal *ret_refusal)
{
	const struct need *need = &needs[attempt];
	struct ezprof_refusal r = {0};

	snprintf(r.what, sizeof(r.what), "%s", need->what);
	capng_get_caps_process();
	if (attempt == EZPROF_ATTEMPT_PERF_EVENT && err == -ENODEV)
		snprintf(r.why, sizeof(r.why), "%s is missing: mount /sys", EZPROF_UPROBE_TYPE);
	else if (err != -EPERM && err != -EACCES)
		snprintf(r.why, sizeof(r.why), "%s", strerror(-err));
	else if (!explain_own_missing(need, &r))
		explain_refused(attempt, err, &r);
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

/* Without them nothing can be regained by exec; while CAP_SETPCAP is there. */
static int drop_bounds(void)
{
	capng_get_caps_process();
	if (!capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP))
		return 0;
	capng_clear(CAPNG_SELECT_BOUNDS);
	return capng_apply(CAPNG_SELECT_BOUNDS) ? -EPERM : 0;
}

int ezprof_privileges_reduce(bool sys_admin)
{
	static const unsigned int kept[] = {CAP_BPF,
					    CAP_PERFMON,
					    CAP_SYS_PTRACE,
					    CAP_DAC_READ_SEARCH,
					    CAP_CHECKPOINT_RESTORE,
					    CAP_SYS_ADMIN};
	size_t n = sizeof(kept) / sizeof(kept[0]) - !sys_admin, i;
	bool have[sizeof(kept) / sizeof(kept[0])];

	/* Its own filter comes after this. */
	if (!others_filter)
		others_filter = file_says("/proc/self/status", FILTERED) ? 1 : -1;
	if (!bounds.known)
		note_bounds();
	if (drop_bounds())
		return -EPERM;
	for (i = 0; i < n; i++)
		have[i] = capng_have_capability(CAPNG_PERMITTED, kept[i]);
	capng_clear(CAPNG_SELECT_CAPS);
	for (i = 0; i < n; i++) {
		if (have[i])
			capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, kept[i]);
	}
	if (capng_apply(CAPNG_SELECT_CAPS))
		return -EPERM;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
}

int ezprof_privileges_reduce_to(bool (*suffices)(void))
{
	capng_get_caps_process();
	capng_update(CAPNG_DROP, CAPNG_EFFECTIVE, CAP_SYS_ADMIN);
	if (capng_apply(CAPNG_SELECT_CAPS))
		return -EPERM;
	return ezprof_privileges_reduce(!suffices());
}

int ezprof_privileges_drop(uid_t uid, gid_t gid)
{
	int err = drop_bounds();

	if (!err)
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
