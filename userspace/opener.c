/* SPDX-License-Identifier: MIT */
/* The agent's end of the opener: starts it and asks it; see opener.h. */
#include "opener.h"
#include "link_closer.h"
#include "opener_message.h"
#include "probe_list.h"
#include "sandbox.h"
#include "window_shared.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct ezprof_opener {
	pid_t pid;
	int socket_fd;
	uint32_t paths; /* whose programs it has */
};

static const enum ezprof_path all_paths[] = {EZPROF_PATH_BOUNDARY, EZPROF_PATH_WINDOW,
					     EZPROF_PATH_SPANS};
#define PATHS (sizeof(all_paths) / sizeof(all_paths[0]))

/* Descriptors of the agent-to-be, its terminal and pipes among them, are none of the opener's. */
static int isolate(int socket_fd)
{
	static const int ignored[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE};
	int null;

	/* It may be one of the three itself, where the program was started without them. */
	socket_fd = fcntl(socket_fd, F_DUPFD_CLOEXEC, 3);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (socket_fd < 0 || null < 0)
		return -errno;
	for (int fd = 0; fd <= 2; fd++) {
		if (dup2(null, fd) < 0)
			return -errno;
	}
	if (socket_fd != 3 && dup3(socket_fd, 3, O_CLOEXEC) < 0)
		return -errno;
	if (syscall(SYS_close_range, 4, ~0u, 0))
		return -errno;
	/* A Ctrl-C is for the agent: it ends the opener by closing its end. */
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	prctl(PR_SET_NAME, "ezprof-opener");
	return 0;
}

static _Noreturn void child_main(int socket_fd, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || isolate(socket_fd) || ezprof_privileges_reduce(true) ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || ezprof_sandbox_opener())
		_exit(1);
	_exit(ezprof_opener_serve(3));
}

int ezprof_opener_start(struct ezprof_opener **ret_opener)
{
	struct ezprof_opener *opener = calloc(1, sizeof(*opener));
	pid_t parent = getpid();
	int pair[2], err;

	if (!opener)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		err = -errno;
		free(opener);
		return err;
	}
	opener->pid = fork();
	if (opener->pid == 0)
		child_main(pair[1], parent);
	err = -errno;
	close(pair[1]);
	if (opener->pid < 0) {
		close(pair[0]);
		free(opener);
		return err;
	}
	opener->socket_fd = pair[0];
	*ret_opener = opener;
	return 0;
}

void ezprof_opener_stop(struct ezprof_opener *opener)
{
	if (!opener)
		return;
	close(opener->socket_fd);
	while (waitpid(opener->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(opener);
}

int ezprof_opener_fd(const struct ezprof_opener *opener)
{
	return opener->socket_fd;
}

pid_t ezprof_opener_pid(const struct ezprof_opener *opener)
{
	return opener ? opener->pid : 0;
}

int ezprof_opener_ask(struct ezprof_opener *opener, const struct ezprof_opener_request *request,
		      int fd, struct ezprof_opener_answer *ret_answer,
		      struct ezprof_opener_fds *ret_fds)
{
	struct ezprof_opener_fds given = {.count = fd >= 0, .fds = {fd}};
	int err;

	memset(ret_answer, 0, sizeof(*ret_answer));
	err = ezprof_opener_send(opener->socket_fd, request, sizeof(*request), &given);
	if (!err)
		err = ezprof_opener_receive(opener->socket_fd, ret_answer, sizeof(*ret_answer),
					    ret_fds);
	return err ? err : ret_answer->status;
}

int ezprof_opener_mark(struct ezprof_opener *opener, uint16_t port, uid_t uid)
{
	const struct ezprof_opener_request request = {
		.op = EZPROF_OPENER_MARK, .port = port, .uid = uid};
	struct ezprof_opener_answer answer;

	return ezprof_opener_ask(opener, &request, -1, &answer, NULL);
}

int ezprof_opener_set_program(struct ezprof_opener *opener, const struct ezprof_bpf *bpf)
{
	struct ezprof_opener_request request = {
		.op = EZPROF_OPENER_PROGRAM,
		.uprobe_multi = ezprof_bpf_uprobe_multi(bpf),
		.pid_filter = ezprof_bpf_pid_filter(bpf),
	};
	struct ezprof_opener_answer answer;
	int err = 0;

	for (size_t i = 0; i < PATHS && !err; i++) {
		int fd = ezprof_bpf_path_fd(bpf, all_paths[i]);

		if (fd < 0)
			continue;
		request.path = all_paths[i];
		err = ezprof_opener_ask(opener, &request, fd, &answer, NULL);
		if (!err)
			opener->paths |= all_paths[i];
	}
	return err;
}

/* Each path has its own sites: a probe of which nobody makes use isn't listened to. */
static bool path_uses(enum ezprof_path path, uint32_t probe)
{
	if (path == EZPROF_PATH_BOUNDARY)
		return probe < EZ_PROBE_BOUNDARY_COUNT;
	return probe == (path == EZPROF_PATH_WINDOW ? EZ_PROBE_window : EZ_PROBE_spans);
}

static void fill_sites(const struct ezprof_elf *elf, uint32_t file, enum ezprof_path path,
		       struct ezprof_opener_request *request)
{
	request->path = path;
	request->site_count = 0;
	for (uint32_t i = 0; i < elf->site_count; i++) {
		if (!path_uses(path, elf->sites[i].probe))
			continue;
		request->sites[request->site_count++] = (struct ezprof_link_site){
			.offset = elf->sites[i].offset,
			.semaphore_offset = elf->sites[i].semaphore_offset,
			.cookie = EZ_COOKIE(file, elf->sites[i].probe),
		};
	}
}

static int add_links(struct ezprof_links *links, struct ezprof_opener_fds *fds)
{
	if (fds->count > EZPROF_ELF_SITES_MAX - links->count) {
		ezprof_opener_fds_close(fds);
		return -E2BIG;
	}
	memcpy(links->fds + links->count, fds->fds, fds->count * sizeof(fds->fds[0]));
	links->count += fds->count;
	return 0;
}

int ezprof_opener_link_paths(struct ezprof_opener *opener, const struct ezprof_process *process,
			     const struct ezprof_object *object, uint32_t file, uint32_t paths,
			     struct ezprof_links *ret_links, struct ezprof_refusal *ret_refusal)
{
	struct ezprof_opener_request request = {.op = EZPROF_OPENER_LINK};
	struct ezprof_opener_answer answer = {0};
	struct ezprof_opener_fds fds;
	struct ezprof_links links = {0};
	int err = 0;

	if (process) {
		request.pid = process->pid;
		request.start_time = process->start_time;
	}
	for (size_t i = 0; i < PATHS && !err; i++) {
		if (!(opener->paths & paths & all_paths[i]))
			continue;
		fill_sites(&object->elf, file, all_paths[i], &request);
		if (!request.site_count)
			continue;
		err = ezprof_opener_ask(opener, &request, object->fd, &answer, &fds);
		if (!err)
			err = add_links(&links, &fds);
	}
	if (!err && !links.count)
		err = -ENOENT;
	if (!err) {
		*ret_links = links;
		return 0;
	}
	ezprof_links_close(&links);
	if (answer.refusal.what[0] && ret_refusal)
		*ret_refusal = answer.refusal;
	return err;
}

int ezprof_opener_link(struct ezprof_opener *opener, const struct ezprof_process *process,
		       const struct ezprof_object *object, uint32_t file,
		       struct ezprof_links *ret_links, struct ezprof_refusal *ret_refusal)
{
	return ezprof_opener_link_paths(opener, process, object, file,
					EZPROF_PATH_BOUNDARY | EZPROF_PATH_WINDOW, ret_links,
					ret_refusal);
}

void ezprof_links_close(struct ezprof_links *links)
{
	ezprof_links_close_all(links->fds, links->count);
	links->count = 0;
}
