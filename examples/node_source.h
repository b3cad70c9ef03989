/* SPDX-License-Identifier: MIT */
/* A source: when and where it sends; and what the roles share. */
#ifndef EZ_NODE_SOURCE_H
#define EZ_NODE_SOURCE_H

#include <ezmsg/ezmsg.h>

#include "node_options.h"

struct node {
	const struct node_options *options;
	int stop_fd;
	struct ez_context *context;
	struct ez_publisher *publisher;
	struct ez_subscriber *subscribers[NODE_TOPICS_MAX];
	int num_subscribers;
	uint8_t *content;
	struct ez_message kept; /* by a stalled sink, until its end */
};

/* Was it told to end? Waits for that up to timeout_ms, -1 = for ever. */
bool node_stopped(const struct node *node, int timeout_ms);

/* Sends one message; 1 when it is time to go instead, negative errno. */
int node_publish(struct node *node);

/* Sends what the options say, then waits to be ended. 0 or a negative errno. */
int node_run_source(struct node *node);

#endif
