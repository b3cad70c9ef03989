/* SPDX-License-Identifier: MIT */
#include "name_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An element that could not be added has hh.tbl == NULL afterwards. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((void)(element))
#include <uthash.h>

struct ezprof_name {
	size_t number;
	UT_hash_handle hh;
	char bytes[];
};

int ezprof_names_add(struct ezprof_name **names, const void *name, size_t bytes, size_t number)
{
	struct ezprof_name *added = calloc(1, sizeof(*added) + bytes + 1);

	if (!added)
		return -ENOMEM;
	added->number = number;
	memcpy(added->bytes, name, bytes);
	HASH_ADD(hh, *names, bytes, bytes, added);
	if (added->hh.tbl)
		return 0;
	free(added);
	return -ENOMEM;
}

size_t ezprof_names_find(const struct ezprof_name *names, const void *name, size_t bytes)
{
	const struct ezprof_name *found;

	HASH_FIND(hh, names, name, bytes, found);
	return found ? found->number : EZPROF_NO_NAME;
}

void ezprof_names_free(struct ezprof_name **names)
{
	struct ezprof_name *name, *next;

	HASH_ITER (hh, *names, name, next) {
		HASH_DEL(*names, name);
		free(name);
	}
}
