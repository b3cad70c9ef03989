/* SPDX-License-Identifier: MIT */
#include "record_file.h"
#include "clock.h"
#include "output_file.h"
#include "trace_chrome.h"
#include "trace_perfetto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

struct recording {
	const struct ezprof_record_options *options;
	const struct ezprof_match *match;
};

static int write_to(FILE *file, void *user)
{
	const struct recording *recording = user;
	const struct ezprof_record_options *o = recording->options;
	char host[256] = "";
	struct ezprof_trace_about about = {.mono_ns = ez_clock_read_ns(CLOCK_MONOTONIC),
					   .real_ns = ez_clock_read_ns(CLOCK_REALTIME),
					   .boot_ns = ez_clock_read_ns(CLOCK_BOOTTIME),
					   .host = host,
					   .program = "ezprof " EZPROF_VERSION,
					   .flight_s = o->flight_s};
	struct ezprof_trace_model *model;
	int err = ezprof_trace_model_new(recording->match, &model);

	if (err)
		return err;
	gethostname(host, sizeof(host) - 1);
	err = o->json ? ezprof_chrome_write(model, &about, file)
		      : ezprof_perfetto_write(model, &about, file);
	ezprof_trace_model_free(model);
	return err;
}

int ezprof_record_file_write(const struct ezprof_record_options *o,
			     const struct ezprof_match *match, unsigned int dump, char **ret_path)
{
	struct recording recording = {o, match};
	char *path = numbered(o->path, dump);
	int err = path ? ezprof_output_file_write(path, write_to, &recording) : -ENOMEM;

	if (err)
		free(path);
	else
		*ret_path = path;
	return err;
}
