/* SPDX-License-Identifier: MIT */
/* Where an agent's socket lies, and how it is made while the agent still has its rights. */
#include "agent_socket.h"
#include "clock.h"
#include "fd.h"
#include "parse.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Who finds it full is refused at once, not kept waiting. */
#define BACKLOG 128

int ezprof_agent_socket_folder(uid_t uid, unsigned int i,
			       char ret_folder[EZPROF_SOCKET_FOLDER_BYTES])
{
	const char *runtime = uid == geteuid() ? getenv("XDG_RUNTIME_DIR") : NULL;
	int n = 0;

	ret_folder[0] = '\0';
	if (uid == 0) {
		if (i > 0)
			return -ENOENT;
		n = snprintf(ret_folder, EZPROF_SOCKET_FOLDER_BYTES, "/run/ezprof");
	} else if (i == 0 && runtime && runtime[0] == '/') {
		n = snprintf(ret_folder, EZPROF_SOCKET_FOLDER_BYTES, "%s/ezprof", runtime);
	} else if (i <= 1) {
		n = snprintf(ret_folder, EZPROF_SOCKET_FOLDER_BYTES, "/run/user/%u/ezprof", uid);
	} else if (i == 2) {
		n = snprintf(ret_folder, EZPROF_SOCKET_FOLDER_BYTES, "/tmp/ezprof-%u", uid);
	}
	if (n <= 0)
		return -ENOENT;
	if (n >= EZPROF_SOCKET_FOLDER_BYTES)
		ret_folder[0] = '\0';
	return 0;
}

/* Ours alone to write to; root's may have been made over to another user by an agent before. */
static int open_folder(const char *path, uid_t uid, gid_t gid)
{
	mode_t mode = geteuid() == 0 ? 0755 : 0700;
	struct stat st;
	int fd, err = 0;

	if (!*path)
		return -ENAMETOOLONG;
	if (mkdir(path, mode) && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if ((st.st_uid != geteuid() && geteuid() != 0) || (st.st_mode & (S_IWGRP | S_IWOTH)))
		err = -EPERM;
	else if (st.st_uid != uid && fchown(fd, uid, gid))
		err = -errno;
	if (err) {
		ez_fd_close(fd);
		return err;
	}
	return fd;
}

/* The pid in "agent-<pid>.sock"; 0 = another file. */
static pid_t pid_of_name(const char *name)
{
	size_t n = strlen(name), prefix = strlen(EZPROF_AGENT_SOCKET_PREFIX),
	       suffix = strlen(EZPROF_AGENT_SOCKET_SUFFIX);
	char digits[16];
	pid_t pid;

	if (n <= prefix + suffix || n - prefix - suffix >= sizeof(digits) ||
	    strncmp(name, EZPROF_AGENT_SOCKET_PREFIX, prefix) != 0 ||
	    strcmp(name + n - suffix, EZPROF_AGENT_SOCKET_SUFFIX) != 0)
		return 0;
	memcpy(digits, name + prefix, n - prefix - suffix);
	digits[n - prefix - suffix] = '\0';
	return ez_parse_pid(digits, &pid) ? 0 : pid;
}

/* Nobody listens there any more. The pid in the name says nothing: it may be of another namespace.
 */
static bool is_stale(const char *folder, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int n = snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", folder, name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool stale = false;

	if (fd >= 0 && n > 0 && (size_t)n < sizeof(address.sun_path))
		stale = connect(fd, (struct sockaddr *)&address, sizeof(address)) &&
			errno == ECONNREFUSED;
	ez_fd_close(fd);
	return stale;
}

/* Agents that were killed leave their socket behind. */
static void remove_stale(const char *path, int folder_fd)
{
	int copy = fcntl(folder_fd, F_DUPFD_CLOEXEC, 0);
	DIR *folder = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!folder) {
		ez_fd_close(copy);
		return;
	}
	while ((entry = readdir(folder))) {
		if (pid_of_name(entry->d_name) && is_stale(path, entry->d_name))
			unlinkat(folder_fd, entry->d_name, 0);
	}
	closedir(folder);
}

/* A socket that listens under a name that nobody looks for, so that it is never taken for a stale
 * one; everybody may connect: the kernel says who it is, and each sees what is theirs. */
static int listen_at(const char *path, int *ret_fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err = 0;

	if (fd < 0 || strlen(path) >= sizeof(address.sun_path)) {
		err = fd < 0 ? -errno : -ENAMETOOLONG;
		ez_fd_close(fd);
		return err;
	}
	strcpy(address.sun_path, path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)))
		err = -errno;
	else if (chmod(path, 0666) || listen(fd, BACKLOG))
		err = -errno;
	if (err)
		ez_fd_close(fd);
	else
		*ret_fd = fd;
	return err;
}

static int bind_in(const char *folder, int folder_fd, int *ret_fd, char **ret_path)
{
	char *path = NULL, *quiet = NULL;
	int fd = -1, err = -ENOMEM;

	remove_stale(folder, folder_fd);
	if (asprintf(&path, "%s/" EZPROF_AGENT_SOCKET_PREFIX "%d" EZPROF_AGENT_SOCKET_SUFFIX,
		     folder, (int)getpid()) < 0)
		path = NULL;
	if (path &&
	    asprintf(&quiet, "%s/.%d-%" PRIu64, folder, (int)getpid(), ez_clock_mono_ns()) < 0)
		quiet = NULL;
	if (quiet)
		err = listen_at(quiet, &fd);
	/* -EEXIST: an agent in another pid namespace has the same pid. */
	if (!err && link(quiet, path))
		err = -errno;
	if (quiet)
		unlink(quiet);
	free(quiet);
	if (err) {
		ez_fd_close(fd);
		free(path);
		return err;
	}
	*ret_fd = fd;
	*ret_path = path;
	return 0;
}

int ezprof_agent_socket_open(uid_t uid, gid_t gid, int *ret_fd, char **ret_path)
{
	char folder[EZPROF_SOCKET_FOLDER_BYTES];
	int folder_fd, err = -ENOENT;
	unsigned int i;

	for (i = 0; ezprof_agent_socket_folder(geteuid(), i, folder) == 0; i++) {
		folder_fd = open_folder(folder, uid, gid);
		err = folder_fd < 0 ? folder_fd : bind_in(folder, folder_fd, ret_fd, ret_path);
		ez_fd_close(folder_fd);
		if (!err)
			return 0;
	}
	return err;
}
