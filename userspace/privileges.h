/* SPDX-License-Identifier: MIT */
/*
 * Rights: what a refusal by the kernel means in words, and how the agent gives its own rights up.
 */
#ifndef EZPROF_PRIVILEGES_H
#define EZPROF_PRIVILEGES_H

#include <stddef.h>
#include <stdbool.h>
#include <sys/types.h>

/* The four lines of exit code 77. For the program to print; empty strings where nothing applies. */
struct ezprof_refusal {
	char what[160];	   /* what failed */
	char why[240];	   /* the right that is missing */
	char now[320];	   /* a command that fixes it now */
	char forever[320]; /* a setting that fixes it for good */
	bool missing;	   /* capabilities are: not the process's own doing; */
	bool bounded;	   /* not even root can have them here, as in containers */
};

/* What was attempted when the kernel refused; all of it together. */
enum ezprof_attempt {
	EZPROF_ATTEMPT_LOAD,	   /* to load BPF programs and maps */
	EZPROF_ATTEMPT_LINK,	   /* to attach to a file by uprobe_multi */
	EZPROF_ATTEMPT_PERF_EVENT, /* to attach to a file by perf_event */
	EZPROF_ATTEMPT_MEMORY,	   /* to read another process's memory */
	EZPROF_ATTEMPT_OBJECT,	   /* to open a file that another process maps */
	EZPROF_ATTEMPT_ATTACH	   /* all that `ezprof-bpf attach` may have to do */
};

/*
 * Explains a refusal (-EPERM or -EACCES) by looking at the capabilities of the calling process and
 * at the kernel's settings. Any other error gets its name as the reason and no remedy.
 */
void ezprof_privileges_explain(enum ezprof_attempt attempt, int err,
			       struct ezprof_refusal *ret_refusal);

/*
 * The same before anything is attempted, and for another command than the running one: `command`
 * is what sudo is to run, `program` what setcap is to mark. False: nothing is missing.
 */
bool ezprof_privileges_lacking(enum ezprof_attempt attempt, const char *command,
			       const char *program, struct ezprof_refusal *ret_refusal);

/* The user that the agent becomes: the one who called sudo, else 65534 for root, else ourselves. */
void ezprof_privileges_user(uid_t *ret_uid, gid_t *ret_gid);

/*
 * For the opener: keeps of its capabilities those that opening needs; CAP_SYS_ADMIN only where
 * asked for. Sets no_new_privs. Errors: -EPERM.
 */
int ezprof_privileges_reduce(bool sys_admin);

/* The same, with CAP_SYS_ADMIN only if `suffices` says false without it. */
int ezprof_privileges_reduce_to(bool (*suffices)(void));

/*
 * Gives up all capabilities for good, becomes that user, forbids to gain rights by exec. What is
 * open stays open; /proc/self belongs to root afterwards (the process isn't dumpable, and must not
 * be: its owner could take its file descriptors by ptrace). All threads must not exist yet.
 */
int ezprof_privileges_drop(uid_t uid, gid_t gid);

#endif
