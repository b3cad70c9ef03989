/* SPDX-License-Identifier: MIT */
#include "stdout_check.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What could not be written has been said. */
static bool is_said;
/* Of SIGPIPE. */
static void (*at_start)(int) = SIG_DFL;

int ez_stdout_failed(const char *program, int err)
{
	is_said = true;
	if (err == EPIPE)
		return 0;
	fprintf(stderr, "%s: cannot write to stdout: %s\n", program,
		err ? strerror(err) : "write error");
	return err ? -err : -EIO;
}

int ez_stdout_flush(const char *program)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return ez_stdout_failed(program, errno);
}

/* argp's --help ends the program by itself, and asks nobody whether it came through. */
static void flush_at_exit(void)
{
	if (!is_said && ez_stdout_flush(program_invocation_short_name))
		_exit(EXIT_FAILURE);
}

void ez_stdout_restore_signal(void)
{
	signal(SIGPIPE, at_start);
}

int ez_stdout_check_at_exit(void)
{
	at_start = signal(SIGPIPE, SIG_IGN);
	return atexit(flush_at_exit) ? -ENOMEM : 0;
}
