/* SPDX-License-Identifier: MIT */
/*
 * What an agent sends to who records, over its unix socket: frames, each a head and `bytes` more.
 * Both ends are on one machine, so numbers are in its own order and times on its CLOCK_MONOTONIC.
 * The receiver takes what comes as hostile all the same.
 *
 * EZ_CMD_RECORD + u64 flags begins it, after HELLO; the agent answers with EZ_CMD_RECORD and then
 * with frames until the connection is closed. EZ_CMD_RECORD once more asks for everything up to
 * now: it has come when SYNCED comes.
 */
#ifndef EZPROF_SPANS_STREAM_H
#define EZPROF_SPANS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucket_layout.h"

/* Flags of the request: WAITING frames are wanted. */
#define EZPROF_STREAM_WATCH 1u

#define EZPROF_STREAM_FRAME_MAX (256u << 10)
#define EZPROF_STREAM_STRINGS 4u /* topic, handle, task, name of the process */

enum ezprof_stream_kind {
	EZPROF_STREAM_REFUSED = 1, /* text: why there is nothing to record */
	EZPROF_STREAM_READY,	   /* what was there is complete from here on */
	EZPROF_STREAM_ENDPOINT,	   /* struct ezprof_stream_endpoint, strings */
	EZPROF_STREAM_TOTAL,	   /* struct ezprof_stream_total */
	EZPROF_STREAM_BATCH,	   /* struct ezprof_stream_batch, spans */
	EZPROF_STREAM_WAITING,	   /* struct ezprof_stream_waiting */
	EZPROF_STREAM_NOTE,	   /* text: of a process that can't be recorded */
	EZPROF_STREAM_SYNCED,	   /* struct ezprof_stream_losses */
};

struct ezprof_stream_head {
	uint32_t kind;
	uint32_t bytes;
};

/* Before the first batch of an endpoint. */
struct ezprof_stream_endpoint {
	uint32_t number; /* the agent's, for as long as it lives */
	uint32_t pid;
	uint32_t kind; /* enum ez_endpoint_kind; 0: it was closed before it was looked at */
	uint32_t transport;
	uint32_t num_buffers;
	uint32_t peer_pid;
	uint64_t opened_ns;
	unsigned char id[16], publisher_id[16], channel_id[16], subscriber_id[16];
	uint32_t string_bytes[EZPROF_STREAM_STRINGS]; /* without a NUL, one after the other */
};

/* The endpoint's running total. The first one is where it begins, a later one where it ends. */
struct ezprof_stream_total {
	uint32_t number;
	uint32_t reserved;
	uint64_t total;
};

struct ezprof_stream_batch {
	uint32_t number;
	uint32_t count;
	uint64_t first_total;
};

/* A publisher that waits for a buffer, having published so many. */
struct ezprof_stream_waiting {
	uint32_t number;
	uint32_t reserved;
	uint64_t since_ns;
	uint64_t total;
};

/* Since the agent began; spans. */
struct ezprof_stream_losses {
	uint64_t no_room, unreadable, malformed;
	uint64_t not_sent; /* to this client, which didn't take them fast enough */
};

/* A frame that has come in whole; what it points to is in the caller's buffer, unaligned. */
struct ezprof_stream_frame {
	uint32_t kind;
	const unsigned char *payload;
	size_t bytes;
	size_t frame_bytes; /* with its head: what to skip */
};

/* -EAGAIN: it isn't all there; -EPROTO: it is none. */
int ezprof_stream_next(const void *data, size_t bytes, struct ezprof_stream_frame *ret_frame);

/* The fixed part of a frame's payload, copied; -EPROTO: it is shorter than that. */
int ezprof_stream_fixed(const struct ezprof_stream_frame *frame, void *ret_fixed, size_t bytes);

/*
 * The strings of an ENDPOINT; `lengths` are checked against the payload. The texts are not
 * terminated. -EPROTO.
 */
int ezprof_stream_strings(const struct ezprof_stream_frame *frame,
			  const struct ezprof_stream_endpoint *endpoint,
			  const char *ret_texts[EZPROF_STREAM_STRINGS]);

/* The spans of a BATCH, copied; at most EZ_SPANS_PER_PAGE. -EPROTO. */
int ezprof_stream_spans(const struct ezprof_stream_frame *frame,
			const struct ezprof_stream_batch *batch,
			struct ez_span ret_spans[EZ_SPANS_PER_PAGE]);

#endif
