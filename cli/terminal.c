/* SPDX-License-Identifier: MIT */
#include "terminal.h"
#include "parse.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_USUAL 80u
#define COLUMNS_MAX 10000u

unsigned int ezprof_terminal_columns(void)
{
	const char *said = getenv("COLUMNS");
	struct winsize size;
	uint64_t columns;

	if (said && ez_parse_u64_range(said, 1, COLUMNS_MAX, &columns) == 0)
		return (unsigned int)columns;
	if (!isatty(STDOUT_FILENO))
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	return COLUMNS_USUAL;
}
