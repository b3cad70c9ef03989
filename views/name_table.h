/* SPDX-License-Identifier: MIT */
/* Which number goes by which name: any bytes. Each table is of one thread. */
#ifndef EZPROF_NAME_TABLE_H
#define EZPROF_NAME_TABLE_H

#include <stddef.h>

#define EZPROF_NO_NAME ((size_t)-1)

struct ezprof_name; /* NULL is an empty table */

/* The name is copied; it must be new to the table. -ENOMEM. */
int ezprof_names_add(struct ezprof_name **names, const void *name, size_t bytes, size_t number);

/* EZPROF_NO_NAME: no number goes by it. */
size_t ezprof_names_find(const struct ezprof_name *names, const void *name, size_t bytes);

void ezprof_names_free(struct ezprof_name **names);

#endif
