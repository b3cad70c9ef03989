/* SPDX-License-Identifier: MIT */
#include "server_mark.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fd.h"
#include "parse.h"

#define MARK_PREFIX "server-"
#define LINE_BYTES 128
#define TRUSTED_MAX 64

struct mark_line {
	uint64_t pid;
	uint64_t start;
	uint64_t netns;
};

struct trusted {
	uid_t uids[TRUSTED_MAX];
	size_t n;
};

/* The i-th folder that a server of this user could have used; false after the last. */
static bool folder_of(uid_t uid, int i, char out[PATH_MAX])
{
	switch (i) {
	case 0:
		strcpy(out, uid == 0 ? "/run/ezprof" : "");
		return true;
	case 1:
		snprintf(out, PATH_MAX, "/run/user/%u/ezprof", (unsigned int)uid);
		return true;
	case 2:
		snprintf(out, PATH_MAX, "/tmp/ezprof-%u", (unsigned int)uid);
		return true;
	default:
		return false;
	}
}

static int read_text(int dir_fd, const char *name, char *out, size_t out_bytes)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;
	int err = 0;

	if (fd < 0)
		return -errno;
	n = read(fd, out, out_bytes - 1);
	if (n < 0)
		err = -errno;
	else
		out[n] = '\0';
	ez_fd_close(fd);
	return err;
}

/* Field 22 of /proc/pid/stat; the second field is a name that may hold blanks and brackets. */
static int start_time_of(pid_t pid, uint64_t *ret_start)
{
	char path[64], text[1024], *p, *end;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	err = read_text(AT_FDCWD, path, text, sizeof(text));
	if (err)
		return err;
	p = strrchr(text, ')');
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (!p)
		return -EBADMSG;
	end = strchr(++p, ' ');
	if (!end)
		return -EBADMSG;
	*end = '\0';
	return ez_parse_u64(p, ret_start);
}

static int own_netns(uint64_t *ret_netns)
{
	struct stat st;

	if (stat("/proc/self/ns/net", &st) < 0)
		return -errno;
	*ret_netns = st.st_ino;
	return 0;
}

/*
 * Opens the folder, made if need be; only one that belongs to us and that nobody else can write to.
 */
static int open_own_folder(const char *path, mode_t mode)
{
	struct stat st;
	int fd;

	if (mkdir(path, mode) < 0 && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/*
	 * Root's folder may have been made over to the agent's user, who can't forge root's file in
	 * it.
	 */
	if (fstat(fd, &st) < 0 || (st.st_uid != geteuid() && geteuid() != 0) ||
	    (st.st_mode & (S_IWGRP | S_IWOTH))) {
		ez_fd_close(fd);
		return -EPERM;
	}
	return fd;
}

static int write_mark_in(int dir_fd, const char *name, const char *line)
{
	char temp[64];
	size_t len = strlen(line);
	int fd, err = 0;

	snprintf(temp, sizeof(temp), ".%s.%d", name, (int)getpid());
	unlinkat(dir_fd, temp, 0);
	fd = openat(dir_fd, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	/* The umask may have hidden it; who may look into the folder may read it. */
	if (fchmod(fd, 0644) < 0 || write(fd, line, len) != (ssize_t)len)
		err = errno ? -errno : -EIO;
	if (!err && renameat(dir_fd, temp, dir_fd, name) < 0)
		err = -errno;
	if (err)
		unlinkat(dir_fd, temp, 0);
	ez_fd_close(fd);
	return err;
}

static int own_line(char line[LINE_BYTES])
{
	uint64_t start = 0, netns = 0;
	int err = start_time_of(getpid(), &start);

	if (!err)
		err = own_netns(&netns);
	if (!err)
		snprintf(line, LINE_BYTES, "pid=%d start=%ju netns=%ju\n", (int)getpid(),
			 (uintmax_t)start, (uintmax_t)netns);
	return err;
}

int ez_server_mark_write(uint16_t port, char **ret_path)
{
	char line[LINE_BYTES], folder[PATH_MAX], name[32];
	int err = own_line(line);

	if (err)
		return err;
	snprintf(name, sizeof(name), MARK_PREFIX "%u", (unsigned int)port);
	err = -ENOENT;
	for (int i = 0; folder_of(geteuid(), i, folder); i++) {
		int dir_fd;

		if (!*folder)
			continue;
		dir_fd = open_own_folder(folder, i == 0 ? 0755 : 0700);
		if (dir_fd < 0) {
			err = dir_fd;
			continue;
		}
		err = write_mark_in(dir_fd, name, line);
		ez_fd_close(dir_fd);
		if (!err)
			return asprintf(ret_path, "%s/%s", folder, name) < 0 ? -ENOMEM : 0;
	}
	return err;
}

/* "key=number" at *text, which moves behind it and the character that follows. */
static int take_number(const char **text, const char *key, uint64_t *ret_value)
{
	char number[24];
	size_t key_len = strlen(key), len;
	int err;

	if (strncmp(*text, key, key_len) != 0)
		return -EBADMSG;
	*text += key_len;
	len = strspn(*text, "0123456789");
	if (len >= sizeof(number))
		return -EBADMSG;
	memcpy(number, *text, len);
	number[len] = '\0';
	err = ez_parse_u64(number, ret_value);
	*text += len;
	if (**text)
		(*text)++;
	return err ? -EBADMSG : 0;
}

static int parse_line(const char *text, struct mark_line *ret_line)
{
	struct mark_line line;

	if (take_number(&text, "pid=", &line.pid) || take_number(&text, "start=", &line.start) ||
	    take_number(&text, "netns=", &line.netns) || *text || line.pid == 0 ||
	    line.pid > INT_MAX)
		return -EBADMSG;
	*ret_line = line;
	return 0;
}

static bool is_trusted(const struct trusted *trusted, uid_t uid)
{
	for (size_t i = 0; i < trusted->n; i++)
		if (trusted->uids[i] == uid)
			return true;
	return false;
}

/* Reads and judges one mark. 1 = valid, 0 = not. */
static int check_mark(int dir_fd, const char *name, const struct trusted *trusted,
		      struct ez_server_mark *ret_mark)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct mark_line line;
	char text[LINE_BYTES];
	uint64_t start = 0, netns = 0;
	struct stat st;
	ssize_t n;
	bool ok;

	if (fd < 0)
		return 0;
	ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && is_trusted(trusted, st.st_uid);
	n = ok ? read(fd, text, sizeof(text) - 1) : -1;
	ez_fd_close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	if (parse_line(text, &line) || start_time_of((pid_t)line.pid, &start) ||
	    own_netns(&netns) || line.start != start || line.netns != netns)
		return 0;
	ret_mark->pid = (pid_t)line.pid;
	ret_mark->owner = st.st_uid;
	return 1;
}

void ez_server_mark_remove(char *path)
{
	char text[LINE_BYTES], line[LINE_BYTES];

	if (path && own_line(line) == 0 && read_text(AT_FDCWD, path, text, sizeof(text)) == 0 &&
	    strcmp(text, line) == 0)
		unlink(path);
	free(path);
}

static void trust(struct trusted *trusted, uid_t uid)
{
	if (!is_trusted(trusted, uid) && trusted->n < TRUSTED_MAX)
		trusted->uids[trusted->n++] = uid;
}

static void collect_trusted(struct trusted *trusted, const uid_t *uids, size_t n)
{
	const char *sudo = getenv("SUDO_UID");
	uint64_t sudo_uid;

	trusted->n = 0;
	trust(trusted, 0);
	trust(trusted, geteuid());
	if (sudo && geteuid() == 0 && ez_parse_u64_range(sudo, 0, UINT32_MAX - 1, &sudo_uid) == 0)
		trust(trusted, (uid_t)sudo_uid);
	for (size_t i = 0; i < n; i++)
		trust(trusted, uids[i]);
}

int ez_server_mark_find(uint16_t port, const uid_t *uids, size_t n)
{
	struct ez_server_mark mark;
	char folder[PATH_MAX], name[32];
	struct trusted trusted;

	collect_trusted(&trusted, uids, n);
	snprintf(name, sizeof(name), MARK_PREFIX "%u", (unsigned int)port);
	for (size_t u = 0; u < trusted.n; u++) {
		for (int i = 0; folder_of(trusted.uids[u], i, folder); i++) {
			int dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			int found;

			if (dir_fd < 0)
				continue;
			found = check_mark(dir_fd, name, &trusted, &mark);
			ez_fd_close(dir_fd);
			if (found)
				return 1;
		}
	}
	return 0;
}

static size_t list_folder(const char *folder, const struct trusted *trusted,
			  struct ez_server_mark *marks, size_t count, size_t max)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	if (!dir)
		return count;
	while (count < max && (entry = readdir(dir))) {
		struct ez_server_mark mark;
		bool known = false;

		if (strncmp(entry->d_name, MARK_PREFIX, strlen(MARK_PREFIX)) != 0 ||
		    ez_parse_port(entry->d_name + strlen(MARK_PREFIX), &mark.port) != 0 ||
		    !check_mark(dirfd(dir), entry->d_name, trusted, &mark))
			continue;
		for (size_t i = 0; i < count; i++)
			known = known || marks[i].port == mark.port;
		if (!known)
			marks[count++] = mark;
	}
	closedir(dir);
	return count;
}

int ez_server_mark_list(const uid_t *uids, size_t n, struct ez_server_mark *marks, size_t max)
{
	struct trusted trusted;
	char folder[PATH_MAX];
	size_t count = 0;

	collect_trusted(&trusted, uids, n);
	for (size_t u = 0; u < trusted.n; u++)
		for (int i = 0; folder_of(trusted.uids[u], i, folder); i++)
			if (*folder)
				count = list_folder(folder, &trusted, marks, count, max);
	return (int)count;
}
