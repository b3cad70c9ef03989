/* SPDX-License-Identifier: MIT */
/*
 * Samples of ezmsg's trace stream, summed up per endpoint and coroutine over a window. What is
 * older (the graph server sends what it still has first) stays out: by this machine's clock where
 * the process is of this host, else by what the first sample after the beginning says. Pure; one
 * thread.
 */
#ifndef EZPROF_EZMSG_TRACES_H
#define EZPROF_EZMSG_TRACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pickle_session.h"

struct ezprof_trace_sum {
	uint64_t n;
	double sum_ns, max_ns;
};

struct ezprof_trace_task {
	char *name; /* the coroutine's */
	struct ezprof_trace_sum span;
};

struct ezprof_trace_endpoint {
	char *topic, *id;
	size_t process; /* of traces */
	bool publishes;
	char transport[8];	   /* "local", "shm", "tcp", "unknown" */
	uint64_t messages;	   /* samples that stand for one each */
	int64_t first_id, last_id; /* publisher: of the messages sampled; -1: none */
	/* gap, wait: publisher. lease, span: subscriber. */
	struct ezprof_trace_sum gap, wait, lease, span;
	struct ezprof_trace_task *tasks;
	size_t n_tasks;
};

struct ezprof_trace_process {
	int64_t pid;
	char *host;
	bool is_local;	 /* its clock is ours */
	double begin_ns; /* else: of its first sample in the window */
};

struct ezprof_traces {
	const char *host;      /* our own name; borrowed */
	double from_ns, to_ns; /* the window, by our clock */
	bool started;	       /* false: samples are only noticed */
	uint64_t batches;      /* read so far, counted by the reader: the first one is old mostly */
	uint64_t noticed;      /* samples of now that arrived before the start: somebody traces */
	uint64_t seen;	       /* samples, whenever they are from */
	double newest_ns;      /* the newest sample of this host before the start; 0: none */
	struct ezprof_trace_process *processes;
	size_t n_processes;
	struct ezprof_trace_endpoint *endpoints;
	size_t n_endpoints;
	uint64_t no_room; /* samples of endpoints that found none */
};

/* Notices samples from now_ns on. */
void ezprof_traces_init(struct ezprof_traces *traces, const char *host, uint64_t now_ns);
void ezprof_traces_free(struct ezprof_traces *traces);

/* From now on samples count, for window_ns. */
void ezprof_traces_start(struct ezprof_traces *traces, uint64_t now_ns, uint64_t window_ns);

/* An ez_trace_sink; context = struct ezprof_traces. */
void ezprof_traces_add(void *context, const struct ez_trace_sample *sample);

#endif
