/* SPDX-License-Identifier: MIT */
#include "spans_stream.h"

#include <errno.h>
#include <string.h>

int ezprof_stream_next(const void *data, size_t bytes, struct ezprof_stream_frame *ret_frame)
{
	struct ezprof_stream_head head;

	if (bytes < sizeof(head))
		return -EAGAIN;
	memcpy(&head, data, sizeof(head));
	if (head.kind < EZPROF_STREAM_REFUSED || head.kind > EZPROF_STREAM_SYNCED ||
	    head.bytes > EZPROF_STREAM_FRAME_MAX)
		return -EPROTO;
	if (bytes - sizeof(head) < head.bytes)
		return -EAGAIN;
	ret_frame->kind = head.kind;
	ret_frame->payload = (const unsigned char *)data + sizeof(head);
	ret_frame->bytes = head.bytes;
	ret_frame->frame_bytes = sizeof(head) + head.bytes;
	return 0;
}

int ezprof_stream_fixed(const struct ezprof_stream_frame *frame, void *ret_fixed, size_t bytes)
{
	if (frame->bytes < bytes)
		return -EPROTO;
	memcpy(ret_fixed, frame->payload, bytes);
	return 0;
}

int ezprof_stream_strings(const struct ezprof_stream_frame *frame,
			  const struct ezprof_stream_endpoint *endpoint,
			  const char *ret_texts[EZPROF_STREAM_STRINGS])
{
	size_t at = sizeof(*endpoint);

	for (unsigned int i = 0; i < EZPROF_STREAM_STRINGS; i++) {
		if (at > frame->bytes || endpoint->string_bytes[i] > frame->bytes - at)
			return -EPROTO;
		ret_texts[i] = (const char *)frame->payload + at;
		at += endpoint->string_bytes[i];
	}
	return 0;
}

int ezprof_stream_spans(const struct ezprof_stream_frame *frame,
			const struct ezprof_stream_batch *batch,
			struct ez_span ret_spans[EZ_SPANS_PER_PAGE])
{
	if (batch->count > EZ_SPANS_PER_PAGE || batch->first_total > UINT64_MAX - batch->count ||
	    frame->bytes != sizeof(*batch) + batch->count * sizeof(struct ez_span))
		return -EPROTO;
	memcpy(ret_spans, frame->payload + sizeof(*batch), batch->count * sizeof(struct ez_span));
	return 0;
}
