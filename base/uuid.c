/* SPDX-License-Identifier: MIT */
#include "uuid.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

/* Is there a hyphen in the text in front of byte i? */
static bool hyphen_before(int i)
{
	return i == 4 || i == 6 || i == 8 || i == 10;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int ez_uuid_parse(const char *text, size_t len, struct ez_uuid *ret_uuid)
{
	struct ez_uuid uuid;

	if (len != EZ_UUID_TEXT_BYTES - 1)
		return -EINVAL;
	for (int i = 0; i < EZ_UUID_BYTES; i++) {
		int high, low;

		if (hyphen_before(i) && *text++ != '-')
			return -EINVAL;
		high = hex_value(*text++);
		low = hex_value(*text++);
		if (high < 0 || low < 0)
			return -EINVAL;
		uuid.bytes[i] = (uint8_t)(high << 4 | low);
	}
	*ret_uuid = uuid;
	return 0;
}

void ez_uuid_format(const struct ez_uuid *uuid, char out[EZ_UUID_TEXT_BYTES])
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < EZ_UUID_BYTES; i++) {
		if (hyphen_before(i))
			*out++ = '-';
		*out++ = digits[uuid->bytes[i] >> 4];
		*out++ = digits[uuid->bytes[i] & 15];
	}
	*out = '\0';
}

int ez_uuid_random(struct ez_uuid *ret_uuid)
{
	struct ez_uuid uuid;
	ssize_t n;

	do {
		n = getrandom(uuid.bytes, sizeof(uuid.bytes), 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n != EZ_UUID_BYTES)
		return -EIO;
	uuid.bytes[6] = (uint8_t)((uuid.bytes[6] & 0x0f) | 0x40);
	uuid.bytes[8] = (uint8_t)((uuid.bytes[8] & 0x3f) | 0x80);
	*ret_uuid = uuid;
	return 0;
}

bool ez_uuid_equal(const struct ez_uuid *a, const struct ez_uuid *b)
{
	return memcmp(a->bytes, b->bytes, EZ_UUID_BYTES) == 0;
}

bool ez_uuid_is_nil(const struct ez_uuid *uuid)
{
	static const struct ez_uuid nil;

	return ez_uuid_equal(uuid, &nil);
}
