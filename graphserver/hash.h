/* SPDX-License-Identifier: MIT */
/*
 * uthash, set up to survive a lack of memory: an element that could not be added has hh.tbl == NULL
 * afterwards.
 */
#ifndef EZPROF_HASH_H
#define EZPROF_HASH_H

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((void)(element))

#include <uthash.h>
#include <utlist.h>

#endif
