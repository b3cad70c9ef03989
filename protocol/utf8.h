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

#endif
