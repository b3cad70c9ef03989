/* SPDX-License-Identifier: MIT */
/*
 * Text that came from somebody else's memory or files, made fit to be shown: valid UTF-8 of bounded
 * length. What is cut ends in an ellipsis, so that two long names that differ late don't look
 * whole.
 */
#ifndef EZPROF_TEXT_H
#define EZPROF_TEXT_H

#include <stddef.h>

/* Longest text that is shown, in bytes; the rest is cut. */
#define EZPROF_TEXT_BYTES_MAX 4096u

/*
 * Copies the n bytes at `from`, up to the first NUL, to a new terminated string, owned by the
 * caller; every byte that isn't part of valid UTF-8 becomes what stands for it (utf8.h), and what
 * exceeds EZPROF_TEXT_BYTES_MAX (or was `cut` before) an ellipsis. NULL without memory. Pure.
 */
char *ezprof_text_repair(const char *from, size_t n, int cut);

#endif
