/* SPDX-License-Identifier: MIT */
#include "output.h"
#include "exit_status.h"
#include "standard_streams.h"
#include "stdout_check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int status_of(int err)
{
	return err ? EZPROF_EXIT_FAILURE : EZPROF_EXIT_OK;
}

int ezprof_output_init(void)
{
	int err = ez_stdout_check_at_exit();

	return err ? err : ez_standard_streams_reserve();
}

int ezprof_output_flush(const char *program)
{
	return status_of(ez_stdout_flush(program));
}

int ezprof_output_bytes(const char *program, const void *data, size_t n)
{
	errno = 0;
	if (n && fwrite(data, 1, n, stdout) != n)
		return status_of(ez_stdout_failed(program, errno));
	return ezprof_output_flush(program);
}

int ezprof_output_line(const char *program, const char *text)
{
	errno = 0;
	if (fputs(text, stdout) == EOF || fputc('\n', stdout) == EOF)
		return status_of(ez_stdout_failed(program, errno));
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
