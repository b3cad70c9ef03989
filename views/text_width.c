/* SPDX-License-Identifier: MIT */
#include "text_width.h"
#include "number.h"
#include "phrase.h"
#include "utf8.h"

#include <stdbool.h>
#include <string.h>

#define DIGEST_COLUMNS 6u /* "~1a2b~" */

struct range {
	uint32_t first, last;
};

static bool is_in(uint32_t code, const struct range *ranges, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	}
	return false;
}

/* The large blocks of them; a column too many or too few elsewhere breaks nothing. */
static unsigned int columns_of(uint32_t code)
{
	static const struct range wide[] = {
		{0x1100, 0x115f},   {0x2e80, 0x303e},	{0x3041, 0xa4cf},  {0xac00, 0xd7a3},
		{0xf900, 0xfaff},   {0xfe30, 0xfe6f},	{0xff00, 0xff60},  {0xffe0, 0xffe6},
		{0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
	static const struct range none[] = {{0x0300, 0x036f}, {0x200b, 0x200f}, {0x20d0, 0x20ff},
					    {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}};

	if (is_in(code, none, sizeof(none) / sizeof(none[0])))
		return 0;
	return is_in(code, wide, sizeof(wide) / sizeof(wide[0])) ? 2 : 1;
}

unsigned int ezprof_text_columns(const char *text, size_t n)
{
	unsigned int columns = 0;
	uint32_t code;
	size_t at = 0;

	while (at < n) {
		at += ez_utf8_decode(text + at, n - at, &code);
		columns += columns_of(code);
	}
	return columns;
}

/* FNV-1a, folded. */
static unsigned int digest(const char *text, size_t n)
{
	uint64_t hash = 0xcbf29ce484222325ull;
	size_t i;

	for (i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ull;
	return (unsigned int)((hash ^ hash >> 32 ^ hash >> 16) & 0xffff);
}

/* Bytes of the longest beginning of at most so many columns. */
static size_t beginning(const char *text, size_t n, unsigned int columns)
{
	size_t at = 0, took;
	uint32_t code;

	while (at < n) {
		took = ez_utf8_decode(text + at, n - at, &code);
		if (columns_of(code) > columns)
			break;
		columns -= columns_of(code);
		at += took;
	}
	return at;
}

void ezprof_put_shortened(struct ez_buffer *out, const char *text, unsigned int columns)
{
	struct ez_buffer name;
	unsigned int all, head, tail;
	size_t from;

	ez_buffer_init(&name, SIZE_MAX / 2);
	ezprof_say_name(&name, text);
	all = ezprof_text_columns((const char *)name.data, name.len);
	if (all <= columns || columns < DIGEST_COLUMNS + 2) {
		ez_buffer_append(out, name.data, name.len);
	} else {
		const char *shown = (const char *)name.data;

		head = (columns - DIGEST_COLUMNS + 1) / 2;
		tail = columns - DIGEST_COLUMNS - head;
		ez_buffer_append(out, shown, beginning(shown, name.len, head));
		ezprof_put(out, "~%04x~", digest(text, strlen(text)));
		from = beginning(shown, name.len, all - tail);
		/* A wide character across the border would be a column too many. */
		while (from < name.len &&
		       ezprof_text_columns(shown + from, name.len - from) > tail) {
			uint32_t code;

			from += ez_utf8_decode(shown + from, name.len - from, &code);
		}
		ez_buffer_append(out, shown + from, name.len - from);
	}
	ez_buffer_free(&name);
}
