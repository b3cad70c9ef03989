/* SPDX-License-Identifier: MIT */
/*
 * What ezmsg 3.9.0 and later tell over a session: the snapshot, the answer of a process, the stream
 * of trace samples; and the two requests that are pickles themselves. The readers recognise the
 * classes of ezmsg.core.graphmeta by name and shape and execute nothing. Pure; any thread.
 */
#ifndef EZ_PICKLE_SESSION_H
#define EZ_PICKLE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "frame.h"
#include "pickle_dag.h"

/* A process of a session. Its units are what a request reaches it by. */
struct ez_session_process {
	int64_t pid; /* as it told; -1: it didn't */
	char *host;  /* "" likewise */
	char **units;
	size_t n_units;
};

struct ez_snapshot {
	struct ez_dag *graph;
	struct ez_session_process *processes;
	size_t n_processes;
};

void ez_snapshot_free(struct ez_snapshot *snapshot); /* NULL is fine */

/* 0; -EBADMSG = malformed or something else; -ENOTSUP, -EMSGSIZE, -ENOMEM. */
int ez_pickle_read_snapshot(const void *data, size_t len, struct ez_snapshot **ret_snapshot);

/* How a process took a request; why not, if ok is false. Errors as above. */
struct ez_process_answer {
	bool ok;
	char error[160];
};
int ez_pickle_read_process_answer(const void *data, size_t len,
				  struct ez_process_answer *ret_answer);

/* One sample; the strings are borrowed from the pickle. */
struct ez_trace_sample {
	int64_t pid; /* -1: not known */
	struct ez_str host;
	struct ez_str endpoint; /* "topic:uuid" */
	struct ez_str topic;	/* of a span with its coroutine behind it: "topic:name" */
	struct ez_str metric;
	struct ez_str channel_kind; /* "LOCAL", "SHM", "TCP", ..., or empty */
	double timestamp_ns;	    /* of the process's CLOCK_MONOTONIC */
	double value_ns;
	int64_t message_id; /* -1: none */
};
typedef void (*ez_trace_sink)(void *context, const struct ez_trace_sample *sample);

/* Hands every sample of a batch of the stream to sink. Errors as above; sink may have been called.
 */
int ez_pickle_read_trace(const void *data, size_t len, ez_trace_sink sink, void *context);

/* Tracing of everything in a process, which ends by itself after ttl_s. */
void ez_pickle_trace_control(struct ez_buffer *out, double ttl_s);
/* How the stream is wanted: a batch every interval_s, of so many samples per process. */
void ez_pickle_stream_control(struct ez_buffer *out, double interval_s, int64_t max_samples);

#endif
