/* SPDX-License-Identifier: MIT */
/* The view of `ezprof top` as plain text: for pipes, and for the file that is written with a key.
 */
#ifndef EZPROF_TOP_PRINT_H
#define EZPROF_TOP_PRINT_H

#include "top_screen.h"
#include "watch.h"

/* "14:03:22" by the document's clock, in local time; "" if it has none. */
#define EZPROF_WHEN_BYTES 16
void ezprof_top_when(const struct ezprof_model *model, char out[EZPROF_WHEN_BYTES]);

/* All rows and all causes; columns: 0 = as wide as names are. -ENOMEM. */
int ezprof_top_print(struct ez_buffer *out, const struct ezprof_watch *watch, const char *source,
		     const struct ezprof_top_control *control, unsigned int columns, bool ascii);

/* Is it a locale in which bars can't be shown? */
bool ezprof_top_is_ascii(void);

/* Writes the text to a new file, or to what is no regular one. -EEXIST: it is there already. */
int ezprof_top_save(const char *path, const struct ez_buffer *text);

#endif
