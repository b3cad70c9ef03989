/* SPDX-License-Identifier: MIT */
#include "page_reader.h"

#define PAGE_TRIES 2

int ezprof_page_read(const struct ezprof_memory *memory, uint64_t address,
		     struct ezprof_page *ret_page)
{
	struct ezprof_page page = {.at_rest = !address};
	uint64_t seq;
	int err = 0;

	for (int i = 0; i < PAGE_TRIES && !page.at_rest && !err; i++) {
		err = memory->read(memory->context, address, &page.bucket,
				   sizeof(page.bucket) + sizeof(page.covered));
		if (!err)
			err = memory->read(memory->context, address, &seq, sizeof(seq));
		page.at_rest = !err && !(seq & 1) && seq == page.bucket.seq;
		page.id = page.bucket.id;
	}
	if (!err)
		*ret_page = page;
	return err;
}
