/* SPDX-License-Identifier: MIT */
/*
 * A channel: this process's end of the connection to one publisher, shared by all subscribers of
 * the context. Its life on the I/O thread: set up (channel_setup.c), receive frames (channel_rx.c),
 * close. What it received is a delivery, held by an item per tap; a tap is one subscriber on one
 * channel, a "client" in the registry (delivery.c). When the last item of a delivery is released
 * the publisher gets its acknowledgement.
 *
 * `lock` guards everything that isn't marked as I/O thread only. Lock order: a publisher's lock,
 * a channel's lock, a subscriber's lock.
 */
#ifndef EZ_CHANNEL_H
#define EZ_CHANNEL_H

#include <pthread.h>

#include "context.h"
#include "gather.h"
#include "parts.h"
#include "registry.h"
#include "rx_heap.h"
#include "segment.h"
#include "stream.h"

struct ez_tap;

/* One message on one channel. */
struct ez_delivery {
	struct ez_delivery *next_free;
	uint64_t id;
	enum ez_via via;
	uint32_t holders;	    /* items */
	struct ez_segment *segment; /* where it lies, or */
	uint8_t *heap;		    /* its own memory (tcp) */
	struct ez_parts parts;
};

/* A delivery as one tap has it: in the subscriber's queue, then in the user's hands. */
struct ez_item {
	struct ez_item *next; /* in the queue, or in the list of free ones */
	struct ez_item *tap_next;
	struct ez_item **tap_link; /* what points to this one in the tap's list */
	struct ez_tap *tap;
	struct ez_delivery *delivery;
	bool followed;	       /* the tap had another one in the queue when this was taken */
	ez_mono_ns_t taken_ns; /* 0: not known */
};

struct ez_tap {
	struct ez_channel *channel;	  /* a reference */
	struct ez_subscriber *subscriber; /* a reference */
	struct ez_tap *next;		  /* on the channel */
	struct ez_tap *subscriber_next;	  /* I/O thread only */
	struct ez_entry *entry;
	struct ez_item *items; /* everything it has not released yet */
	uint32_t queued;       /* of these in the subscriber's queue; under its lock */
	bool leaving;	       /* gets nothing new, ends with its last item */
};

enum ez_channel_state { EZ_CHANNEL_SETUP, EZ_CHANNEL_UP, EZ_CHANNEL_CLOSED };

enum ez_setup_phase {
	EZ_SETUP_GREETING, /* of the graph server */
	EZ_SETUP_ID,	   /* its answer to CHANNEL */
	EZ_SETUP_NAMES,	   /* the publisher's topic and segment */
	EZ_SETUP_ATTACH,   /* SHM_ATTACH at the graph server */
	EZ_SETUP_CONFIRM,  /* the publisher's COMPLETE */
	EZ_SETUP_DONE,
};

enum ez_attach_phase { EZ_ATTACH_GREETING, EZ_ATTACH_ANSWER, EZ_ATTACH_HELD };

struct ez_channel {
	struct ez_context *context;
	uint32_t refs;
	struct ez_channel *next; /* in the context; I/O thread only */
	struct ez_uuid publisher_id;
	struct ez_uuid id;
	struct ez_publisher *local; /* a reference, where the publisher lives in this context */
	char *topic;		    /* the publisher's; constant once up */

	pthread_mutex_t lock;
	enum ez_channel_state state;
	uint32_t num_buffers;
	uint32_t active_taps; /* also read without the lock, as a hint */
	uint32_t users;	      /* pins, taps, deliveries: closed when there are none */
	struct ez_tap *taps;
	struct ez_entry *entry;
	struct ez_buffer acks; /* what the socket could not take, and what is gathered */
	struct ez_gather gather;
	struct ez_io_late gather_job;
	struct ez_delivery *free_deliveries;
	struct ez_item *free_items;
	struct ez_rx_heap *free_heaps;

	/* I/O thread only */
	enum ez_setup_phase phase;
	enum ez_attach_phase attach_phase;
	bool shm_ok;
	struct ez_stream graph; /* CHANNEL link */
	struct ez_stream peer;	/* to the publisher; written to under the lock once up */
	struct ez_stream lease; /* SHM_ATTACH link */
	struct ez_io_timer timer;
	ez_mono_ns_t setup_deadline_ns;
	struct ez_io_job retire_job;
	struct ez_io_job release_job;
	struct ez_segment *segment;
	char segment_name[EZ_SEGMENT_NAME_BYTES]; /* attached, or being attached */
	uint64_t rx_id;	  /* of the frame whose body or segment is awaited */
	bool acks_held;	  /* until the batch ends */
	uint8_t *rx_heap; /* TX_TCP: the message being received */
	size_t rx_bytes;
	void (*settled)(void *argument); /* the publisher that waits for its own channel */
	void *settled_argument;
};

/* ---- channel.c ---- */

/*
 * The channel to that publisher, made if need be, with one more user. NULL without memory. A new
 * one begins its setup at once; a failure shows as EZ_CHANNEL_CLOSED, later. I/O thread.
 */
struct ez_channel *ez_channel_get(struct ez_context *context, const struct ez_uuid *publisher_id);
/* Gives that up. I/O thread. */
void ez_channel_put(struct ez_channel *channel);

struct ez_channel *ez_channel_ref(struct ez_channel *channel);
void ez_channel_unref(struct ez_channel *channel);

/*
 * Ends the connection: no more messages; what was delivered stays readable. Whatever waited for it
 * is told. I/O thread, no lock held.
 */
void ez_channel_close(struct ez_channel *channel);

/* Enters channel and taps into the registry and tells those who wait. I/O thread. */
void ez_channel_up(struct ez_channel *channel);

/* Its socket can be read, by those who wait too: tells their pollers. I/O thread, no lock held. */
void ez_channel_shared(struct ez_channel *channel);

/* With the lock: what to do when users may have become 0. */
void ez_channel_check_idle_locked(struct ez_channel *channel);

/* ---- channel_setup.c, I/O thread ---- */

/* Begins the handshakes; a failure comes as ez_channel_close(). */
void ez_channel_setup(struct ez_channel *channel);
void ez_channel_setup_attached(struct ez_channel *channel, int err);

/* ---- channel_attach.c, I/O thread ---- */

void ez_channel_attach_init(struct ez_channel *channel);
/*
 * Attaches the segment `name` in place of the present one. Ends in ez_channel_setup_attached() or,
 * for a channel that is up, ez_channel_rx_attached(), perhaps at once.
 */
void ez_channel_attach(struct ez_channel *channel, const char *name);

/* ---- channel_rx.c, I/O thread ---- */

/* Parses the frames of a channel that is up (stream.h). */
int ez_channel_rx_parse(struct ez_stream *stream, struct ez_reader *reader);
int ez_channel_rx_sunk(struct ez_stream *stream);
void ez_channel_rx_writable(struct ez_stream *stream);
void ez_channel_rx_batch_end(struct ez_stream *stream);
void ez_channel_rx_attached(struct ez_channel *channel, int err);
void ez_channel_rx_free(struct ez_channel *channel);

static inline struct ez_channel *ez_channel_of_peer(struct ez_stream *stream)
{
	return (struct ez_channel *)((char *)stream - offsetof(struct ez_channel, peer));
}

/* ---- tap.c ---- */

/* Puts a subscriber on the channel, whose user it becomes. NULL without memory. I/O thread. */
struct ez_tap *ez_tap_join(struct ez_channel *channel, struct ez_subscriber *subscriber);
/* No more messages; the unread ones may still be read. I/O thread. */
void ez_tap_leave(struct ez_tap *tap);
/* The same, and the unread ones are released. I/O thread. */
void ez_tap_evict(struct ez_tap *tap);
/* Enters it into the registry; the channel is up. */
void ez_tap_open_entry_locked(struct ez_tap *tap);
/* Takes an ended tap off its channel; true, so that the caller goes on to ez_tap_free() unlocked.
 */
bool ez_tap_end_locked(struct ez_tap *tap);
void ez_tap_free(struct ez_tap *tap);

/* ---- delivery.c ---- */

/*
 * Queues a message for every tap; takes over the parts, the segment's reference, the heap. Items
 * that leaky subscribers dropped for it are put before *dropped, to be given to ez_items_drop()
 * once no lock is held. False: nobody took it, and it is finished (acknowledged, unless local).
 */
bool ez_deliver_locked(struct ez_channel *channel, uint64_t id, enum ez_via via,
		       const struct ez_parts *parts, struct ez_segment *segment, uint8_t *heap,
		       struct ez_item **dropped);

/* Releases items unread. Any thread, no lock held. */
void ez_items_drop(struct ez_item *items);
/* The user is done with it. Any thread, no lock held. */
void ez_item_release(struct ez_item *item);
/* Releases items of taps that left: no measurement. No lock held. */
void ez_items_depart(struct ez_item *items);

/* ---- channel_acks.c ---- */

void ez_channel_acks_init(struct ez_channel *channel);
/* Sends RX_ACK, or keeps it until the socket can take it, or until the batch of frames ends. */
void ez_channel_acknowledge_locked(struct ez_channel *channel, uint64_t message_id);
/* Sends it perhaps with those of the next messages (gather.h), which are there already. */
void ez_channel_acknowledge_soon_locked(struct ez_channel *channel, uint64_t message_id,
					ez_mono_ns_t now_ns);
/* Sends what waits for that. */
void ez_channel_flush_acks_locked(struct ez_channel *channel);

#endif
