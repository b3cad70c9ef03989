/* SPDX-License-Identifier: MIT */
/* The frames of spans_stream.h on their way out. Each: false without memory. */
#ifndef EZPROF_SPANS_FRAMES_H
#define EZPROF_SPANS_FRAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "registry_reader.h"
#include "spans_decode.h"
#include "spans_stream.h"

struct evbuffer;

bool ezprof_frame_plain(struct evbuffer *out, enum ezprof_stream_kind kind, const void *payload,
			size_t bytes);
bool ezprof_frame_text(struct evbuffer *out, enum ezprof_stream_kind kind, const char *text);

/* `endpoint` NULL: nothing is known of it but its batch. comm: the process's name. */
bool ezprof_frame_endpoint(struct evbuffer *out, uint32_t number, pid_t pid, const char *comm,
			   const struct ezprof_endpoint *endpoint,
			   const unsigned char publisher_id[16]);

bool ezprof_frame_total(struct evbuffer *out, uint32_t number, uint64_t total);

/* Times are moved from the process's clock to ours. */
bool ezprof_frame_batch(struct evbuffer *out, uint32_t number, int64_t clock_offset_ns,
			const struct ezprof_span_batch *batch);

#endif
