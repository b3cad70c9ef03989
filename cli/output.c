/* SPDX-License-Identifier: MIT */
#include "output.h"
#include "exit_status.h"
#include "standard_streams.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

int ezprof_output_init(void)
{
	signal(SIGPIPE, SIG_IGN);
	return ez_standard_streams_reserve();
}

int ezprof_output_flush(const char *program)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EZPROF_EXIT_OK;
	if (errno == EPIPE)
		return EZPROF_EXIT_OK;
	fprintf(stderr, "%s: cannot write to stdout: %s\n", program,
		errno ? strerror(errno) : "write error");
	return EZPROF_EXIT_FAILURE;
}

int ezprof_output_bytes(const char *program, const void *data, size_t n)
{
	errno = 0;
	if (n && fwrite(data, 1, n, stdout) != n) {
		if (errno == EPIPE)
			return EZPROF_EXIT_OK;
		fprintf(stderr, "%s: cannot write to stdout: %s\n", program,
			errno ? strerror(errno) : "write error");
		return EZPROF_EXIT_FAILURE;
	}
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

int ezprof_output_line(const char *program, const char *text)
{
	if (fputs(text, stdout) == EOF || fputc('\n', stdout) == EOF) {
		if (errno == EPIPE)
			return EZPROF_EXIT_OK;
		fprintf(stderr, "%s: cannot write to stdout: %s\n", program, strerror(errno));
		return EZPROF_EXIT_FAILURE;
	}
	return ezprof_output_flush(program);
}
