/* SPDX-License-Identifier: MIT */
#include "accept_header.h"
#include "parse.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define BLANKS " \t"

/* A part of the header, without the blanks around it. */
struct slice {
	const char *text;
	size_t n;
};

static struct slice trimmed(const char *text, size_t n)
{
	while (n && strchr(BLANKS, *text)) {
		text++;
		n--;
	}
	while (n && strchr(BLANKS, text[n - 1]))
		n--;
	return (struct slice){text, n};
}

/* Takes what is before the separator off the front of rest. */
static struct slice next_part(struct slice *rest, char separator)
{
	const char *at = memchr(rest->text, separator, rest->n);
	size_t n = at ? (size_t)(at - rest->text) : rest->n;
	struct slice part = trimmed(rest->text, n);

	rest->text += at ? n + 1 : n;
	rest->n -= at ? n + 1 : n;
	return part;
}

static bool is(struct slice slice, const char *text)
{
	return slice.n == strlen(text) && strncasecmp(slice.text, text, slice.n) == 0;
}

/* q=0.5; what isn't a number is no wish. */
static double weight_of(struct slice value)
{
	char text[16];
	double q;

	snprintf(text, sizeof(text), "%.*s", (int)(value.n < 15 ? value.n : 15), value.text);
	return ez_parse_double(text, &q) == 0 && q <= 1.0 ? q : 0.0;
}

static void read_range(struct slice range, double *openmetrics, double *text)
{
	struct slice type = next_part(&range, ';');
	bool is_version = true;
	double q = 1.0;

	while (range.n) {
		struct slice value = next_part(&range, ';'), name = next_part(&value, '=');

		if (is(name, "q"))
			q = weight_of(value);
		else if (is(name, "version"))
			is_version = is(value, "1.0.0") || is(value, "\"1.0.0\"");
	}
	if (is(type, "application/openmetrics-text") && is_version && q > *openmetrics)
		*openmetrics = q;
	if ((is(type, "text/plain") || is(type, "text/*") || is(type, "*/*")) && q > *text)
		*text = q;
}

enum ezprof_dialect ezprof_accept_dialect(const char *header)
{
	struct slice rest = {header, header ? strlen(header) : 0};
	double openmetrics = 0.0, text = 0.0;

	while (rest.n)
		read_range(next_part(&rest, ','), &openmetrics, &text);
	return openmetrics > 0.0 && openmetrics >= text ? EZPROF_OPENMETRICS : EZPROF_TEXT_0_0_4;
}
