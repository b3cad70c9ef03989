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
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fd.h"
#include "parse.h"

#define MARK_PREFIX "server-"
#define LINE_BYTES 128
#define NAME_BYTES 48
#define TRUSTED_MAX 64
/* Of a folder that its user can fill as he likes. */
#define ENTRIES_MAX 1024u

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

/* The mark's name, and the one that a second network's server on the same port falls back to. */
static void name_of(char name[NAME_BYTES], uint16_t port, uint64_t netns)
{
	if (netns)
		snprintf(name, NAME_BYTES, MARK_PREFIX "%u-%ju", (unsigned int)port,
			 (uintmax_t)netns);
	else
		snprintf(name, NAME_BYTES, MARK_PREFIX "%u", (unsigned int)port);
}

/* "server-<port>" or "server-<port>-<netns>". */
static int parse_name(const char *name, uint16_t *ret_port)
{
	char port[8];
	size_t len;

	if (strncmp(name, MARK_PREFIX, strlen(MARK_PREFIX)) != 0)
		return -EBADMSG;
	name += strlen(MARK_PREFIX);
	len = strcspn(name, "-");
	if (len >= sizeof(port))
		return -EBADMSG;
	memcpy(port, name, len);
	port[len] = '\0';
	return ez_parse_port(port, ret_port);
}

static int write_mark_in(int dir_fd, const char *name, const char *line)
{
	char temp[NAME_BYTES + 16];
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
	/* It lasts as long as we do, whatever pid namespace a reader is in: see sweep_mark(). */
	if (!err && flock(fd, LOCK_EX | LOCK_NB) < 0)
		err = -errno;
	if (!err && renameat(dir_fd, temp, dir_fd, name) < 0)
		err = -errno;
	if (err) {
		unlinkat(dir_fd, temp, 0);
		ez_fd_close(fd);
		return err;
	}
	return fd;
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

static bool is_alive(const struct mark_line *line)
{
	uint64_t start;

	return start_time_of((pid_t)line->pid, &start) == 0 && start == line->start;
}

/* The mark as it stands in the folder; only one of our own. 0 or negative errno. */
static int open_own_mark(int dir_fd, const char *name, struct mark_line *ret_line, int *ret_fd)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[LINE_BYTES];
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid())
		n = read(fd, text, sizeof(text) - 1);
	if (n < 0) {
		ez_fd_close(fd);
		return -EPERM;
	}
	text[n] = '\0';
	if (parse_line(text, ret_line))
		memset(ret_line, 0, sizeof(*ret_line));
	*ret_fd = fd;
	return 0;
}

/*
 * Removes the mark if its server is gone: nobody holds its lock, and no process that we can see is
 * the one it names. Either alone could be wrong: a server of an older version holds no lock, and
 * one in another pid namespace can't be seen.
 */
static void sweep_mark(int dir_fd, const char *name)
{
	struct mark_line line;
	int fd;

	if (open_own_mark(dir_fd, name, &line, &fd))
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && (line.pid == 0 || !is_alive(&line)))
		unlinkat(dir_fd, name, 0);
	ez_fd_close(fd);
}

/* What servers left that were killed. */
static void sweep_folder(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	uint16_t port;

	if (!dir) {
		ez_fd_close(fd);
		return;
	}
	while ((entry = readdir(dir)))
		if (parse_name(entry->d_name, &port) == 0)
			sweep_mark(dir_fd, entry->d_name);
	closedir(dir);
}

/* Is the port's plain name taken by a server that lives in another network? */
static bool is_taken(int dir_fd, const char *name, uint64_t netns)
{
	struct mark_line line;
	bool taken;
	int fd;

	if (open_own_mark(dir_fd, name, &line, &fd))
		return false;
	taken = line.netns != netns && (is_alive(&line) || flock(fd, LOCK_EX | LOCK_NB) < 0);
	ez_fd_close(fd);
	return taken;
}

static int mark_folder(int dir_fd, uint16_t port, char name[NAME_BYTES])
{
	char line[LINE_BYTES];
	uint64_t netns = 0;
	int err = own_line(line);

	if (!err)
		err = own_netns(&netns);
	if (err)
		return err;
	sweep_folder(dir_fd);
	name_of(name, port, 0);
	if (is_taken(dir_fd, name, netns))
		name_of(name, port, netns);
	return write_mark_in(dir_fd, name, line);
}

int ez_server_folder_open(char ret_path[PATH_MAX])
{
	int dir_fd = -ENOENT;

	for (int i = 0; folder_of(geteuid(), i, ret_path); i++) {
		if (!*ret_path)
			continue;
		dir_fd = open_own_folder(ret_path, i == 0 ? 0755 : 0700);
		if (dir_fd >= 0)
			return dir_fd;
	}
	return dir_fd;
}

int ez_server_mark_write(uint16_t port, struct ez_server_mark_file *ret_file)
{
	char folder[PATH_MAX], name[NAME_BYTES];
	int dir_fd = ez_server_folder_open(folder);
	int fd;

	if (dir_fd < 0)
		return dir_fd;
	fd = mark_folder(dir_fd, port, name);
	ez_fd_close(dir_fd);
	if (fd < 0)
		return fd;
	if (asprintf(&ret_file->path, "%s/%s", folder, name) < 0) {
		ez_fd_close(fd);
		return -ENOMEM;
	}
	ret_file->lock_fd = fd;
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

void ez_server_mark_remove(struct ez_server_mark_file *file)
{
	char text[LINE_BYTES], line[LINE_BYTES];

	if (!file->path)
		return;
	if (own_line(line) == 0 && read_text(AT_FDCWD, file->path, text, sizeof(text)) == 0 &&
	    strcmp(text, line) == 0)
		unlink(file->path);
	free(file->path);
	file->path = NULL;
	file->lock_fd = ez_fd_close(file->lock_fd);
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
	char folder[PATH_MAX], name[NAME_BYTES], second[NAME_BYTES];
	struct ez_server_mark mark;
	struct trusted trusted;
	uint64_t netns = 0;
	int err = own_netns(&netns);

	if (err)
		return err;
	collect_trusted(&trusted, uids, n);
	name_of(name, port, 0);
	name_of(second, port, netns);
	for (size_t u = 0; u < trusted.n; u++) {
		for (int i = 0; folder_of(trusted.uids[u], i, folder); i++) {
			int dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			int found;

			if (dir_fd < 0)
				continue;
			found = check_mark(dir_fd, name, &trusted, &mark) ||
				check_mark(dir_fd, second, &trusted, &mark);
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
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		ez_fd_close(fd);
		return count;
	}
	for (unsigned int i = 0; i < ENTRIES_MAX && count < max && (entry = readdir(dir)); i++) {
		struct ez_server_mark mark;
		bool known = false;

		if (parse_name(entry->d_name, &mark.port) != 0 ||
		    !check_mark(dirfd(dir), entry->d_name, trusted, &mark))
			continue;
		for (size_t k = 0; k < count; k++)
			known = known || marks[k].port == mark.port;
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
