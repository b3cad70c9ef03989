/* SPDX-License-Identifier: MIT */
#include "export_file.h"
#include "exit_status.h"
#include "export_fetch.h"
#include "export_news.h"
#include "export_view.h"
#include "fd.h"
#include "output_file.h"
#include "report_loop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define PROGRAM "ezprof export"
/* The collector reads as another user. */
#define MODE 0644

struct writer {
	const struct ezprof_export_settings *settings;
	const char *path;
	struct ezprof_scrape_memory memory;
	struct ezprof_export_news news;
	struct ezprof_source_memory source;
	uint64_t count, failure_count;
	bool goes_on; /* a graph that isn't there now may come */
};

/* Beside it, under a name that the collector doesn't read, then renamed. */
static int replace(const char *path, const struct ez_buffer *text)
{
	char *part = NULL;
	sigset_t before;
	int fd, err;

	if (asprintf(&part, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	ezprof_output_file_hold(&before);
	fd = mkostemp(part, O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		ezprof_output_file_release(&before);
		free(part);
		return err;
	}
	err = ez_fd_write_all(fd, text->data, text->len);
	if (!err && fchmod(fd, MODE))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(part, path))
		err = -errno;
	if (err)
		unlink(part);
	ezprof_output_file_release(&before);
	free(part);
	return err;
}

static int write_page(const struct writer *writer, const struct ezprof_fetched *fetched)
{
	struct ezprof_export_facts facts = {
		.model = fetched->model,
		.memory = &writer->memory,
		.failure = fetched->failure,
		.duration_s = (double)(fetched->ended_ns - fetched->begun_ns) / 1e9,
		.scrapes = writer->count,
		.scrapes_failed = writer->failure_count,
		.series_max = writer->settings->series_max,
	};
	struct ez_buffer text;
	int err;

	ez_buffer_init(&text, SIZE_MAX / 2);
	ezprof_view_export(&text, &facts, EZPROF_TEXT_0_0_4);
	err = text.err ? text.err : replace(writer->path, &text);
	ez_buffer_free(&text);
	return err;
}

/* The loop makes a last report then, of a file that is about to be removed. */
static bool is_to_end(const struct writer *writer)
{
	sigset_t pending;

	return writer->goes_on && sigpending(&pending) == 0 &&
	       (sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1);
}

static int report(void *user)
{
	struct writer *writer = user;
	struct ezprof_fetched fetched;
	int err = 0, status;

	if (is_to_end(writer))
		return EZPROF_EXIT_OK;
	ezprof_export_fetch_now(writer->settings->graph, writer->settings->window_s,
				&writer->source, &fetched);
	ezprof_export_news_tell(&writer->news, fetched.messages);
	if (fetched.model)
		err = ezprof_scrape_memory_renew(&writer->memory, fetched.model);
	writer->count++;
	writer->failure_count += !fetched.model;
	if (!err)
		err = write_page(writer, &fetched);
	if (err)
		fprintf(stderr, "%s: %s: %s\n", PROGRAM, writer->path, strerror(-err));
	status = fetched.model || writer->goes_on ? EZPROF_EXIT_OK : EZPROF_EXIT_FAILURE;
	ezprof_fetched_free(&fetched);
	return err ? EZPROF_EXIT_FAILURE : status;
}

int ezprof_export_file(const struct ezprof_export_settings *settings, const char *path,
		       double interval_s)
{
	struct writer writer = {.settings = settings, .path = path, .goes_on = interval_s > 0};
	int status;

	if (interval_s > 0) {
		status = ezprof_report_loop(PROGRAM, interval_s, 0, report, &writer);
		unlink(path);
	} else {
		status = report(&writer);
	}
	ezprof_scrape_memory_free(&writer.memory);
	ezprof_export_news_free(&writer.news);
	return status;
}
