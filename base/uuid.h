/* SPDX-License-Identifier: MIT */
/*
 * Ids of endpoints: 16 bytes in the order of Python's UUID.bytes (that of the text), and their
 * text form of 36 lower-case characters.
 */
#ifndef EZ_UUID_H
#define EZ_UUID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EZ_UUID_BYTES 16
#define EZ_UUID_TEXT_BYTES 37 /* with the terminator */

struct ez_uuid {
	uint8_t bytes[EZ_UUID_BYTES];
};

/*
 * Exactly 36 characters, hyphens in place, either case; -EINVAL otherwise. text needs no
 * terminator.
 */
int ez_uuid_parse(const char *text, size_t len, struct ez_uuid *ret_uuid);

void ez_uuid_format(const struct ez_uuid *uuid, char out[EZ_UUID_TEXT_BYTES]);

/* A version 4 id from the kernel's random numbers; negative errno if there are none. */
int ez_uuid_random(struct ez_uuid *ret_uuid);

bool ez_uuid_equal(const struct ez_uuid *a, const struct ez_uuid *b);
bool ez_uuid_is_nil(const struct ez_uuid *uuid);

#endif
