/* SPDX-License-Identifier: MIT */
/*
 * What two copies of a registry entry, made one after the other while its process goes on, say
 * together. Either may be torn: a process doesn't wait for its readers. Plain values, no I/O.
 */
#ifndef EZPROF_ENTRY_COPIES_H
#define EZPROF_ENTRY_COPIES_H

#include <stdbool.h>

#include "registry_layout.h"

/*
 * All of it, counters included, is of one moment: both are equal and the seq is even. Counters of
 * one endpoint only grow, so whatever is equal in both was so all the time between the end of the
 * first copy and the start of the second, and seq says that no update was under way then, whatever
 * order the copies were made in.
 */
bool ezprof_entry_is_whole(const struct ez_entry *first, const struct ez_entry *second);

/*
 * Which endpoint it is, that is all above seq, is that of one endpoint in both, however its
 * counters move: equality there is enough. That part is complete before the state becomes OPEN.
 * From then on only the close changes it, closed_ns before the state, until the index is given to
 * another, EZ_REGISTRY_REUSE_NS after the close at the earliest; no two copies take that long. So
 * what the state says in the first copy was there before the second was begun, and stayed there.
 */
bool ezprof_entry_is_same(const struct ez_entry *first, const struct ez_entry *second);

#endif
