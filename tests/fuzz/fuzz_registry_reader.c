/* SPDX-License-Identifier: MIT */
/*
 * The registry reader on memory that is the fuzzer's input: mapped at BASE, the header at its
 * start. Each reading of the memory may change a byte of it, as a hostile process would.
 */
#include "registry_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BASE 0x100000ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct image {
	uint8_t *data;
	size_t size;
	size_t reads;
};

static int read_image(void *context, uint64_t address, void *to, size_t n)
{
	struct image *image = context;

	if (address < BASE || address - BASE > image->size || n > image->size - (address - BASE))
		return -EFAULT;
	memcpy(to, image->data + (address - BASE), n);
	if (++image->reads % 7 == 0 && image->size > 4096)
		image->data[image->reads * 131 % image->size]++;
	return 0;
}

static void check(const struct ezprof_endpoints *found)
{
	size_t i;

	for (i = 0; i < found->count; i++) {
		const struct ezprof_endpoint *e = &found->list[i];

		if (!e->topic || !e->handle || !e->task || e->kind < EZ_KIND_PUBLISHER ||
		    e->kind > EZ_KIND_TASK || e->totals.transport > EZ_TRANSPORT_TCP ||
		    (e->kind != EZ_KIND_PUBLISHER && e->totals.disconnect_frees > e->totals.frees))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image image = {.data = malloc(size + 1), .size = size};
	struct ezprof_registry_place place = {
		.memory = {read_image, &image}, .address = BASE, .owner_pid = 77};
	struct ezprof_registry_reader *reader = ezprof_registry_reader_new(&place);
	const struct ezprof_endpoints *found;
	struct ezprof_totals totals;
	uint64_t oldest_ns;
	int i;

	if (!image.data || !reader)
		abort();
	memcpy(image.data, data, size);
	for (i = 0; i < 3; i++) {
		if (i == 1 ? ezprof_registry_glance(reader, 1000000000ull, &found)
			   : ezprof_registry_read(reader, 1000000000ull, &found))
			continue;
		check(found);
		if (found->count)
			ezprof_registry_reread(reader, &found->list[found->count - 1], &totals,
					       &oldest_ns);
	}
	ezprof_registry_reader_free(reader);
	free(image.data);
	return 0;
}
