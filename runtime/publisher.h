/* SPDX-License-Identifier: MIT */
/*
 * A publisher: creation (publisher_create.c), end (publisher.c), the broadcast (broadcast.c), when
 * to wait (gate.c), how it waits (publisher_wait.c) or says when it needn't (publisher_ready.c),
 * its end of each channel (link.c), the segment (publisher_segment.c), and its link to the graph
 * server (publisher_graph.c). Threads publish in turns; `lock` guards the state that
 * acknowledgements change meanwhile.
 */
#ifndef EZ_PUBLISHER_H
#define EZ_PUBLISHER_H

#include <pthread.h>

#include "backpressure.h"
#include "channel.h"
#include "context.h"
#include "frames_out.h"
#include "gather.h"
#include "parts.h"
#include "poller.h"
#include "ready_fd.h"
#include "segment.h"
#include "stream.h"

/* A connected channel, as the publisher sees it. */
struct ez_link {
	struct ez_publisher *publisher; /* a reference */
	struct ez_link *next;
	struct ez_stream stream; /* read by the I/O thread, written under the publisher's lock */
	struct ez_uuid channel_id;
	struct ez_channel
		*local; /* a reference: the same process's channel, for delivery without wire */
	bool named;	/* it told its id */
	bool up;	/* handshake done: gets messages */
	bool shm_ok;
	bool is_local; /* messages go to `local` directly */
	bool sending;  /* the socket was full: the I/O thread goes on with `out` */
	struct ez_frames_out out;
	struct ez_holder holder;
	struct ez_entry *entry;
	uint64_t pid;
	struct ez_io_timer timer; /* I/O thread only, as is */
	struct ez_io_job release_job;
};

/* A segment and the link that keeps it alive at the graph server. */
struct ez_segment_lease {
	struct ez_segment_lease *next; /* replaced ones, newest first */
	struct ez_segment *segment;
	struct ez_stream stream; /* I/O thread only */
	struct ez_io_job job;
	struct ez_io_job free_job;
	uint64_t gone_at; /* a replaced one may be read until this message id is to be sent */
};

struct ez_publisher {
	struct ez_context *context;
	uint32_t refs;
	struct ez_publisher *next; /* in the context; I/O thread only */
	struct ez_uuid id;
	char *topic;
	uint32_t num_buffers;
	bool force_tcp;
	bool allow_local;
	bool pr206;		   /* EZ_HANDSHAKE=pr206 */
	bool quiet;		   /* EZMSG_DISABLE_BACKPRESSURE_WARNING */
	uint64_t lease_timeout_ns; /* 0: none */
	struct ez_channel *own;	   /* this process's channel to it: a user of it, and a reference */

	pthread_mutex_t lock;
	pthread_cond_t cond;
	pthread_cond_t turn_cond;
	bool turn_taken; /* a thread is broadcasting, perhaps waiting */
	uint32_t turn_waiters;
	uint64_t next_id;
	uint64_t total_bytes;
	uint64_t lease_timeouts;
	uint64_t departed; /* leases that ended because their holder left */
	bool paused;
	bool publishing;    /* a broadcast is past the gate */
	uint32_t observers; /* to be told of changes: a thread on cond or poller, ready_fd */
	struct ez_ready_fd ready_fd;
	ez_mono_ns_t blocked_ns; /* with lease_timeout_ns: since when ready_fd says so; 0 */
	struct ez_poller poller;
	bool created; /* the server said so */
	bool closed;
	bool own_settled;
	int failed; /* why it can't publish any more: -ECONNRESET */
	uint32_t syncs_owed;
	struct ez_slots slots;
	struct ez_segment_lease *lease; /* the segment in use */
	struct ez_segment_lease *old_leases;
	struct ez_link *links;
	struct ez_link *local_link;
	uint32_t sending_links;	 /* whose socket was full */
	struct ez_gather gather; /* frames in all links' `out` */
	uint32_t quick;		 /* so many messages came quickly one after the other */
	uint32_t quick_needed;	 /* for a flow */
	ez_mono_ns_t left_ns;	 /* the last one was done with; 0: it waited since */
	struct ez_io_late gather_job;
	struct ez_entry *entry;
	bool own_marked; /* the registry says that the own channel is local */

	/* I/O thread only */
	struct ez_io_source listener;
	struct ez_io_timer listen_timer; /* after too many open files */
	struct ez_io_timer lease_timer;	 /* with ready_fd and lease_timeout_ns */
	struct ez_stream graph;
	struct ez_io_job sync_job;
	struct ez_io_job release_job;
};

struct ez_publisher *ez_publisher_ref(struct ez_publisher *publisher);
void ez_publisher_unref(struct ez_publisher *publisher);

/* The buffer of that message. */
static inline uint8_t *ez_publisher_slot(const struct ez_publisher *publisher, uint64_t message_id)
{
	return ez_segment_slot(publisher->lease->segment, message_id % publisher->num_buffers);
}

/* ---- publisher_ready.c ---- */

/* ready_fd is there: makes it say whether a publish that can't wait would go ahead. */
void ez_publisher_show_fd_locked(struct ez_publisher *publisher);

/* After each change of that which others can see. Mostly nobody has asked for a descriptor. */
static inline void ez_publisher_show_locked(struct ez_publisher *publisher)
{
	if (publisher->ready_fd.fd >= 0)
		ez_publisher_show_fd_locked(publisher);
}

/* Tells those who wait, if any, that something changed. */
static inline void ez_publisher_wake_locked(struct ez_publisher *publisher)
{
	if (!publisher->observers)
		return;
	ez_publisher_show_locked(publisher);
	pthread_cond_broadcast(&publisher->cond);
	ez_poller_kick_locked(&publisher->poller);
}

/* ---- broadcast.c ---- */

/* See ez_publish_bytes(). */
int ez_broadcast(struct ez_publisher *publisher, const struct ez_outgoing *outgoing,
		 int64_t timeout_ns);
/*
 * The same in steps: on success the turn is the caller's until commit or abort, by any thread, and
 * *ret_slot has room for `bytes`, the marshalled message `next_id`.
 */
int ez_broadcast_begin(struct ez_publisher *publisher, size_t bytes, ez_mono_ns_t deadline_ns,
		       uint8_t **ret_slot);
void ez_broadcast_commit(struct ez_publisher *publisher, size_t bytes, ez_mono_ns_t deadline_ns);
void ez_broadcast_abort(struct ez_publisher *publisher);
/* Sends what waits for the next message: there will be none. */
void ez_broadcast_finish(struct ez_publisher *publisher, ez_mono_ns_t deadline_ns);

/* ---- link.c ---- */

/* The listening socket of a publisher has a connection. I/O thread. */
void ez_link_accept(struct ez_io_source *listener, uint32_t events);
/* Ends a link and frees what it leased. I/O thread, no lock held. */
void ez_link_close(struct ez_link *link);
/* Ends all of them. I/O thread. */
void ez_links_close(struct ez_publisher *publisher);
/* The own channel has released that message. Any thread, no lock held. */
void ez_link_local_release(struct ez_publisher *publisher, uint64_t message_id);
/* Ends the lease of a message that was acknowledged. */
void ez_link_release_locked(struct ez_link *link, uint64_t message_id);
/* Ends it because the holder is gone, or taken for gone. */
void ez_link_depart_locked(struct ez_link *link, uint64_t message_id);
/* Writes what is in `out`: the I/O thread goes on if the socket is full. */
void ez_link_flush_locked(struct ez_link *link);

/* ---- links_send.c ---- */

/* Of this process's own channel it is known; also with force_tcp nothing is sent to nobody there.
 */
static inline bool ez_link_has_listener(const struct ez_link *link)
{
	return !link->local || __atomic_load_n(&link->local->active_taps, __ATOMIC_RELAXED);
}

/* Begins a lease. */
void ez_link_lease(struct ez_link *link, uint64_t message_id, enum ez_transport transport);
/*
 * Leases the message in its slot to every channel at the other end of a socket and sends a frame to
 * each: at once, or in a flow of messages with the next ones (gather.h).
 */
void ez_links_send_locked(struct ez_publisher *publisher, uint64_t message_id, size_t bytes);
/*
 * The same of a large message from the caller's memory, without the copy into its slot: only what
 * sockets that are full leave is copied. Where all channels that listen take it by TCP, no other
 * frame waits, and it has few enough pieces.
 */
bool ez_links_take_pieces_locked(const struct ez_publisher *publisher,
				 const struct ez_outgoing *outgoing);
void ez_links_send_pieces_locked(struct ez_publisher *publisher, uint64_t message_id,
				 const struct ez_outgoing *outgoing, size_t bytes);
/* Sends what waits for that. Before each wait, and where there may be no next one. */
void ez_links_flush_locked(struct ez_publisher *publisher);
void ez_links_send_init(struct ez_publisher *publisher);

/* ---- gate.c ---- */

enum ez_gate {
	EZ_GATE_OPEN,
	EZ_GATE_PAUSED,
	EZ_GATE_BLOCKED, /* by a buffer that is leased, or a socket that is full */
	EZ_GATE_ENDED,	 /* closed or failed */
};

/* What the next message meets. */
enum ez_gate ez_gate_locked(const struct ez_publisher *publisher);
/* The next buffer has held the publisher up since then: its leases end if that is too long. */
void ez_gate_look_locked(struct ez_publisher *publisher, ez_mono_ns_t since_ns);
/* Waits until the next message may be written: not paused, its buffer free, all sockets drained. */
int ez_gate_pass_locked(struct ez_publisher *publisher, ez_mono_ns_t deadline_ns);
/* Waits until all sockets have taken their frames; -ETIMEDOUT leaves the rest to the I/O thread. */
int ez_gate_drain_locked(struct ez_publisher *publisher, uint64_t message_id,
			 ez_mono_ns_t deadline_ns);

/* ---- publisher_wait.c ---- */

/* Waits for anything that lets it go on; looks at acknowledgements itself. -ETIMEDOUT. In turn. */
int ez_publisher_wait_locked(struct ez_publisher *publisher, ez_mono_ns_t deadline_ns);

/* ---- publisher_segment.c ---- */

/*
 * The size to ask for, so that slots lie on multiples of 64 (prelude.h): each is 16 bytes per
 * buffer longer than what was asked for.
 */
uint64_t ez_segment_aligned_bytes(const struct ez_publisher *publisher, uint64_t bytes);
/* A new segment from the graph server, watched by the I/O thread. Blocks; no lock held. */
int ez_segment_lease_create(struct ez_publisher *publisher, uint64_t buffer_bytes,
			    ez_mono_ns_t deadline_ns, struct ez_segment_lease **ret_lease);
/* Gives it back. Any thread; the memory goes later. NULL is fine. */
void ez_segment_lease_end(struct ez_publisher *publisher, struct ez_segment_lease *lease);
/* Moves to a segment with room for `bytes`. In turn; the lock is dropped meanwhile. */
int ez_publisher_resize_locked(struct ez_publisher *publisher, size_t bytes);
/* Gives back segments that nobody can read any more, or all. In turn. */
void ez_publisher_end_old_leases(struct ez_publisher *publisher, bool all);

/* ---- publisher_graph.c ---- */

/* Takes over the PUBLISH connection after the address was sent. I/O thread. */
int ez_publisher_graph_start(struct ez_publisher *publisher, int fd);
/* Answers SYNC if all leases have ended: posts what does. */
void ez_publisher_check_sync_locked(struct ez_publisher *publisher);

#endif
