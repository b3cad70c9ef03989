/* SPDX-License-Identifier: MIT */
#include "spans_reader.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_TRIES 20

struct ezprof_span_ring {
	struct ring_buffer *buffer;
	int counters_fd, cpu_count;
	ezprof_span_take *take;
	void *context;
	uint64_t malformed;
	struct ez_span_counters *values; /* one per CPU */
};

static int on_record(void *context, void *data, size_t bytes)
{
	struct ezprof_span_ring *ring = context;
	struct ezprof_span_batch batch;

	if (ezprof_span_record_decode(data, bytes, &batch))
		ring->malformed++;
	else
		ring->take(ring->context, &batch);
	return 0;
}

int ezprof_span_ring_open(const struct ezprof_bpf *bpf, ezprof_span_take *take, void *context,
			  struct ezprof_span_ring **ret_ring)
{
	const struct ezprof_bpf_fds *fds = ezprof_bpf_map_fds(bpf);
	struct ezprof_span_ring *ring = calloc(1, sizeof(*ring));
	int err = -ENOMEM;

	if (!ring)
		return -ENOMEM;
	ring->counters_fd = fds->span_counters;
	ring->cpu_count = ezprof_bpf_cpu_count(bpf);
	ring->take = take;
	ring->context = context;
	ring->values = calloc((size_t)ring->cpu_count, sizeof(*ring->values));
	if (ring->values) {
		ring->buffer = ring_buffer__new(fds->span_ring, on_record, ring, NULL);
		err = ring->buffer ? 0 : -errno;
	}
	if (err)
		ezprof_span_ring_close(ring);
	else
		*ret_ring = ring;
	return err;
}

void ezprof_span_ring_close(struct ezprof_span_ring *ring)
{
	if (!ring)
		return;
	ring_buffer__free(ring->buffer);
	free(ring->values);
	free(ring);
}

int ezprof_span_ring_fd(const struct ezprof_span_ring *ring)
{
	return ring_buffer__epoll_fd(ring->buffer);
}

int ezprof_span_ring_drain(struct ezprof_span_ring *ring, uint64_t *ret_malformed)
{
	int n;

	ring->malformed = 0;
	n = ring_buffer__consume(ring->buffer);
	*ret_malformed += ring->malformed;
	return n < 0 ? n : 0;
}

int ezprof_span_ring_counters(const struct ezprof_span_ring *ring,
			      struct ez_span_counters *ret_counters)
{
	struct ez_span_counters sum = {0};
	uint32_t zero = 0;

	if (bpf_map_lookup_elem(ring->counters_fd, &zero, ring->values))
		return -errno;
	for (int i = 0; i < ring->cpu_count; i++) {
		sum.records += ring->values[i].records;
		sum.spans += ring->values[i].spans;
		sum.no_room += ring->values[i].no_room;
		sum.unreadable += ring->values[i].unreadable;
	}
	*ret_counters = sum;
	return 0;
}

/* The copy is whole if the sequence was even before and the same after. */
int ezprof_span_page_read(const struct ezprof_memory *memory, uint64_t page,
			  struct ez_span_page *ret_page)
{
	uint64_t address = page + EZ_PAGE_BYTES, before, after;
	int err;

	if (!page || address < page) {
		memset(ret_page, 0, sizeof(*ret_page));
		return 0;
	}
	for (int i = 0; i < PAGE_TRIES; i++) {
		err = memory->read(memory->context, address, &before, sizeof(before));
		if (!err)
			err = memory->read(memory->context, address, ret_page, sizeof(*ret_page));
		if (!err)
			err = memory->read(memory->context, address, &after, sizeof(after));
		if (err)
			return err;
		if (!(before & 1) && before == ret_page->seq && before == after)
			return 0;
	}
	return -EAGAIN;
}
