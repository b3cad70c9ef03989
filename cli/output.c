/* SPDX-License-Identifier: MIT */
#include "output.h"
#include "exit_status.h"
#include "standard_streams.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What could not be written has been said. */
static bool is_said;

static int fail(const char *program, int err)
{
	is_said = true;
	if (err == EPIPE)
		return EZPROF_EXIT_OK;
	fprintf(stderr, "%s: cannot write to stdout: %s\n", program,
		err ? strerror(err) : "write error");
	return EZPROF_EXIT_FAILURE;
}

/* argp's --help ends the program by itself, and asks nobody whether it came through. */
static void flush_at_exit(void)
{
	errno = 0;
	if (is_said || (fflush(stdout) == 0 && !ferror(stdout)))
		return;
	if (fail(program_invocation_short_name, errno))
		_exit(EZPROF_EXIT_FAILURE);
}

int ezprof_output_init(void)
{
	signal(SIGPIPE, SIG_IGN);
	if (atexit(flush_at_exit))
		return -ENOMEM;
	return ez_standard_streams_reserve();
}

int ezprof_output_flush(const char *program)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EZPROF_EXIT_OK;
	return fail(program, errno);
}

int ezprof_output_bytes(const char *program, const void *data, size_t n)
{
	errno = 0;
	if (n && fwrite(data, 1, n, stdout) != n)
		return fail(program, errno);
	return ezprof_output_flush(program);
}

int ezprof_output_line(const char *program, const char *text)
{
	errno = 0;
	if (fputs(text, stdout) == EOF || fputc('\n', stdout) == EOF)
		return fail(program, errno);
	return ezprof_output_flush(program);
}

int ezprof_output_buffer(const char *program, struct ez_buffer *buffer)
{
	int status = EZPROF_EXIT_FAILURE;

	if (buffer->err)
		fprintf(stderr, "%s: %s\n", program, strerror(-buffer->err));
	else
		status = ezprof_output_bytes(program, buffer->data, buffer->len);
	ez_buffer_free(buffer);
	return status;
}
