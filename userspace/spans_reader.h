/* SPDX-License-Identifier: MIT */
/*
 * Reads the ring of spans, its counters, and what a process still has in a page. Works without any
 * privilege once ring and memory are open. One thread.
 *
 * Who wants all spans up to a moment reads the pages first and drains the ring then: what was
 * handed over in between is in the ring, and takes the place of the page's copy
 * (ezprof_span_account_take()).
 */
#ifndef EZPROF_SPANS_READER_H
#define EZPROF_SPANS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loader.h"
#include "registry_reader.h"
#include "spans_decode.h"

struct ezprof_span_ring;

/* `take` is given what is valid until it returns. */
typedef void ezprof_span_take(void *context, const struct ezprof_span_batch *batch);

/* `bpf` must outlive it and have the spans path. Errors: -ENOMEM; those of libbpf. */
int ezprof_span_ring_open(const struct ezprof_bpf *bpf, ezprof_span_take *take, void *context,
			  struct ezprof_span_ring **ret_ring);
void ezprof_span_ring_close(struct ezprof_span_ring *ring); /* NULL is ignored */

/* Readable when a quarter of the ring waits; never to be read. */
int ezprof_span_ring_fd(const struct ezprof_span_ring *ring);

/* Takes what is there. ret_malformed: records that could not be decoded, added. */
int ezprof_span_ring_drain(struct ezprof_span_ring *ring, uint64_t *ret_malformed);

/* Sums over CPUs since the load. Errors: those of bpf(). */
int ezprof_span_ring_counters(const struct ezprof_span_ring *ring,
			      struct ez_span_counters *ret_counters);

/*
 * Copies the page of spans behind the bucket's page at `page` (ez_entry.page). -EAGAIN: it was
 * never seen at rest, its process is at work; errors of the memory.
 */
int ezprof_span_page_read(const struct ezprof_memory *memory, uint64_t page,
			  struct ez_span_page *ret_page);

#endif
