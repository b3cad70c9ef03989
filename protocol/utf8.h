/* SPDX-License-Identifier: MIT */
/* UTF-8 of strangers: what is valid, and what to show instead. Any thread. */
#ifndef EZ_UTF8_H
#define EZ_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EZ_UTF8_REPLACEMENT 0xfffdu

/*
 * The code point at data (len >= 1) and how many bytes it took; EZ_UTF8_REPLACEMENT and 1 for a
 * byte that begins no valid sequence (overlong forms, surrogates and values over 10ffff included).
 */
size_t ez_utf8_decode(const void *data, size_t len, uint32_t *ret_code);

bool ez_utf8_is_valid(const void *data, size_t len);

/*
 * What stands in a document for a byte that is no UTF-8, since that has to be: U+FFFD, an x and the
 * byte's two digits, so that two names that differ do so there. A name that has those characters
 * itself, as one that was repaired before does, can't be told from it.
 */
#define EZ_UTF8_STAND_IN_BYTES 6u

/* Writes it, terminated. */
void ez_utf8_stand_in(uint8_t byte, char ret_text[EZ_UTF8_STAND_IN_BYTES + 1]);

/* The byte that such a text begins with stands for; 0: there is none. */
uint8_t ez_utf8_stood_for(const char *text, size_t len);

#endif
