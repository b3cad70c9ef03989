/* SPDX-License-Identifier: MIT */
/* Names in columns: how wide they are, and shorter ones that still differ. Pure. */
#ifndef EZPROF_TEXT_WIDTH_H
#define EZPROF_TEXT_WIDTH_H

#include <stddef.h>

#include "buffer.h"

/* Columns that valid UTF-8 takes on a terminal: 2 for wide characters, 0 for combining ones. */
unsigned int ezprof_text_columns(const char *text, size_t n);

/*
 * The text in at most so many columns: cut in the middle, where a digest of the whole stands, so
 * that names that differ only in what was cut differ still. As visible_name.h has it.
 */
void ezprof_put_shortened(struct ez_buffer *out, const char *text, unsigned int columns);

#endif
