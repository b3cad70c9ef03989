/* SPDX-License-Identifier: MIT */
/*
 * The privileged half: opens for a process what it is asked to, and keeps nothing but the program.
 * Files are opened only where the process has them mapped for execution, through the kernel's own
 * link to the mapped file, so that names in the process's reach decide nothing.
 */
#include "loader.h"
#include "opener_message.h"
#include "proc_maps.h"
#include "server_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct server {
	int socket_fd;
	int program_fds[3]; /* boundary, window, spans; -1: none */
	bool uprobe_multi, pid_filter;
};

static int pid_fd_open(pid_t pid)
{
	long fd = syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : (int)fd;
}

/* The folder of a living process; with start_time != 0, of that very one. */
static int open_living(pid_t pid, uint64_t start_time, struct ezprof_proc_info *ret_info,
		       int *ret_dir)
{
	int dir, err = ezprof_proc_open(pid, &dir);

	if (err)
		return err;
	err = ezprof_proc_info(dir, ret_info);
	if (!err && ret_info->tgid != pid)
		err = -EINVAL;
	if (!err && start_time && ret_info->start_time != start_time)
		err = -ESRCH;
	if (!err && (ret_info->state == 'Z' || ret_info->state == 'X'))
		err = start_time ? -ESRCH : -ECHILD;
	if (err)
		close(dir);
	else
		*ret_dir = dir;
	return err;
}

static int open_in(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	return errno == ENOENT ? -ESRCH : -errno;
}

static int add_fd(struct ezprof_opener_fds *fds, int fd)
{
	if (fd < 0)
		return fd;
	fds->fds[fds->count++] = fd;
	return 0;
}

static int serve_process(const struct ezprof_opener_request *r, struct ezprof_opener_answer *a,
			 struct ezprof_opener_fds *fds)
{
	struct ezprof_proc_info again;
	int dir, err = open_living(r->pid, r->start_time, &a->info, &dir);

	if (err)
		return err;
	/* Some is opened by the number; the folder, still alive after that, vouches for it. */
	err = add_fd(fds, pid_fd_open(r->pid));
	if (!err)
		err = add_fd(fds, open_in(dir, "mem"));
	if (!err)
		err = add_fd(fds, open_in(dir, "maps"));
	if (!err)
		err = ezprof_process_namespaces(r->pid, &a->namespaces);
	if (!err)
		err = ezprof_proc_info(dir, &again);
	close(dir);
	if (err == -EPERM || err == -EACCES)
		ezprof_privileges_explain(EZPROF_ATTEMPT_MEMORY, err, &a->refusal);
	return err;
}

/* A file by its path, as seen from the process's own root. */
static int open_by_path(int dir, const char *path)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
	int root = openat(dir, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	long fd;
	int err = errno;

	if (root < 0)
		return -err;
	fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	err = errno;
	close(root);
	return fd < 0 ? -err : (int)fd;
}

/* Opens for reading what O_PATH has found, if it is a regular file and the one that is mapped. */
static int reopen_regular(int path_fd, uint64_t inode)
{
	char path[32];
	struct stat st;
	int fd;

	if (fstat(path_fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_ino != inode)
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * map_files wants CAP_CHECKPOINT_RESTORE (CAP_SYS_ADMIN before Linux 5.9); without it the path will
 * do, unless the file was replaced.
 */
static int open_mapped(int dir, const struct ezprof_proc_map *map)
{
	char name[64];
	int path_fd, fd;

	snprintf(name, sizeof(name), "map_files/%" PRIx64 "-%" PRIx64, map->start, map->end);
	path_fd = openat(dir, name, O_PATH | O_CLOEXEC);
	if (path_fd < 0)
		path_fd = open_by_path(dir, map->path);
	if (path_fd < 0)
		return path_fd;
	fd = reopen_regular(path_fd, map->inode);
	close(path_fd);
	return fd;
}

static int find_mapping(int dir, const struct ezprof_opener_request *r,
			struct ezprof_proc_maps *maps, struct ezprof_proc_map *ret_map)
{
	int fd = open_in(dir, "maps");
	int err;

	if (fd < 0)
		return fd;
	err = ezprof_proc_maps_read(fd, maps);
	close(fd);
	if (err)
		return err;
	while (ezprof_proc_maps_next(maps, ret_map)) {
		if (ret_map->start == r->map_start && ret_map->end == r->map_end &&
		    ret_map->executable && ret_map->inode)
			return 0;
	}
	ezprof_proc_maps_free(maps);
	return -ENOENT;
}

static int serve_object(const struct ezprof_opener_request *r, struct ezprof_opener_answer *a,
			struct ezprof_opener_fds *fds)
{
	struct ezprof_proc_maps maps;
	struct ezprof_proc_map map;
	int dir, err = open_living(r->pid, r->start_time, &a->info, &dir);

	if (err)
		return err;
	err = find_mapping(dir, r, &maps, &map);
	if (!err) {
		err = add_fd(fds, open_mapped(dir, &map));
		ezprof_proc_maps_free(&maps);
	}
	close(dir);
	if (err == -EPERM || err == -EACCES)
		ezprof_privileges_explain(EZPROF_ATTEMPT_OBJECT, err, &a->refusal);
	return err;
}

/* NULL: no such path. */
static int *program_of(struct server *server, uint32_t path)
{
	if (path == EZPROF_PATH_BOUNDARY)
		return &server->program_fds[0];
	if (path == EZPROF_PATH_SPANS)
		return &server->program_fds[2];
	return path == EZPROF_PATH_WINDOW ? &server->program_fds[1] : NULL;
}

/* Marks lie in folders that only their owners may look into. */
static int serve_mark(const struct ezprof_opener_request *r)
{
	uid_t uid = r->uid;
	int found;

	if (!r->port || r->port > UINT16_MAX)
		return -EINVAL;
	found = ez_server_mark_find((uint16_t)r->port, &uid, 1);
	return found > 0 ? 0 : found < 0 ? found : -ENOENT;
}

static int serve_program(struct server *server, const struct ezprof_opener_request *r,
			 struct ezprof_opener_fds *given)
{
	int *program_fd = program_of(server, r->path);

	if (given->count != 1 || !program_fd)
		return -EINVAL;
	if (*program_fd >= 0)
		close(*program_fd);
	*program_fd = given->fds[0];
	given->count = 0;
	server->uprobe_multi = r->uprobe_multi;
	server->pid_filter = r->pid_filter;
	/* Now it is known whether links need CAP_SYS_ADMIN: by uprobe_multi they don't. */
	return r->uprobe_multi ? ezprof_privileges_reduce(false)
			       : ezprof_privileges_reduce_to(ezprof_links_may_perf_event);
}

static int create_links(struct server *server, const struct ezprof_opener_request *r, int object_fd,
			struct ezprof_opener_fds *fds)
{
	const int *program_fd = program_of(server, r->path);
	struct ezprof_link_request link = {
		.program_fd = program_fd ? *program_fd : -1,
		.uprobe_multi = server->uprobe_multi,
		.object_fd = object_fd,
		.pid = server->pid_filter ? r->pid : 0,
		.site_count = r->site_count,
	};

	if (link.program_fd < 0 || r->site_count > EZPROF_LINKS_MAX)
		return -EINVAL;
	memcpy(link.sites, r->sites, r->site_count * sizeof(r->sites[0]));
	return ezprof_links_create(&link, fds->fds, &fds->count);
}

static int serve_link(struct server *server, const struct ezprof_opener_request *r,
		      const struct ezprof_opener_fds *given, struct ezprof_opener_answer *a,
		      struct ezprof_opener_fds *fds)
{
	int dir = -1, err = 0;

	if (given->count != 1)
		return -EINVAL;
	if (r->pid)
		err = open_living(r->pid, r->start_time, &a->info, &dir);
	if (!err)
		err = create_links(server, r, given->fds[0], fds);
	/* The link was made by number: was it still that process's? */
	if (!err && r->pid)
		err = ezprof_proc_info(dir, &a->info);
	if (dir >= 0)
		close(dir);
	if (err == -EPERM || err == -EACCES || err == -ENODEV)
		ezprof_privileges_explain(server->uprobe_multi ? EZPROF_ATTEMPT_LINK
							       : EZPROF_ATTEMPT_PERF_EVENT,
					  err, &a->refusal);
	return err;
}

static int serve(struct server *server, const struct ezprof_opener_request *r,
		 struct ezprof_opener_fds *given, struct ezprof_opener_answer *a,
		 struct ezprof_opener_fds *fds)
{
	switch (r->op) {
	case EZPROF_OPENER_PROCESS:
		return serve_process(r, a, fds);
	case EZPROF_OPENER_OBJECT:
		return serve_object(r, a, fds);
	case EZPROF_OPENER_MARK:
		return serve_mark(r);
	case EZPROF_OPENER_PROGRAM:
		return serve_program(server, r, given);
	case EZPROF_OPENER_LINK:
		return serve_link(server, r, given, a, fds);
	default:
		return -EINVAL;
	}
}

int ezprof_opener_serve(int socket_fd)
{
	struct server server = {.socket_fd = socket_fd, .program_fds = {-1, -1, -1}};
	struct ezprof_opener_request request;
	struct ezprof_opener_fds given, fds;
	int err;

	for (;;) {
		struct ezprof_opener_answer answer = {0};

		err = ezprof_opener_receive(socket_fd, &request, sizeof(request), &given);
		if (err)
			break;
		fds.count = 0;
		answer.status = serve(&server, &request, &given, &answer, &fds);
		if (answer.status)
			ezprof_opener_fds_close(&fds);
		err = ezprof_opener_send(socket_fd, &answer, sizeof(answer), &fds);
		/* Nothing is kept: the agent's death must detach at once. */
		ezprof_opener_fds_close(&fds);
		ezprof_opener_fds_close(&given);
		if (err)
			break;
	}
	return err == -EPIPE ? 0 : 1;
}
