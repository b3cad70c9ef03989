/* SPDX-License-Identifier: MIT */
/*
 * The writer's side of the endpoint registry: open and close endpoints. The table lives as long
 * as the process; a forked child starts with an empty one of its own.
 */
#ifndef EZ_REGISTRY_H
#define EZ_REGISTRY_H

#include "registry_layout.h"

/* What an endpoint is, once and for all. Strings are copied; NULL counts as "". */
struct ez_endpoint_spec {
	enum ez_endpoint_kind kind;
	uint32_t num_buffers; /* buffers of the publisher: at most EZ_REGISTRY_BUFFERS_MAX */
	const uint8_t *id;    /* each 16 bytes in UUID byte order, or NULL */
	const uint8_t *publisher_id;
	const uint8_t *channel_id;
	const uint8_t *subscriber_id;
	const char *topic;
	const char *handle;
	const char *task;
	uint32_t peer_pid;
};

/*
 * Enters an endpoint and fires endpoint_open. The entry is valid until ez_registry_close(), or a
 * fork in the child. Any thread.
 * Errors: -EINVAL num_buffers out of range; -ENOMEM; -ENOSPC no room (counted in the header; the
 * caller goes on without an entry: every function of endpoint.h takes NULL).
 */
int ez_registry_open(const struct ez_endpoint_spec *spec, struct ez_entry **ret_entry);

/* Ends an endpoint and fires endpoint_close. NULL is ignored. The caller holds its lock. */
void ez_registry_close(struct ez_entry *entry);

/* Notes the graph server in use, `host:port`; cut to EZ_REGISTRY_ADDRESS_MAX - 1. Any thread. */
void ez_registry_set_graph_address(const char *address);

#endif
