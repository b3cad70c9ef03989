/* SPDX-License-Identifier: MIT */
#include "record_file.h"
#include "clock.h"
#include "trace_chrome.h"
#include "trace_perfetto.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART ".part"

/* A terminal, a pipe or /dev/null is written to as it is. */
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

int ezprof_record_file_try(const char *path)
{
	char *part = part_of(path);
	int fd, err = 0;

	if (!part)
		return -ENOMEM;
	fd = open(part, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		err = -errno;
	else
		close(fd);
	if (!err && !is_special(path))
		unlink(part);
	free(part);
	return err;
}

/* "a/b.pftrace" -> "a/b-3.pftrace". */
static char *numbered(const char *path, unsigned int dump)
{
	const char *dot = strrchr(path, '.');
	char *name = NULL;

	if (!dump)
		return strdup(path);
	if (asprintf(&name, "%.*s-%u%s", (int)(dot - path), path, dump, dot) < 0)
		return NULL;
	return name;
}

static int write_to(const struct ezprof_record_options *o, const struct ezprof_match *match,
		    FILE *file)
{
	char host[256] = "";
	struct ezprof_trace_about about = {.mono_ns = ez_clock_read_ns(CLOCK_MONOTONIC),
					   .real_ns = ez_clock_read_ns(CLOCK_REALTIME),
					   .boot_ns = ez_clock_read_ns(CLOCK_BOOTTIME),
					   .host = host,
					   .program = "ezprof " EZPROF_VERSION,
					   .flight_s = o->flight_s};
	struct ezprof_trace_model *model;
	int err = ezprof_trace_model_new(match, &model);

	if (err)
		return err;
	gethostname(host, sizeof(host) - 1);
	err = o->json ? ezprof_chrome_write(model, &about, file)
		      : ezprof_perfetto_write(model, &about, file);
	ezprof_trace_model_free(model);
	return err;
}

static int write_part(const struct ezprof_record_options *o, const struct ezprof_match *match,
		      const char *part)
{
	FILE *file = fopen(part, "we");
	int err;

	if (!file)
		return -errno;
	errno = 0;
	err = write_to(o, match, file);
	if (!err && fflush(file))
		err = -EIO;
	if (err == -EIO && errno)
		err = -errno;
	if (fclose(file) && !err)
		err = -errno;
	return err;
}

int ezprof_record_file_write(const struct ezprof_record_options *o,
			     const struct ezprof_match *match, unsigned int dump, char **ret_path)
{
	char *path = numbered(o->path, dump), *part = path ? part_of(path) : NULL;
	int err = part ? write_part(o, match, part) : -ENOMEM;

	if (part && strcmp(part, path) != 0) {
		if (!err && rename(part, path))
			err = -errno;
		if (err)
			unlink(part);
	}
	free(part);
	if (err)
		free(path);
	else
		*ret_path = path;
	return err;
}
