/* SPDX-License-Identifier: MIT */
/*
 * The privileged half of ezprof-bpf: a process of its own that opens what the agent may no longer
 * open (a target's memory, maps and object files, links) and hands the descriptors over. It keeps
 * none of them: when the agent dies, everything is detached, and the opener leaves too. When the
 * opener dies, the agent goes on with what it has; every call here then gives -EPIPE.
 *
 * Order in a program: ezprof_opener_start() first of all (the child is a copy of the caller), then
 * targets, then ezprof_bpf_load() sized by what they hold, ezprof_opener_set_program(), links,
 * and ezprof_privileges_drop(). Calls block until the opener has answered (milliseconds). One
 * thread at a time.
 */
#ifndef EZPROF_OPENER_H
#define EZPROF_OPENER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "elf_notes.h"
#include "loader.h"
#include "process_status.h"

struct ezprof_opener;

/* Errors: those of fork() and socketpair(). */
int ezprof_opener_start(struct ezprof_opener **ret_opener);

/* Ends the opener and waits for it. Links live on. NULL is ignored. */
void ezprof_opener_stop(struct ezprof_opener *opener);

/* Becomes readable (end of file) when the opener has died. Not to be read. */
int ezprof_opener_fd(const struct ezprof_opener *opener);
/* 0 for NULL. */
pid_t ezprof_opener_pid(const struct ezprof_opener *opener);

/*
 * Whether a mark of that user, or of root, names this loopback port (see server_mark.h), though
 * only that user may read it. Errors: -ENOENT none does; -EPIPE.
 */
int ezprof_opener_mark(struct ezprof_opener *opener, uint16_t port, uid_t uid);

/* Hands over the program that links will run, and how they are to be made. */
int ezprof_opener_set_program(struct ezprof_opener *opener, const struct ezprof_bpf *bpf);

/* A file as /proc/PID/maps names it. */
struct ezprof_file_id {
	uint64_t device, inode;
};

/* One instrumented object file that a process maps. */
struct ezprof_object {
	uint64_t device, inode; /* which file: two processes may map the same */
	struct ezprof_file_id in_maps;
	uint64_t bias; /* add to link-time addresses */
	/* The process has it once more at another place (dlmopen): hits don't tell which it was. */
	bool twice;
	int fd;	    /* the file itself, whatever its name is now */
	char *path; /* as the process sees it; hostile text */
	struct ezprof_elf elf;
};

/* A process and what was opened of it. */
struct ezprof_process {
	pid_t pid;
	uint64_t start_time; /* field 22 of /proc/PID/stat: with the pid, who it is */
	uid_t uid;	     /* its effective user */
	char comm[16];
	struct ezprof_namespaces namespaces;
	int pid_fd;	       /* readable when the process has ended */
	int mem_fd;	       /* /proc/PID/mem, read only; reads nothing after exec */
	int maps_fd;	       /* /proc/PID/maps */
	uint32_t object_count; /* objects with probes that can be attached to */
	struct ezprof_object *objects;
	uint32_t searched;	     /* files that were looked at, */
	struct ezprof_file_id *seen; /* namely these */
	/* The first file with probes that can't be attached to (or 32-bit program); NULL: none */
	char *refused_path;
	bool under_valgrind;				    /* which a probe would end */
	char refused_arguments[EZPROF_ELF_ARGUMENTS_BYTES]; /* hostile text, "" */
	enum ezprof_elf_verdict refused;
};

/*
 * Opens a process and looks through the files it executes. A process without probes is no error:
 * it has no objects; nor has one under valgrind.
 * Errors: -ESRCH no such process, or it has ended meanwhile; -ECHILD a zombie; -EINVAL the id of a
 * thread that isn't its process; -EPERM, -EACCES with ret_refusal (may be NULL) filled; -EPIPE.
 */
int ezprof_opener_target(struct ezprof_opener *opener, pid_t pid,
			 struct ezprof_process **ret_process, struct ezprof_refusal *ret_refusal);

/*
 * Looks through the mapped files again and adds objects that weren't there (libraries loaded
 * later). Objects keep their place. Errors: as above.
 */
int ezprof_opener_rescan(struct ezprof_opener *opener, struct ezprof_process *process);

void ezprof_process_free(struct ezprof_process *process);

struct ezprof_links {
	uint32_t count;
	int fds[EZPROF_ELF_SITES_MAX];
};

/*
 * Attaches the program to all sites of an object: `file` is the caller's number for it, which
 * comes back in map keys. `process` NULL: for every process that maps it; else for that one only
 * (where the kernel can't filter by process: for every one, and BPF counts targets only).
 * Semaphores are up when it returns. Errors: -ENOENT the object has no probe of any path that was
 * loaded; -ESRCH the process has ended; -EPERM, -EACCES with ret_refusal filled, as
 * with -ENODEV (links.h); -EPIPE.
 */
int ezprof_opener_link(struct ezprof_opener *opener, const struct ezprof_process *process,
		       const struct ezprof_object *object, uint32_t file,
		       struct ezprof_links *ret_links, struct ezprof_refusal *ret_refusal);

/* The same for the programs of these paths only, of enum ezprof_path; spans too. */
int ezprof_opener_link_paths(struct ezprof_opener *opener, const struct ezprof_process *process,
			     const struct ezprof_object *object, uint32_t file, uint32_t paths,
			     struct ezprof_links *ret_links, struct ezprof_refusal *ret_refusal);

/* Detaches: tens of milliseconds. */
void ezprof_links_close(struct ezprof_links *links);

#endif
