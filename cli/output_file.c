/* SPDX-License-Identifier: MIT */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART ".part"

static bool is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

static char *part_of(const char *path)
{
	char *part = NULL;

	return asprintf(&part, "%s%s", path, is_special(path) ? "" : PART) < 0 ? NULL : part;
}

void ezprof_output_file_hold(sigset_t *before)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &ends, before);
}

void ezprof_output_file_release(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

int ezprof_output_file_try(const char *path)
{
	char *part = part_of(path);
	sigset_t before;
	int fd, err = 0;

	if (!part)
		return -ENOMEM;
	ezprof_output_file_hold(&before);
	fd = open(part, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		err = -errno;
	else
		close(fd);
	if (!err && !is_special(path))
		unlink(part);
	ezprof_output_file_release(&before);
	free(part);
	return err;
}

static int write_part(const char *part, ezprof_output_fn write, void *user)
{
	FILE *file = fopen(part, "we");
	int err;

	if (!file)
		return -errno;
	errno = 0;
	err = write(file, user);
	if (!err && fflush(file))
		err = -EIO;
	if (err == -EIO && errno)
		err = -errno;
	if (fclose(file) && !err)
		err = -errno;
	return err;
}

int ezprof_output_file_write(const char *path, ezprof_output_fn write, void *user)
{
	char *part = part_of(path);
	bool held = !is_special(path); /* who reads a pipe may take its time */
	sigset_t before;
	int err;

	if (held)
		ezprof_output_file_hold(&before);
	err = part ? write_part(part, write, user) : -ENOMEM;
	if (part && strcmp(part, path) != 0) {
		if (!err && rename(part, path))
			err = -errno;
		if (err)
			unlink(part);
	}
	if (held)
		ezprof_output_file_release(&before);
	free(part);
	return err;
}
