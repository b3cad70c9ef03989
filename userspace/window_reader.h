/* SPDX-License-Identifier: MIT */
/*
 * Reads the window path's maps. Works without any privilege once they are open. One thread at a
 * time.
 *
 * A snapshot reads all pages first and calls ezprof_buckets_begin() then: a bucket that was closed
 * in between is in the maps, and takes the place of the page's copy. The other order would miss it.
 */
#ifndef EZPROF_WINDOW_READER_H
#define EZPROF_WINDOW_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bucket_shared.h"
#include "loader.h"
#include "page_reader.h"
#include "window_fold.h"

struct ezprof_buckets;

/* Buckets of one endpoint; the shapes point into the maps. */
struct ezprof_bucket_list {
	size_t count;
	struct ezprof_bucket buckets[EZ_RING_BUCKETS];
	bool have_totals;
	struct ez_bucket_totals totals;
	bool have_slot; /* else what follows is nothing */
	uint32_t slot, epoch;
};

/* `bpf` must outlive it and have the window path. Errors: -ENOMEM and those of mmap(). */
int ezprof_buckets_open(const struct ezprof_bpf *bpf, struct ezprof_buckets **ret_buckets);
void ezprof_buckets_close(struct ezprof_buckets *buckets); /* NULL is ignored */

/*
 * Begins to accept a process's buckets, once its link is complete: from the first whole one on,
 * which is returned. `clock_offset_ns`: its CLOCK_MONOTONIC minus ours.
 */
int ezprof_buckets_accept(struct ezprof_buckets *buckets, pid_t tgid, uint32_t file,
			  int64_t clock_offset_ns, uint64_t *ret_from_id);
/* The first bucket of that process's clock that is whole if something starts now. */
uint64_t ezprof_buckets_next_id(int64_t clock_offset_ns);
/* The process has ended, or was detached. Not accepted before: no error. */
int ezprof_buckets_refuse(struct ezprof_buckets *buckets, pid_t tgid, uint32_t file);

/* Begins a snapshot: what was read of the maps before is forgotten. */
int ezprof_buckets_begin(struct ezprof_buckets *buckets);

/*
 * The endpoint's buckets with first_id <= id <= last_id; at most the ring's newest 128.
 * Errors: -ENOENT nothing of it was ever accepted; -ENOSPC nor will it be: there is no room; those
 * of bpf().
 */
int ezprof_buckets_read(struct ezprof_buckets *buckets, pid_t tgid, uint32_t file, uint32_t index,
			uint32_t generation, uint64_t first_id, uint64_t last_id,
			struct ezprof_bucket_list *ret_list);

/* Whether what a list points to is still what it was: to be asked after it was used. */
bool ezprof_buckets_valid(const struct ezprof_buckets *buckets,
			  const struct ezprof_bucket_list *list);

#endif
