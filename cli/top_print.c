/* SPDX-License-Identifier: MIT */
#include "top_print.h"
#include "fd.h"
#include "top_page.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void ezprof_top_when(const struct ezprof_model *model, char out[EZPROF_WHEN_BYTES])
{
	time_t seconds;
	struct tm parts;

	out[0] = '\0';
	/* Beyond that it is no time of day, and not every time_t has a year. */
	if (!model || !(model->time_unix_s > 0 && model->time_unix_s < 1e11))
		return;
	seconds = (time_t)model->time_unix_s;
	if (localtime_r(&seconds, &parts))
		strftime(out, EZPROF_WHEN_BYTES, "%H:%M:%S", &parts);
}

bool ezprof_top_is_ascii(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}

/* Problems and advice, behind an empty line, unless the one above the table is all there is. */
static void put_causes(struct ez_buffer *out, const struct ezprof_findings *findings,
		       unsigned int columns)
{
	struct ezprof_screen causes;

	if (findings->n < 2 || ezprof_finding_weight(findings->list[1].kind) == EZPROF_NOTE)
		return;
	ezprof_screen_init(&causes, columns);
	ezprof_screen_end_line(&causes, false);
	ezprof_top_page_causes(findings, false, &causes);
	ezprof_screen_plain(&causes, out);
	ezprof_screen_free(&causes);
}

int ezprof_top_print(struct ez_buffer *out, const struct ezprof_watch *watch, const char *source,
		     const struct ezprof_top_control *control, unsigned int columns, bool ascii)
{
	struct ezprof_top_control all = *control;
	char when[EZPROF_WHEN_BYTES];
	struct ezprof_top_picture picture = {.model = watch->model,
					     .findings = &watch->findings,
					     .history = watch->history,
					     .source = source,
					     .when = when,
					     .trouble = "",
					     .columns = columns,
					     .ascii = ascii};
	struct ezprof_screen screen;
	int err;

	ezprof_top_when(watch->model, when);
	/* The table from its first row on, whatever is on the screen. */
	all.mode = EZPROF_TOP_BROWSE;
	all.selected = NULL;
	all.index = all.first = 0;
	all.moved = false;
	err = ezprof_top_compose(&picture, &all, &screen);
	if (!err)
		ezprof_screen_plain(&screen, out);
	ezprof_screen_free(&screen);
	if (!err)
		put_causes(out, &watch->findings, columns);
	return err ? err : out->err;
}

int ezprof_top_save(const char *path, const struct ez_buffer *text)
{
	struct stat st;
	bool is_new = true;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666), err;

	if (fd < 0 && errno == EEXIST && stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		/* A pipe that nobody reads must not hold the screen up. */
		fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
		is_new = false;
	}
	if (fd < 0)
		return -errno;
	err = ez_fd_write_all(fd, text->data, text->len);
	if (close(fd) && !err)
		err = -errno;
	if (err && is_new)
		unlink(path);
	return err;
}
