/* SPDX-License-Identifier: MIT */
/*
 * The shared-memory segments of all publishers: made here, and unlinked when the last lease ends. A
 * segment is created in small steps, since writing a large one takes longer than other clients
 * should wait. Every byte is written before anybody learns its name, so that its pages are really
 * there and no process dies of SIGBUS later. Loop thread only.
 */
#ifndef EZPROF_SHM_STORE_H
#define EZPROF_SHM_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "peer.h"

struct ezprof_shm_store;
struct ezprof_segment;

struct ezprof_shm_store *ezprof_shm_store_new(void);

/* Unlinks all segments, leases or not. NULL is fine. */
void ezprof_shm_store_free(struct ezprof_shm_store *store);

/*
 * A segment for num_buffers messages of about buffer_bytes, empty so far, with one lease. Errors:
 * -EINVAL (no buffer, or sizes that overflow), -EFBIG (more than max_bytes), -ENOSPC (more than is
 * free), others of the system.
 */
int ezprof_shm_create(struct ezprof_shm_store *store, uint64_t num_buffers, uint64_t buffer_bytes,
		      uint64_t max_bytes, struct ezprof_segment **ret_segment);

/*
 * The next step: 0 = more to do, 1 = the segment is complete, negative errno = give it up (release
 * it).
 */
int ezprof_shm_fill(struct ezprof_shm_store *store, struct ezprof_segment *segment);

/* A further lease on a complete segment for somebody on that machine; NULL if there is none of this
 * name there. */
struct ezprof_segment *ezprof_shm_attach(struct ezprof_shm_store *store, const char *name,
					 size_t len, const struct ezprof_machine *machine);

/* Ends a lease. The last one unlinks the segment. */
void ezprof_shm_release(struct ezprof_shm_store *store, struct ezprof_segment *segment);

/* Where whoever asked for it is: only there it can be attached. The server's own at first. */
void ezprof_segment_set_home(struct ezprof_segment *segment, const struct ezprof_machine *home);

const char *ezprof_segment_name(const struct ezprof_segment *segment);
uint64_t ezprof_segment_bytes(const struct ezprof_segment *segment);

#endif
