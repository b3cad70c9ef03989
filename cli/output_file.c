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

/* Signals that end the program wait until nothing half is left behind. */
static void hold_signals(sigset_t *ret_before)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, ret_before);
}

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

int ezprof_output_file_try(const char *path)
{
	char *part = part_of(path);
	sigset_t before;
	int fd, err = 0;

	if (!part)
		return -ENOMEM;
	hold_signals(&before);
	fd = open(part, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		err = -errno;
	else
		close(fd);
	if (!err && !is_special(path))
		unlink(part);
	sigprocmask(SIG_SETMASK, &before, NULL);
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
	sigset_t before;
	int err;

	hold_signals(&before);
	err = part ? write_part(part, write, user) : -ENOMEM;
	if (part && strcmp(part, path) != 0) {
		if (!err && rename(part, path))
			err = -errno;
		if (err)
			unlink(part);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(part);
	return err;
}
