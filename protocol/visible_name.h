/* SPDX-License-Identifier: MIT */
/*
 * Names of strangers as people read them, on a terminal or in a drawing: nothing in them moves a
 * cursor or is unseen, and two names that differ look different. Any thread.
 */
#ifndef EZ_VISIBLE_NAME_H
#define EZ_VISIBLE_NAME_H

#include "buffer.h"

/*
 * Appends the name. As \xNN: control characters, bytes that aren't UTF-8 and what stands for such
 * in a document (utf8.h), blanks that nobody would see (first, last, beside another one). As
 * \uNNNN: what has no width, changes the direction, or looks like something else by Unicode's own
 * word (combining marks, other blanks). A backslash is doubled, so that all this can be undone.
 * Letters of all scripts, wide ones and emoji stay.
 */
void ez_visible_name(struct ez_buffer *out, const char *name);

/*
 * Appends JSON text; what isn't seen is in its strings only, and becomes \uNNNN there. To programs
 * it is the same JSON, and it may be shown on a terminal. Bytes that aren't UTF-8 stay.
 */
void ez_visible_json(struct ez_buffer *out, const char *text);

#endif
