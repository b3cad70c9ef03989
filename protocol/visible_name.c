/* SPDX-License-Identifier: MIT */
#include "visible_name.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "utf8.h"

/* Sorted. Marks that compose with a letter are here because a composed letter looks the same. */
static const struct {
	uint32_t first, last;
} unseen[] = {
	{0x80, 0xa0},	    /* control characters, a blank that doesn't break */
	{0xad, 0xad},	    /* a hyphen that is seen at the end of a line only */
	{0x300, 0x36f},	    /* combining marks */
	{0x61c, 0x61c},	    /* direction */
	{0x115f, 0x11ff},   /* parts of Korean syllables */
	{0x1680, 0x1680},   /* a blank */
	{0x180b, 0x180f},   /* Mongolian selectors */
	{0x1ab0, 0x1aff},   /* combining marks */
	{0x1dc0, 0x1dff},   /* combining marks */
	{0x2000, 0x200f},   /* blanks, joiners, direction */
	{0x2028, 0x202f},   /* line ends, direction, a blank */
	{0x205f, 0x206f},   /* a blank, signs that aren't shown */
	{0x20d0, 0x20ff},   /* combining marks */
	{0x2126, 0x2126},   /* ohm, which is an omega */
	{0x212a, 0x212b},   /* kelvin and angstrom, which are letters */
	{0x3000, 0x3000},   /* a wide blank */
	{0x3099, 0x309a},   /* Japanese voice marks */
	{0x3164, 0x3164},   /* a letter that fills */
	{0xe000, 0xfaff},   /* private use; ideographs that stand twice in Unicode */
	{0xfe00, 0xfe0f},   /* selectors of variants */
	{0xfe20, 0xfe2f},   /* combining marks */
	{0xfeff, 0xfeff},   /* byte order */
	{0xfff0, 0xfffb},   /* annotations */
	{0xe0000, 0xe0fff}, /* tags, selectors */
	{0xf0000, 0x10ffff} /* private use */
};

static bool is_unseen(uint32_t code)
{
	for (size_t i = 0; i < sizeof(unseen) / sizeof(unseen[0]) && code >= unseen[i].first; i++) {
		if (code <= unseen[i].last)
			return true;
	}
	return false;
}

/* "\x1b", "\u0301": a letter and so many digits. */
static void put_code(struct ez_buffer *out, char letter, int digits, uint32_t code)
{
	char text[16];

	snprintf(text, sizeof(text), "\\%c%0*x", letter, digits, code);
	ez_buffer_append_text(out, text);
}

/* The ASCII character at `at`. */
static void put_ascii(struct ez_buffer *out, const char *name, size_t at)
{
	char c = name[at];

	if (c == '\\')
		ez_buffer_append_text(out, "\\\\");
	else if (c < 0x20 || c == 0x7f ||
		 (c == ' ' && (!at || name[at - 1] == ' ' || !name[at + 1] || name[at + 1] == ' ')))
		put_code(out, 'x', 2, (uint8_t)c);
	else
		ez_buffer_append(out, &c, 1);
}

void ez_visible_name(struct ez_buffer *out, const char *name)
{
	size_t len = strlen(name), at, took;
	uint32_t code;
	uint8_t byte;

	for (at = 0; at < len; at += took) {
		took = ez_utf8_decode(name + at, len - at, &code);
		if (code < 0x80)
			put_ascii(out, name, at);
		else if (code == EZ_UTF8_REPLACEMENT && took == 1)
			put_code(out, 'x', 2, (uint8_t)name[at]);
		else if ((byte = ez_utf8_stood_for(name + at, len - at))) {
			put_code(out, 'x', 2, byte);
			took = EZ_UTF8_STAND_IN_BYTES;
		} else if (is_unseen(code))
			put_code(out, code > 0xffff ? 'U' : 'u', code > 0xffff ? 8 : 4, code);
		else
			ez_buffer_append(out, name + at, took);
	}
}

/* JSON has numbers of 16 bits only: what needs more takes two. */
static void put_json_code(struct ez_buffer *out, uint32_t code)
{
	if (code > 0xffff) {
		put_code(out, 'u', 4, 0xd800 + ((code - 0x10000) >> 10));
		code = 0xdc00 + ((code - 0x10000) & 0x3ff);
	}
	put_code(out, 'u', 4, code);
}

void ez_visible_json(struct ez_buffer *out, const char *text)
{
	size_t len = strlen(text), at = 0, from = 0, took;
	uint32_t code;

	while (at < len) {
		took = ez_utf8_decode(text + at, len - at, &code);
		if (code == 0x7f || (code >= 0x80 && is_unseen(code))) {
			ez_buffer_append(out, text + from, at - from);
			put_json_code(out, code);
			from = at + took;
		}
		at += took;
	}
	ez_buffer_append(out, text + from, len - from);
}
