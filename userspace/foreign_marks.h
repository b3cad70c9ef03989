/* SPDX-License-Identifier: MIT */
/*
 * Marks of graph servers that users left whose word doesn't count (trusted_users.h): to tell of
 * them, never to take such a server for ours. Only root can read most of their folders.
 */
#ifndef EZPROF_FOREIGN_MARKS_H
#define EZPROF_FOREIGN_MARKS_H

#include <stddef.h>

#include "server_mark.h"

/*
 * Marks whose process is alive and belongs to the mark's owner, up to max, one a port. Returns how
 * many were written. One thread.
 */
size_t ezprof_foreign_marks(struct ez_server_mark *ret_marks, size_t max);

#endif
