/* SPDX-License-Identifier: MIT */
#include "text.h"
#include "utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ELLIPSIS "\xe2\x80\xa6"

char *ezprof_text_repair(const char *from, size_t n, int cut)
{
	char stand_in[EZ_UTF8_STAND_IN_BYTES + 1], *text;
	size_t used = 0, took;
	uint32_t code;

	n = strnlen(from, n);
	text = malloc(
		(n < EZPROF_TEXT_BYTES_MAX ? n * EZ_UTF8_STAND_IN_BYTES : EZPROF_TEXT_BYTES_MAX) +
		sizeof(ELLIPSIS));
	if (!text)
		return NULL;
	for (size_t i = 0; i < n; i += took) {
		const char *what = from + i;
		size_t bytes = took = ez_utf8_decode(what, n - i, &code);

		if (code == EZ_UTF8_REPLACEMENT && took == 1) {
			ez_utf8_stand_in((uint8_t)*what, stand_in);
			what = stand_in;
			bytes = EZ_UTF8_STAND_IN_BYTES;
		}
		if (used + bytes > EZPROF_TEXT_BYTES_MAX) {
			cut = 1;
			break;
		}
		memcpy(text + used, what, bytes);
		used += bytes;
	}
	if (cut) {
		memcpy(text + used, ELLIPSIS, sizeof(ELLIPSIS) - 1);
		used += sizeof(ELLIPSIS) - 1;
	}
	text[used] = '\0';
	return text;
}
