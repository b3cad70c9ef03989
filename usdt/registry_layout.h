/* SPDX-License-Identifier: MIT */
/*
 * The endpoint registry as it lies in the memory of an instrumented process: who exists there, and
 * what it has counted since it was opened. A profiler that attaches late reads it from outside, so
 * the layout is ABI, versioned, and to its reader hostile input. Writers: registry.h, endpoint.h.
 *
 * It is found by an ELF note in the object that carries the probes: section `.note.ezprof`, name
 * "ezprof", type EZ_REGISTRY_NOTE_TYPE, descriptor struct ez_registry_note. Like a stapsdt note
 * the section isn't loaded and its addresses are those of link time; adding the object's load bias
 * gives the address in the process. Two objects in one process have a registry each.
 */
#ifndef EZ_REGISTRY_LAYOUT_H
#define EZ_REGISTRY_LAYOUT_H

#include <stdint.h>

#define EZ_REGISTRY_MAGIC 0x47455250455a4553ull
#define EZ_REGISTRY_VERSION 1u
#define EZ_REGISTRY_NOTE_NAME "ezprof"
#define EZ_REGISTRY_NOTE_TYPE 1u

/* The table grows by chunks that never move. An index is chunk << 6 | place in it. */
#define EZ_REGISTRY_CHUNK_ENTRIES 64u
#define EZ_REGISTRY_CHUNKS 256u
#define EZ_REGISTRY_ENTRIES_MAX (EZ_REGISTRY_CHUNK_ENTRIES * EZ_REGISTRY_CHUNKS)

/* An index is given to another endpoint this long after its close at the earliest. */
#define EZ_REGISTRY_REUSE_NS 20000000000ull

/* Longest strings and tables that a reader follows. */
#define EZ_REGISTRY_STRING_MAX 65536u
#define EZ_REGISTRY_BUFFERS_MAX 65536u
#define EZ_REGISTRY_ADDRESS_MAX 128u

/* How a probe names an endpoint. */
#define EZ_ENDPOINT_REF(generation, index) ((uint64_t)(generation) << 32 | (uint32_t)(index))
#define EZ_ENDPOINT_INDEX(ref) ((uint32_t)(ref))
#define EZ_ENDPOINT_GENERATION(ref) ((uint32_t)((ref) >> 32))

/* clang-format off */
#define EZ_ENDPOINT_KIND_LIST(X) \
	X(PUBLISHER, 1, "publisher") /* a publisher */ \
	X(LINK, 2, "link")           /* a publisher's connection to one channel; leases its buffers */ \
	X(CHANNEL, 3, "channel")     /* a process's end of the connection to one publisher */ \
	X(CLIENT, 4, "client")       /* one subscriber on one channel; leases the channel's buffers */ \
	X(TASK, 5, "task")           /* a coroutine on an event loop; no id, no buffers */

#define EZ_TRANSPORT_LIST(X) \
	X(UNKNOWN, 0, "unknown") \
	X(LOCAL, 1, "local") \
	X(SHM, 2, "shm") \
	X(TCP, 3, "tcp")
/* clang-format on */

#define EZ_LAYOUT_ENUM_KIND(name, value, text) EZ_KIND_##name = value,
#define EZ_LAYOUT_ENUM_TRANSPORT(name, value, text) EZ_TRANSPORT_##name = value,
enum ez_endpoint_kind { EZ_ENDPOINT_KIND_LIST(EZ_LAYOUT_ENUM_KIND) };
enum ez_transport { EZ_TRANSPORT_LIST(EZ_LAYOUT_ENUM_TRANSPORT) };
#undef EZ_LAYOUT_ENUM_KIND
#undef EZ_LAYOUT_ENUM_TRANSPORT

enum ez_entry_state { EZ_ENTRY_FREE = 0, EZ_ENTRY_OPEN = 1, EZ_ENTRY_CLOSED = 2 };

struct ez_registry_note {
	uint32_t version;
	uint32_t reserved;
	uint64_t registry; /* link-time address of struct ez_registry */
	uint64_t base;	   /* link-time address of _.stapsdt.base, as in a stapsdt note */
};

/*
 * One endpoint. Times are CLOCK_MONOTONIC of the process (its time namespace) in ns, 0 = none.
 * `seq` is odd while an update is in progress: from before the counters move until the probe that
 * reports the move has returned. So a reader that finds it even and unchanged knows that whatever
 * the counters hold has been through the probes. Everything above `seq` is written before `state`
 * becomes EZ_ENTRY_OPEN and is constant until the entry is used again with another generation.
 *
 * Counters only grow. In-flight = leases - frees.
 *   publisher  messages, bytes: broadcasts completed, marshalled sizes; disconnect_frees: those of
 *              its links that are closed
 *   link       leases, frees: of the publisher's buffers to that channel; bytes: of freed messages
 *   channel    messages, bytes: messages that arrived
 *   client     leases: queued for this subscriber; frees: released by it (= its messages); bytes:
 *              of the released messages; drops: released without having been read (leaky)
 *   task       messages: calls that ended; blocked_ns: what it was blocked publishing
 */
struct ez_entry {
	/* identity: constant while open */
	uint32_t state;	     /* enum ez_entry_state; written last at open */
	uint32_t generation; /* 1.. ; raised at each reuse, before anything else changes */
	uint32_t kind;	     /* enum ez_endpoint_kind */
	uint32_t num_buffers;
	uint64_t opened_ns;
	uint64_t closed_ns;
	uint8_t id[16]; /* own id, UUID byte order: publisher's, channel's (link: that channel's) or
			   subscriber's */
	uint8_t publisher_id[16];
	uint8_t channel_id[16];	   /* link, channel, client */
	uint8_t subscriber_id[16]; /* client */
	uint64_t topic;		   /* addresses of NUL-terminated strings */
	uint64_t handle;
	uint64_t task;
	uint32_t topic_bytes; /* without the NUL */
	uint32_t handle_bytes;
	uint32_t task_bytes;
	uint32_t peer_pid;     /* link: pid of the channel's process as it told; channel: 0 */
	uint64_t lease_starts; /* address of uint64_t[num_buffers]: start of the lease, 0 = free;
				  odd: exact; even: right to a kernel tick */
	uint64_t page;	       /* address of its pages, see bucket_layout.h; 0: none */
	uint32_t index;	       /* own index, so that a probe needn't look for it */
	uint32_t reserved_identity;

	/* counters: written under the endpoint's lock */
	uint32_t seq;
	uint32_t transport; /* enum ez_transport: how the last message travelled */
	uint64_t messages;
	uint64_t bytes;
	uint64_t leases;
	uint64_t frees;
	uint64_t drops;
	uint64_t unsized;	    /* messages whose size is unknown: not in bytes */
	uint64_t disconnect_frees;  /* of frees: leases ended because the holder left */
	uint64_t blocked_since_ns;  /* publisher: start of the wait in progress */
	uint64_t blocked_ns;	    /* publisher: sum of the ended waits */
	uint64_t callback_since_ns; /* client: reserved for the time-aware paths; 0. task: since
				       when it holds its event loop */
	uint64_t marks;		    /* client: the process's own, no business of readers */
	uint64_t span_ns;	    /* task: sum of its calls from begin to end, without blocked_ns.
				       publisher: of serialising and copying its messages */
	uint64_t hold_ns;	    /* task: sum of the times in which it held its event loop, */
	uint64_t hold_max_ns;	    /* the longest of them, */
	uint64_t hold_max_at_ns;    /* and when that began */
};
_Static_assert(sizeof(struct ez_entry) == 288, "registry entry is ABI");
_Static_assert(__builtin_offsetof(struct ez_entry, seq) == 160, "registry entry is ABI");

struct ez_registry {
	uint64_t magic; /* EZ_REGISTRY_MAGIC once usable */
	uint32_t version;
	uint32_t header_bytes; /* sizeof(struct ez_registry) */
	uint32_t entry_bytes;  /* sizeof(struct ez_entry) */
	uint32_t owner_pid;    /* in its own pid namespace; a copy in a forked child is void until
				  reset */
	uint32_t count;	       /* entries in use so far: indices are < count */
	uint32_t dropped;      /* endpoints that found no room */
	uint64_t changes;      /* raised at each open and close */
	char graph_address[EZ_REGISTRY_ADDRESS_MAX]; /* host:port of the graph server in use, or ""
						      */
	uint64_t chunks[EZ_REGISTRY_CHUNKS];	     /* addresses of struct ez_entry[64] */
	uint64_t threads; /* address of struct ez_thread_table, 0: none; there if header_bytes says
			     so */
};
_Static_assert(sizeof(struct ez_registry) == 48 + 128 + 8 * EZ_REGISTRY_CHUNKS, "registry is ABI");
#define EZ_REGISTRY_HEADER_BYTES_MIN (40u + 128u + 8u * EZ_REGISTRY_CHUNKS) /* before `threads` */

#endif
