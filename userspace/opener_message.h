/* SPDX-License-Identifier: MIT */
/*
 * What agent and opener say to each other: one request of fixed size, one answer of fixed size,
 * descriptors beside them. The opener trusts nothing in a request.
 */
#ifndef EZPROF_OPENER_MESSAGE_H
#define EZPROF_OPENER_MESSAGE_H

#include <stdint.h>
#include <sys/types.h>

#include "elf_notes.h"
#include "links.h"
#include "privileges.h"
#include "proc_process.h"
#include "process_status.h"

enum ezprof_opener_op {
	EZPROF_OPENER_PROCESS, /* pid -> info; pid_fd, mem_fd, maps_fd */
	EZPROF_OPENER_OBJECT,  /* pid, start_time, range of an executable mapping -> the file */
	EZPROF_OPENER_PROGRAM, /* path, uprobe_multi, pid_filter; the program -> nothing */
	EZPROF_OPENER_MARK,    /* port, uid -> status 0: that user's graph server is there */
	EZPROF_OPENER_LINK     /* path, pid and start_time or pid 0, sites; the file -> links */
};

struct ezprof_opener_request {
	uint32_t op; /* enum ezprof_opener_op */
	pid_t pid;
	uint64_t start_time;
	uint64_t map_start, map_end;
	uint32_t uprobe_multi, pid_filter; /* 0 or 1 */
	uint32_t port, uid;
	uint32_t site_count;
	uint32_t path; /* one of enum ezprof_path */
	struct ezprof_link_site sites[EZPROF_ELF_SITES_MAX];
};
_Static_assert((int)EZPROF_LINKS_MAX == (int)EZPROF_ELF_SITES_MAX,
	       "a link request holds all sites");

struct ezprof_opener_answer {
	int32_t status; /* 0 or negative errno */
	struct ezprof_proc_info info;
	struct ezprof_namespaces namespaces; /* PROCESS */
	struct ezprof_refusal refusal;	     /* where the status is a refusal */
};

/* Descriptors that travel with a message; received ones belong to the receiver, close-on-exec. */
struct ezprof_opener_fds {
	uint32_t count;
	int fds[EZPROF_LINKS_MAX];
};

/*
 * Errors: -EPIPE the other end is gone; -EBADMSG a message of another size, or cut; those of
 * sendmsg() and recvmsg(). `fds` may be NULL (nothing to send; nothing wanted, what comes is
 * closed).
 */
int ezprof_opener_send(int socket_fd, const void *message, size_t bytes,
		       const struct ezprof_opener_fds *fds);
int ezprof_opener_receive(int socket_fd, void *ret_message, size_t bytes,
			  struct ezprof_opener_fds *ret_fds);

void ezprof_opener_fds_close(struct ezprof_opener_fds *fds);

/* Sends a request (with a descriptor, or -1) and waits for the answer: its status, or as above. */
struct ezprof_opener;
int ezprof_opener_ask(struct ezprof_opener *opener, const struct ezprof_opener_request *request,
		      int fd, struct ezprof_opener_answer *ret_answer,
		      struct ezprof_opener_fds *ret_fds);

/* The opener's own half: serves requests until the other end is gone. Returns an exit status. */
int ezprof_opener_serve(int socket_fd);

#endif
