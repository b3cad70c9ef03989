/* SPDX-License-Identifier: MIT */
/* A publisher with a descriptor, and somebody who reads what it sends. Everything is asserted. */
#ifndef EZ_READY_FIXTURE_H
#define EZ_READY_FIXTURE_H

#include <stdbool.h>

#include "graph_fixture.h"

#define PATIENCE_MS 20000

struct fixture {
	struct graph *graph;
	struct ez_context *context;
	struct ez_publisher *publisher;
	int fd;
	/* Who reads: a subscriber of the same context, or a process. */
	enum ez_via via;
	struct ez_subscriber *subscriber;
	struct ez_message message;
	struct peer peer;
};

/* Without the descriptor; force_tcp is set as needed. */
void open_publisher(struct fixture *f, void **state, enum ez_via via,
		    const struct ez_publisher_options *wanted);
void open_all(struct fixture *f, void **state, enum ez_via via, uint32_t num_buffers);
void close_all(struct fixture *f);

/* The reader takes the next message, gives it back. */
void take(struct fixture *f);
void release(struct fixture *f);

bool readable(int fd, int timeout_ms);
int publish_now(struct fixture *f);
/* It says yes, soon, and it is so. */
void send_one(struct fixture *f);
/* It says no, or will soon; and it is so. */
void expect_shut(struct fixture *f);

#endif
