/* SPDX-License-Identifier: MIT */
/* What a demo node is asked to be, from its command line. */
#ifndef EZ_NODE_OPTIONS_H
#define EZ_NODE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define NODE_TOPICS_MAX 16

enum node_role { NODE_SOURCE, NODE_RELAY, NODE_SINK };

struct node_options {
	enum node_role role;
	const char *topics[NODE_TOPICS_MAX]; /* source: 1; relay: from, to; sink: any number */
	int num_topics;
	const char *address;	/* NULL: as ez_context_create() */
	const char *host;	/* source, relay: where it listens; NULL: the library's default */
	const char *handle;	/* of subscribers; NULL: the topic */
	double rate_hz;		/* source; 0: as fast as it goes */
	uint64_t count;		/* source: messages, then it waits to be ended; 0: no limit */
	uint64_t bytes;		/* source: of each message */
	uint64_t work_ns;	/* relay, sink: time that each message takes */
	uint64_t num_buffers;	/* source, relay; 0: the library's default */
	bool tcp;		/* source, relay: publish by tcp only */
	bool monitor;		/* source: subscribe to its own topic too */
	bool leaky;		/* relay, sink */
	uint64_t wait_channels; /* source: start when that many channels are connected */
	uint64_t threads;	/* source: that many publish, together the count */
	int64_t cpu;		/* run on this one only; -1: anywhere */
	bool migrate;		/* source: to another CPU every 100 messages */
	bool stall_first;	/* sink: never give the first message back */
	bool spin;
	uint64_t burst;
};

/* Ends the process on a usage error (status 2), --help and --version. */
void node_options_parse(int argc, char **argv, struct node_options *ret_options);

#endif
