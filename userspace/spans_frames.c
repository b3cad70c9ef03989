/* SPDX-License-Identifier: MIT */
#include "spans_frames.h"

#include <string.h>

#include <event2/buffer.h>

bool ezprof_frame_plain(struct evbuffer *out, enum ezprof_stream_kind kind, const void *payload,
			size_t bytes)
{
	struct ezprof_stream_head head = {.kind = kind, .bytes = (uint32_t)bytes};

	return !evbuffer_add(out, &head, sizeof(head)) &&
	       (!bytes || !evbuffer_add(out, payload, bytes));
}

bool ezprof_frame_text(struct evbuffer *out, enum ezprof_stream_kind kind, const char *text)
{
	return ezprof_frame_plain(out, kind, text, strlen(text));
}

bool ezprof_frame_endpoint(struct evbuffer *out, uint32_t number, pid_t pid, const char *comm,
			   const struct ezprof_endpoint *e, const unsigned char publisher_id[16])
{
	const char *texts[EZPROF_STREAM_STRINGS] = {e ? e->topic : "", e ? e->handle : "",
						    e ? e->task : "", comm};
	struct ezprof_stream_endpoint fixed = {.number = number, .pid = (uint32_t)pid};
	struct ezprof_stream_head head = {.kind = EZPROF_STREAM_ENDPOINT, .bytes = sizeof(fixed)};
	bool ok;

	memcpy(fixed.publisher_id, publisher_id, sizeof(fixed.publisher_id));
	if (e) {
		fixed.kind = e->kind;
		fixed.transport = e->totals.transport;
		fixed.num_buffers = e->num_buffers;
		fixed.peer_pid = (uint32_t)e->peer_pid;
		fixed.opened_ns = e->opened_ns;
		memcpy(fixed.id, &e->id, sizeof(fixed.id));
		memcpy(fixed.publisher_id, &e->publisher_id, sizeof(fixed.publisher_id));
		memcpy(fixed.channel_id, &e->channel_id, sizeof(fixed.channel_id));
		memcpy(fixed.subscriber_id, &e->subscriber_id, sizeof(fixed.subscriber_id));
	}
	for (unsigned int i = 0; i < EZPROF_STREAM_STRINGS; i++) {
		size_t n = strnlen(texts[i], EZ_REGISTRY_STRING_MAX - 1);

		fixed.string_bytes[i] = (uint32_t)n;
		head.bytes += (uint32_t)n;
	}
	ok = !evbuffer_add(out, &head, sizeof(head)) && !evbuffer_add(out, &fixed, sizeof(fixed));
	for (unsigned int i = 0; i < EZPROF_STREAM_STRINGS && ok; i++)
		ok = !evbuffer_add(out, texts[i], fixed.string_bytes[i]);
	return ok;
}

bool ezprof_frame_total(struct evbuffer *out, uint32_t number, uint64_t total)
{
	const struct ezprof_stream_total fixed = {.number = number, .total = total};

	return ezprof_frame_plain(out, EZPROF_STREAM_TOTAL, &fixed, sizeof(fixed));
}

static uint64_t ours(uint64_t process_ns, int64_t clock_offset_ns)
{
	return process_ns ? process_ns - (uint64_t)clock_offset_ns : 0;
}

bool ezprof_frame_batch(struct evbuffer *out, uint32_t number, int64_t clock_offset_ns,
			const struct ezprof_span_batch *batch)
{
	const struct ezprof_stream_batch fixed = {
		.number = number, .count = batch->count, .first_total = batch->first_total};
	size_t bytes = batch->count * sizeof(struct ez_span);
	struct ezprof_stream_head head = {.kind = EZPROF_STREAM_BATCH,
					  .bytes = (uint32_t)(sizeof(fixed) + bytes)};
	struct ez_span spans[EZ_SPANS_PER_PAGE];

	memcpy(spans, batch->spans, bytes);
	for (uint32_t i = 0; i < batch->count; i++) {
		spans[i].start_ns = ours(spans[i].start_ns, clock_offset_ns);
		spans[i].begin_ns = ours(spans[i].begin_ns, clock_offset_ns);
		spans[i].finish_ns = ours(spans[i].finish_ns, clock_offset_ns);
		spans[i].end_ns = ours(spans[i].end_ns, clock_offset_ns);
	}
	return !evbuffer_add(out, &head, sizeof(head)) &&
	       !evbuffer_add(out, &fixed, sizeof(fixed)) && !evbuffer_add(out, spans, bytes);
}
