/* SPDX-License-Identifier: MIT */
/*
 * Text for HTML and SVG, whatever it holds. Names become visible_name.h's first. Pure; the buffer's
 * sticky error tells of a failure.
 */
#ifndef EZPROF_HTML_H
#define EZPROF_HTML_H

#include "buffer.h"

/* For content and for attributes in double quotes. */
void ezprof_html_text(struct ez_buffer *out, const char *text);

/* printf-style, then escaped; for what is short. */
__attribute__((format(printf, 2, 3))) void ezprof_html_print(struct ez_buffer *out,
							     const char *format, ...);

/* What the buffer of words holds, escaped; it is empty afterwards. */
void ezprof_html_words(struct ez_buffer *out, struct ez_buffer *words);

/*
 * A name in at most so many columns, kept apart from the direction of what is around it; one that
 * is longer has all of it as its tool tip.
 */
void ezprof_html_name(struct ez_buffer *out, const char *name, unsigned int columns);

#endif
