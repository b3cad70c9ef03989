/* SPDX-License-Identifier: MIT */
/* An endpoint's page of buckets, out of its process's memory. What is there may be anything. */
#ifndef EZPROF_PAGE_READER_H
#define EZPROF_PAGE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucket_layout.h"
#include "foreign_memory.h"

struct ezprof_page {
	bool at_rest; /* bucket is whole, and all that its process did before is in it */
	uint64_t id;  /* where it isn't: what it held when last looked at */
	struct ez_bucket bucket;
	struct ez_covered covered; /* only of a process whose registry names a table of threads */
};
_Static_assert(offsetof(struct ezprof_page, covered) - offsetof(struct ezprof_page, bucket) ==
		       EZ_COVERED_OFFSET,
	       "read in one go");

/*
 * Reads the page at `address` (ez_entry.page; 0: an endpoint without one, which is at rest and
 * empty) by one or two tries. Errors: those of the memory: a page that can't be read is no page at
 * rest.
 */
int ezprof_page_read(const struct ezprof_memory *memory, uint64_t address,
		     struct ezprof_page *ret_page);

#endif
