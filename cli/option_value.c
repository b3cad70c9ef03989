/* SPDX-License-Identifier: MIT */
#include "option_value.h"
#include "exit_status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_MAX 1e9
#define CHOICES_BYTES 200u

__attribute__((format(printf, 4, 5))) static _Noreturn void
refuse(const char *program, const char *option, const char *text, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s: %s '%.60s': ", program, option, text);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(EZPROF_EXIT_USAGE);
}

double ezprof_option_window_s(const char *program, const char *option, const char *text)
{
	double seconds;

	if (ez_parse_window_s(text, &seconds) == 0)
		return seconds;
	if (ez_parse_double(text, &seconds) == 0 && seconds > EZ_WINDOW_MAX_S)
		refuse(program, option, text,
		       "at most %g s; for longer times there are `ezprof profile --interval` and "
		       "`ezprof record`",
		       EZ_WINDOW_MAX_S);
	refuse(program, option, text, "a number of seconds from %g to %g is wanted",
	       EZ_WINDOW_MIN_S, EZ_WINDOW_MAX_S);
}

double ezprof_option_seconds(const char *program, const char *option, const char *text)
{
	double seconds;

	if (ez_parse_double(text, &seconds) == 0 && seconds > 0 && seconds <= SECONDS_MAX)
		return seconds;
	refuse(program, option, text, "a number of seconds is wanted");
}

uint64_t ezprof_option_count(const char *program, const char *option, const char *text,
			     uint64_t max)
{
	uint64_t count;

	if (ez_parse_u64_range(text, 1, max, &count) == 0)
		return count;
	refuse(program, option, text, "a number from 1 to %llu is wanted", (unsigned long long)max);
}

void ezprof_option_address(const char *program, const char *option, const char *text,
			   struct ez_address *ret_address)
{
	if (ez_parse_address(text, ret_address) == 0 && ret_address->port != 0)
		return;
	refuse(program, option, text, "host:port is wanted, such as " EZ_DEFAULT_ADDRESS);
}

/* "a|b|c" as "a, b or c". */
static void say_choices(const char *choices, char *ret_text, size_t size)
{
	const char *between = "", *choice = choices;
	size_t n = 0;

	for (;;) {
		size_t length = strcspn(choice, "|");

		if (n < size)
			n += (size_t)snprintf(ret_text + n, size - n, "%s%.*s", between,
					      (int)length, choice);
		choice += length;
		if (!*choice++)
			return;
		between = strchr(choice, '|') ? ", " : " or ";
	}
}

size_t ezprof_option_choice(const char *program, const char *option, const char *text,
			    const char *choices)
{
	char all[CHOICES_BYTES];
	const char *choice = choices;

	for (size_t i = 0;; i++) {
		size_t n = strcspn(choice, "|");

		if (strlen(text) == n && memcmp(text, choice, n) == 0)
			return i;
		if (!choice[n])
			break;
		choice += n + 1;
	}
	say_choices(choices, all, sizeof(all));
	refuse(program, option, text, "%s is wanted", all);
}
