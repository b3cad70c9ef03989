/* SPDX-License-Identifier: MIT */
#include "utf8.h"

#include <stdio.h>
#include <string.h>

/* How long a sequence that begins with this byte is; 0 if none does. */
static size_t sequence_bytes(uint8_t first)
{
	if (first < 0x80)
		return 1;
	if (first < 0xc2)
		return 0;
	if (first < 0xe0)
		return 2;
	if (first < 0xf0)
		return 3;
	return first < 0xf5 ? 4 : 0;
}

/* Length of the valid sequence at p, 0 if there is none. */
static size_t decode(const uint8_t *p, size_t len, uint32_t *ret_code)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = sequence_bytes(p[0]);
	uint32_t code = n == 1 ? p[0] : p[0] & (0x7fu >> n);

	if (n == 0 || n > len)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3fu);
	}
	if (code < smallest[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	*ret_code = code;
	return n;
}

size_t ez_utf8_decode(const void *data, size_t len, uint32_t *ret_code)
{
	size_t n = decode(data, len, ret_code);

	if (n)
		return n;
	*ret_code = EZ_UTF8_REPLACEMENT;
	return 1;
}

/* Most text is ASCII: eight bytes of it at a time. */
static bool is_ascii_8(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return !(word & UINT64_C(0x8080808080808080));
}

bool ez_utf8_is_valid(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint32_t code;

	for (size_t i = 0, n; i < len; i += n) {
		n = len - i >= 8 && is_ascii_8(p + i) ? 8 : decode(p + i, len - i, &code);
		if (!n)
			return false;
	}
	return true;
}

#define MARK "\xef\xbf\xbdx"
#define MARK_BYTES (sizeof(MARK) - 1)

void ez_utf8_stand_in(uint8_t byte, char ret_text[EZ_UTF8_STAND_IN_BYTES + 1])
{
	snprintf(ret_text, EZ_UTF8_STAND_IN_BYTES + 1, MARK "%02x", byte);
}

/* Lower case only, as above. */
static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

uint8_t ez_utf8_stood_for(const char *text, size_t len)
{
	int high, low;

	if (len < EZ_UTF8_STAND_IN_BYTES || memcmp(text, MARK, MARK_BYTES) != 0)
		return 0;
	high = digit(text[MARK_BYTES]);
	low = digit(text[MARK_BYTES + 1]);
	/* All of ASCII is UTF-8. */
	return high >= 8 && low >= 0 ? (uint8_t)(high * 16 + low) : 0;
}
