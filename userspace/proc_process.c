/* SPDX-License-Identifier: MIT */
/* Reads /proc/PID/stat and status; see proc_process.h. */
#include "proc_process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES_MAX 4096u

int ezprof_proc_open(pid_t pid, int *ret_dir_fd)
{
	char path[32];
	int fd;

	if (pid <= 0)
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%d", pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	*ret_dir_fd = fd;
	return 0;
}

static int read_text(int dir_fd, const char *name, char text[FILE_BYTES_MAX])
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;
	int err = errno;

	if (fd < 0)
		return err == ENOENT ? -ESRCH : -err;
	n = read(fd, text, FILE_BYTES_MAX - 1);
	err = errno;
	close(fd);
	if (n < 0)
		return -err;
	text[n] = '\0';
	return n > 0 ? 0 : -ESRCH;
}

/* "pid (comm) state ...": comm may hold anything, parentheses included, so the last one counts. */
static int parse_stat(const char *text, struct ezprof_proc_info *info)
{
	const char *begin = strchr(text, '(');
	const char *end = strrchr(text, ')');
	size_t bytes;

	if (!begin || !end || end < begin)
		return -EIO;
	bytes = (size_t)(end - begin - 1);
	if (bytes >= sizeof(info->comm))
		bytes = sizeof(info->comm) - 1;
	memcpy(info->comm, begin + 1, bytes);
	info->comm[bytes] = '\0';
	/* From the state, field 3, on to the start time, field 22. */
	if (sscanf(end + 1,
		   " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
		   " %" SCNu64,
		   &info->state, &info->start_time) != 2)
		return -EIO;
	return 0;
}

static int parse_status(const char *text, struct ezprof_proc_info *info)
{
	const char *tgid = strstr(text, "\nTgid:");
	const char *uid = strstr(text, "\nUid:");

	if (!tgid || sscanf(tgid, "\nTgid: %d", &info->tgid) != 1)
		return -EIO;
	if (!uid || sscanf(uid, "\nUid: %*u %u", &info->uid) != 1)
		return -EIO;
	return 0;
}

int ezprof_proc_info(int dir_fd, struct ezprof_proc_info *ret_info)
{
	struct ezprof_proc_info info = {0};
	char text[FILE_BYTES_MAX];
	int err;

	err = read_text(dir_fd, "stat", text);
	if (!err)
		err = parse_stat(text, &info);
	if (!err)
		err = read_text(dir_fd, "status", text);
	if (!err)
		err = parse_status(text, &info);
	if (!err)
		*ret_info = info;
	return err;
}
