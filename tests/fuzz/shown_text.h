/* SPDX-License-Identifier: MIT */
/* What no text for people may hold, whatever its figures and names come from. */
#ifndef EZPROF_SHOWN_TEXT_H
#define EZPROF_SHOWN_TEXT_H

#include <stdlib.h>

#include "buffer.h"
#include "utf8.h"

/* Aborts where something in it moves a cursor, breaks a page or is no UTF-8. */
static inline void ezprof_shown_text_check(const struct ez_buffer *text)
{
	uint32_t code;

	for (size_t i = 0; i < text->len;) {
		size_t took = ez_utf8_decode(text->data + i, text->len - i, &code);

		if (code == EZ_UTF8_REPLACEMENT && took == 1)
			abort();
		if ((code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0))
			abort();
		i += took;
	}
}

#endif
