/* SPDX-License-Identifier: MIT */
/*
 * Batches of spans as they come out of the ring or out of a process's page, checked, and the
 * account of running numbers that says which messages are there, there twice, or missing. Pure: no
 * clock, no I/O. What is decoded is hostile.
 */
#ifndef EZPROF_SPANS_DECODE_H
#define EZPROF_SPANS_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spans_shared.h"

/* Spans of one endpoint with running numbers first_total, first_total + 1 and so on. */
struct ezprof_span_batch {
	uint32_t tgid, file;
	uint32_t index, generation;
	uint64_t first_total; /* the endpoint's total before the first of them */
	uint32_t count;
	unsigned char publisher_id[16];
	const struct ez_span *spans; /* in the memory that was decoded; aligned by 8 */
};

/* A record of the ring. -EPROTO: it is none. */
int ezprof_span_record_decode(const void *data, size_t bytes, struct ezprof_span_batch *ret_batch);

/*
 * A copy of a process's page that was made while it was at rest; whose it is, is the caller's to
 * fill in. A count of 0 is an empty page. -EPROTO: it is none.
 */
int ezprof_span_page_decode(const struct ez_span_page *page, struct ezprof_span_batch *ret_batch);

/* Of one endpoint while it is recorded; all 0: not begun. */
struct ezprof_span_account {
	bool begun;
	uint64_t first; /* running number that it began with, */
	uint64_t next;	/* and the one that is expected */
	uint64_t taken; /* spans that are there */
	uint64_t lost;	/* holes */
};

/* From that total on nothing may be missing. Does nothing where it has begun already. */
void ezprof_span_account_begin(struct ezprof_span_account *account, uint64_t total);

/*
 * Takes a batch: counts a hole before it, and cuts off what is there already (a page's copy comes
 * after the ring). What is left is in the batch; count 0: nothing.
 */
void ezprof_span_account_take(struct ezprof_span_account *account, struct ezprof_span_batch *batch);

/* The endpoint's total was that when everything that will come had come: the hole at the end. */
void ezprof_span_account_end(struct ezprof_span_account *account, uint64_t total);

#endif
