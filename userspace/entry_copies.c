/* SPDX-License-Identifier: MIT */
#include "entry_copies.h"

#include <stddef.h>
#include <string.h>

bool ezprof_entry_is_whole(const struct ez_entry *first, const struct ez_entry *second)
{
	return !(second->seq & 1) && memcmp(first, second, sizeof(*first)) == 0;
}

bool ezprof_entry_is_same(const struct ez_entry *first, const struct ez_entry *second)
{
	return memcmp(first, second, offsetof(struct ez_entry, seq)) == 0;
}
