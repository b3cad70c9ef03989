/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"
#define ELLIPSIS "\xe2\x80\xa6"

/* Per length of a character: its smallest code point; less is an overlong form. */
static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};

static size_t announced_length(uint8_t first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first < 0xe0)
		return 2;
	if (first >= 0xe0 && first < 0xf0)
		return 3;
	return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

size_t ezprof_utf8_length(const char *from, size_t n)
{
	const uint8_t *p = (const uint8_t *)from;
	size_t length = announced_length(p[0]), i;
	uint32_t code;

	if (length < 2)
		return length;
	if (length > n)
		return 0;
	code = p[0] & (0x7fu >> length);
	for (i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3fu);
	}
	if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return length;
}

char *ezprof_text_repair(const char *from, size_t n, int cut)
{
	size_t used = 0, i = 0;
	char *text;

	n = strnlen(from, n);
	/* Each byte becomes at most three. */
	text = malloc((n < EZPROF_TEXT_BYTES_MAX ? n * 3 : EZPROF_TEXT_BYTES_MAX + 3) + 4);
	if (!text)
		return NULL;
	while (i < n) {
		size_t length = ezprof_utf8_length(from + i, n - i);
		const char *what = length ? from + i : REPLACEMENT;
		size_t bytes = length ? length : sizeof(REPLACEMENT) - 1;

		if (used + bytes > EZPROF_TEXT_BYTES_MAX) {
			cut = 1;
			break;
		}
		memcpy(text + used, what, bytes);
		used += bytes;
		i += length ? length : 1;
	}
	if (cut) {
		memcpy(text + used, ELLIPSIS, sizeof(ELLIPSIS) - 1);
		used += sizeof(ELLIPSIS) - 1;
	}
	text[used] = '\0';
	return text;
}
