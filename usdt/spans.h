/* SPDX-License-Identifier: MIT */
/*
 * The writer's side of an endpoint's page of spans (bucket_layout.h): every message with its number
 * and times, while somebody records. A page is handed over by one hit of the `spans` probe when it
 * is full, or at the first message of a later bucket.
 *
 * All functions: the caller holds the endpoint's lock.
 */
#ifndef EZ_SPANS_H
#define EZ_SPANS_H

#include <stdint.h>

#include "bucket_layout.h"
#include "registry_layout.h"

/* Adds a message that ended at `span->end_ns`; the thread's id is filled in. */
void ez_spans_add(const struct ez_entry *e, const struct ez_span *span, uint64_t total_before);

/* Hands over what is there. */
void ez_spans_flush(const struct ez_entry *e);

/* Of a forked child: its thread has another id. */
void ez_spans_fork_child(void);

#endif
