/* SPDX-License-Identifier: MIT */
/*
 * A subscriber: a queue of items that its channels fill, and the link on which the graph server
 * says which publishers it hears (update.c). `lock` guards the queue and what is marked so.
 */
#ifndef EZ_SUBSCRIBER_H
#define EZ_SUBSCRIBER_H

#include "channel.h"
#include "poller.h"
#include "ready_fd.h"

struct ez_subscriber {
	struct ez_context *context;
	uint32_t refs;
	struct ez_subscriber *next; /* in the context; I/O thread only */
	struct ez_uuid id;	    /* set before the first channel is made */
	char *topic;
	char *handle;
	char *task;
	bool leaky;
	uint32_t max_queue;
	bool count_only;
	ez_message_fn callback;
	void *user;
	pthread_t thread; /* the callback's, if there is one */

	pthread_mutex_t lock;
	pthread_cond_t cond;
	struct ez_item *first; /* queue */
	struct ez_item **last;
	uint32_t queued;
	uint32_t waiting; /* threads in ez_receive() */
	uint32_t inside;  /* threads anywhere in it */
	struct ez_ready_fd ready_fd;
	struct ez_poller poller;
	bool created; /* the server said so */
	bool closed;
	int failed; /* why nothing will come any more: -ECONNRESET */

	/* atomic */
	uint64_t messages;
	uint64_t bytes;
	uint64_t drops;

	/* I/O thread only */
	struct ez_stream graph;
	bool identified;
	uint64_t updates_owed; /* UPDATEs to confirm once all channels are settled */
	struct ez_tap *taps;
	struct ez_io_job release_job;
};

struct ez_subscriber *ez_subscriber_ref(struct ez_subscriber *subscriber);
void ez_subscriber_unref(struct ez_subscriber *subscriber);

/* Appends an item; a leaky one's oldest goes before *dropped. Channel lock held. */
void ez_subscriber_push(struct ez_subscriber *subscriber, struct ez_item *item,
			struct ez_item **dropped);
/* Takes the tap's items, or all (NULL), out of the queue: a list by `next`. */
struct ez_item *ez_subscriber_purge(struct ez_subscriber *subscriber, const struct ez_tap *tap);

/* The oldest item, NULL if there is none. */
struct ez_item *ez_subscriber_pop_locked(struct ez_subscriber *subscriber);

/* Makes ready_fd say whether ez_receive() has something to return. After each change of that. */
void ez_subscriber_show_locked(struct ez_subscriber *subscriber);

/* Channels came or went: the poller is to be looked after before the next wait. No lock held. */
void ez_subscriber_unsettle_poller(struct ez_subscriber *subscriber);
/* All threads that wait look again. */
void ez_subscriber_wake_all_locked(struct ez_subscriber *subscriber);

/* ---- subscriber_wait.c ---- */

/* Waits for an item, or for anything; looks at sockets itself where it can. -ETIMEDOUT. */
int ez_subscriber_wait_locked(struct ez_subscriber *subscriber, ez_mono_ns_t deadline_ns);

/* ---- update.c, I/O thread ---- */

/* Takes over the connection on which SUBSCRIBE was sent. */
int ez_subscriber_start(struct ez_subscriber *subscriber, int fd);
/* One of its channels came up or failed: confirms UPDATEs when none is pending. */
void ez_subscriber_settle(struct ez_subscriber *subscriber);
/* Leaves all channels and ends the link. */
void ez_subscriber_stop(struct ez_subscriber *subscriber);

#endif
