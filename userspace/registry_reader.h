/* SPDX-License-Identifier: MIT */
/*
 * Reads the endpoint registry of a foreign process. Everything there is hostile: it may be no
 * registry at all, point anywhere, and change while it is read. So counts, sizes and pointers are
 * bounded, work per reading has a budget, nothing is retried for ever, and what comes out are
 * copies whose strings are valid UTF-8. No I/O of its own: memory is reached by a function.
 */
#ifndef EZPROF_REGISTRY_READER_H
#define EZPROF_REGISTRY_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "closed_blocks.h"
#include "foreign_memory.h"
#include "registry_layout.h"
#include "uuid.h"

/* Open endpoints of one registry beyond this are left out: a document has to be made in time. */
#define EZPROF_ENDPOINTS_READ_MAX 4096u

/* What an endpoint has counted, read in one moment. Times: host's CLOCK_MONOTONIC, ns; 0 = none. */
struct ezprof_totals {
	uint64_t messages;
	uint64_t bytes;
	uint64_t leases;
	uint64_t frees;
	uint64_t drops;
	uint64_t unsized;
	uint64_t disconnect_frees;
	uint64_t blocked_since_ns;
	uint64_t blocked_ns;
	uint64_t span_ns;			/* of a task; publisher: serialising */
	uint64_t hold_ns, hold_max_ns;		/* of a task */
	uint64_t hold_max_at_ns, hold_since_ns; /* likewise; 0 = none */
	uint32_t transport;			/* enum ez_transport, always a valid one */
	bool stable; /* all of one moment, and whatever they hold has been through the probes */
};

/* One endpoint that is open. Strings are never NULL and belong to the list or the reader. */
struct ezprof_endpoint {
	uint32_t index;
	uint32_t generation;
	uint32_t kind; /* enum ez_endpoint_kind, always a valid one */
	uint32_t num_buffers;
	uint64_t opened_ns;
	struct ez_uuid id;
	struct ez_uuid publisher_id;
	struct ez_uuid channel_id;
	struct ez_uuid subscriber_id;
	const char *topic;
	const char *handle;
	const char *task;
	pid_t peer_pid;		  /* 0 = unknown */
	uint64_t page;		  /* address of its pages in the process, 0 = none; hostile */
	uint64_t oldest_lease_ns; /* start of the oldest open lease, 0 = none or not known */
	struct ezprof_totals totals;
};

struct ezprof_endpoints {
	struct ezprof_endpoint *list;
	size_t count;
	uint64_t threads;  /* address of its table of threads; 0: none; hostile */
	uint32_t dropped;  /* endpoints for which the process had no room */
	uint32_t left_out; /* endpoints that could not be read, or were over a budget */
	const struct ezprof_closed_blocks *closed;   /* of the newest reading */
	char graph_address[EZ_REGISTRY_ADDRESS_MAX]; /* "" = none; printable ASCII, not judged
							further */
};

/* What a reader needs to know of the process. */
struct ezprof_registry_place {
	struct ezprof_memory memory;
	uint64_t address;	 /* of struct ez_registry in the process */
	pid_t owner_pid;	 /* the process's pid in its own (innermost) pid namespace */
	int64_t clock_offset_ns; /* its CLOCK_MONOTONIC minus the host's */
};

struct ezprof_registry_reader;

/* A reader of one registry; keeps strings between readings. One thread. NULL without memory. */
struct ezprof_registry_reader *
ezprof_registry_reader_new(const struct ezprof_registry_place *place);
void ezprof_registry_reader_free(struct ezprof_registry_reader *reader); /* NULL is fine */

/*
 * Reads all open endpoints; now_ns is the host's clock. The list belongs to the reader and stays
 * valid until the next call that succeeds. Errors: -ENODATA no endpoint was ever opened there;
 * -ESTALE the registry is that of a process from which this one was forked; -EPROTO it is none of
 * ours or damaged; -ESRCH the process is gone; -EFAULT unreadable; -ENOMEM. An entry that can't be
 * read, or of which no two copies in a row were of one endpoint, is counted as left out.
 */
int ezprof_registry_read(struct ezprof_registry_reader *reader, uint64_t now_ns,
			 const struct ezprof_endpoints **ret_endpoints);

/*
 * The same for who looks again and again at which endpoints there are, whether or not anybody asks
 * what they have counted: an entry that moves is copied a few times only, not until it is found at
 * rest. So its counters may be of no single moment; totals.stable says so.
 */
int ezprof_registry_glance(struct ezprof_registry_reader *reader, uint64_t now_ns,
			   const struct ezprof_endpoints **ret_endpoints);

/*
 * Reads the counters of one endpoint of the newest list again, and right after them the start of
 * its oldest lease as of then (ret_oldest_ns may be NULL). -ESTALE if it was closed since; -EFAULT
 * too if no two copies in a row were of one endpoint; otherwise as above.
 */
int ezprof_registry_reread(struct ezprof_registry_reader *reader,
			   const struct ezprof_endpoint *endpoint, struct ezprof_totals *ret_totals,
			   uint64_t *ret_oldest_ns);

#endif
