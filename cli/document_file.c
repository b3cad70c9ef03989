/* SPDX-License-Identifier: MIT */
#include "document_file.h"
#include "buffer.h"
#include "exit_status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES_MAX (1u << 28)
#define STEP_BYTES 65536u

static int read_all(int fd, struct ez_buffer *out)
{
	for (;;) {
		uint8_t *to = ez_buffer_reserve(out, STEP_BYTES);
		ssize_t n = to ? read(fd, to, STEP_BYTES) : 0;

		if (out->err)
			return out->err;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		out->len += (size_t)n;
	}
}

static int read_path(const char *path, struct ez_buffer *out)
{
	int fd, err;

	if (strcmp(path, "-") == 0)
		return read_all(STDIN_FILENO, out);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	err = read_all(fd, out);
	close(fd);
	return err;
}

static int explain(const char *program, const char *what, int err)
{
	fprintf(stderr, "%s: %.200s: %s\n", program, what,
		err == -EPROTO ? "this is no PROFILE document (`ezprof profile` prints one)"
			       : strerror(-err));
	return EZPROF_EXIT_FAILURE;
}

int ezprof_document_file_text(const char *program, const char *path, char **ret_text)
{
	struct ez_buffer text;
	size_t len;
	int err;

	ez_buffer_init(&text, FILE_BYTES_MAX);
	err = read_path(path, &text);
	ez_buffer_append(&text, "", 1);
	if (!err)
		err = text.err;
	if (!err && memchr(text.data, '\0', text.len - 1))
		err = -EPROTO;
	if (!err) {
		*ret_text = ez_buffer_steal(&text, &len);
		err = *ret_text ? 0 : -ENOMEM;
	}
	ez_buffer_free(&text);
	return err ? explain(program, path, err) : EZPROF_EXIT_OK;
}

int ezprof_document_file_read(const char *program, const char *path,
			      struct ezprof_model **ret_model)
{
	char *text;
	int status = ezprof_document_file_text(program, path, &text), err;

	if (status)
		return status;
	err = ezprof_model_read(text, strlen(text), ret_model);
	free(text);
	return err ? explain(program, path, err) : EZPROF_EXIT_OK;
}

int ezprof_document_samples(const char *program, const char *what, const char *text,
			    struct ezprof_samples *samples)
{
	int err = ezprof_samples_read(samples, text, strlen(text));

	return err ? explain(program, what, err) : EZPROF_EXIT_OK;
}

int ezprof_document_file_samples(const char *program, const char *path,
				 struct ezprof_samples *samples)
{
	char *text;
	int status = ezprof_document_file_text(program, path, &text);

	if (status)
		return status;
	status = ezprof_document_samples(program, path, text, samples);
	free(text);
	return status;
}

int ezprof_document_model(const char *program, const char *text, struct ezprof_model **ret_model)
{
	int err = ezprof_model_read(text, strlen(text), ret_model);

	return err ? explain(program, "the answer", err) : EZPROF_EXIT_OK;
}

int ezprof_document_status(const struct ezprof_model *model)
{
	const struct ezprof_object *graph = &model->objects[0];

	if (ezprof_figure(graph, EZPROF_GRAPH_ERRORS, 0.0) > 0 ||
	    ezprof_figure(graph, EZPROF_GRAPH_LOST_TOTAL, 0.0) > 0)
		return EZPROF_EXIT_PARTIAL;
	if (ezprof_figure(graph, EZPROF_GRAPH_PUBLISHERS, 0.0) +
		    ezprof_figure(graph, EZPROF_GRAPH_CHANNELS, 0.0) <
	    1)
		return EZPROF_EXIT_NOTHING;
	return EZPROF_EXIT_OK;
}
