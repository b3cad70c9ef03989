/* SPDX-License-Identifier: MIT */
/*
 * libezmsg: publish and subscribe in an ezmsg graph from C, measurable from outside.
 *
 * A context is the process's tie to one graph server; it owns one background thread that serves
 * all sockets. Publishers and subscribers are made in a context, and those of one context reach
 * each other without leaving the process; two contexts of a process are as two processes. A message
 * is a value that Python peers can read: ez_publish_bytes() sends `bytes`, ez_publish_array() a
 * numpy array. docs/runtime.md tells it from the beginning.
 *
 * Conventions for all functions: 0 or a count on success, a negative errno on failure. Times are
 * nanoseconds (`_ns`); a time-out of EZ_FOREVER never ends, 0 tries once. Strings are UTF-8 and
 * copied. Destroy functions accept NULL. Unless said otherwise a function may be called from any
 * thread, but not from a signal handler, and blocks only for as long as its time-out says.
 *
 * Environment: EZMSG_GRAPHSERVER_ADDR, EZMSG_PUBLISHER_PORT_START, EZMSG_FORCE_TCP,
 * EZMSG_ALLOW_LOCAL, EZMSG_DISABLE_BACKPRESSURE_WARNING, EZMSG_DISABLE_AXIS_ELISION as in ezmsg;
 * EZMSG_LOGLEVEL (DEBUG ... CRITICAL) lets the library write to
 * stderr, without it it never does; EZ_LEASE_TIMEOUT_MS frees a buffer that held a publisher up for
 * so long (default: never); EZ_COUNT_ONLY=1 allows only subscribers that don't read payloads, which
 * keeps publishers of ezmsg 3.10 sending short references; EZ_HANDSHAKE=pr206 speaks to channels of
 * ezmsg's pull request 206; EZPROF_HELLO=1 asks any graph server whether it is ezprof's, 0 none.
 *
 * fork(): a child must not use its parent's objects; calls on them return -EOWNERDEAD. It makes a
 * context of its own.
 *
 * SIGBUS: a peer may truncate shared memory that is mapped here. The library's handler, installed
 * with the first segment, puts zeros there, and the link ends; all other SIGBUS go to the handler
 * that was there before. A thread that blocks SIGBUS is not saved, nor is a process that replaces
 * the handler.
 */
#ifndef EZMSG_EZMSG_H
#define EZMSG_EZMSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EZ_API __attribute__((visibility("default")))
#define EZ_FOREVER INT64_MAX

struct ez_context;
struct ez_publisher;
struct ez_subscriber;

/* How a message reached this process. */
enum ez_via { EZ_VIA_UNKNOWN = 0, EZ_VIA_LOCAL = 1, EZ_VIA_SHM = 2, EZ_VIA_TCP = 3 };

/* What a message holds, as far as the runtime reads pickles. */
enum ez_type {
	EZ_TYPE_OTHER = 0, /* any other pickle: only the raw buffers are given */
	EZ_TYPE_NONE,
	EZ_TYPE_BOOL,
	EZ_TYPE_INT,
	EZ_TYPE_FLOAT,
	EZ_TYPE_STR,
	EZ_TYPE_BYTES,
	EZ_TYPE_ARRAY,
};

#define EZ_DIMENSIONS_MAX 32

/*
 * A received message: a borrowed view, valid until ez_message_release(), to be read only. Zero copy
 * on local and shm; `buffers[0]` is the pickle, the others its out-of-band buffers. Elements of
 * arrays that were published by this library lie on a multiple of 64; those of others anywhere.
 */
struct ez_message {
	uint64_t id; /* per publisher, from 0 */
	enum ez_via via;
	enum ez_type type;
	const void *data; /* bytes, str (not terminated) or the array's raw elements, else NULL */
	size_t bytes;
	int64_t integer; /* bool, int */
	double real;	 /* float */
	const struct iovec *buffers;
	size_t num_buffers;
	size_t total_bytes; /* marshalled size: what profiles count */
	const char *topic;  /* the publisher's; valid as long as the message */
	void *internal[2];  /* the runtime's own */

	/* type EZ_TYPE_ARRAY; else dimensions is 0 and the rest not set */
	uint32_t dimensions;
	bool fortran_order;
	char dtype[8]; /* numpy's: byte order, kind, item size: "<f4", "|u1" */
	uint64_t shape[EZ_DIMENSIONS_MAX];
};

/* ---- context ---- */

/*
 * Joins the graph server at `address` (host:port; NULL: EZMSG_GRAPHSERVER_ADDR, else
 * 127.0.0.1:25978). No connection is made yet but for one check that a server greets there.
 * Errors: -EINVAL address; -ECONNREFUSED, -ETIMEDOUT, ... no server; -EPROTO it is no ezmsg server.
 */
EZ_API int ez_context_create(const char *address, struct ez_context **ret_context);

/* Destroys what is left in it, stops its thread. Not from a callback. */
EZ_API void ez_context_destroy(struct ez_context *context);

/* ---- publisher ---- */

struct ez_publisher_options {
	uint32_t num_buffers; /* 0: 32. Messages that may be unreleased by the slowest subscriber */
	uint64_t buffer_bytes; /* 0: 65536. Larger messages move the publisher to a larger segment.
				  Multiples of 64, and of 4 for num_buffers, keep values aligned */
	bool force_tcp;	       /* never shm or local */
	bool start_paused;
	const char *host; /* NULL: 127.0.0.1. Where channels connect to */
	uint16_t port;	  /* 0: the first free one from EZMSG_PUBLISHER_PORT_START on */
	bool no_local;	  /* this context's own subscribers get it by shm, as others do */
};

/* `options` may be NULL. Blocks until the graph server has registered it (at most 10 s). */
EZ_API int ez_publisher_create(struct ez_context *context, const char *topic,
			       const struct ez_publisher_options *options,
			       struct ez_publisher **ret_publisher);
EZ_API void ez_publisher_destroy(struct ez_publisher *publisher);

/*
 * Sends one message to every channel. Blocks while paused and while the buffer it needs is still
 * leased: that is the backpressure. Any thread; calls on one publisher are served one by one.
 * A message that is larger than all before may take longer than the time-out: it needs a larger
 * segment from the graph server.
 * Errors: -ETIMEDOUT nothing was sent; -EPIPE the publisher is closed; -ECONNRESET the graph server
 * is gone; -ENOMEM; -EMSGSIZE.
 */
EZ_API int ez_publish_bytes(struct ez_publisher *publisher, const void *data, size_t bytes,
			    int64_t timeout_ns);

/*
 * A C-contiguous array: `dtype` is numpy's two-character kind and size ("f4", "f8", "i4", "i8",
 * "u1", ...), `shape` its dimensions (1 to 32). -EINVAL: unknown dtype, or size overflow.
 */
EZ_API int ez_publish_array(struct ez_publisher *publisher, const char *dtype,
			    const uint64_t *shape, size_t dimensions, const void *data,
			    int64_t timeout_ns);

/* A ready pickle and its out-of-band buffers, as they are: buffers[0] is the pickle. */
EZ_API int ez_publish_buffers(struct ez_publisher *publisher, const struct iovec *buffers,
			      size_t num_buffers, int64_t timeout_ns);

/* `bytes` out of several pieces, one behind the other. */
EZ_API int ez_publish_bytesv(struct ez_publisher *publisher, const struct iovec *pieces,
			     size_t num_pieces, int64_t timeout_ns);

/*
 * Without a copy: begin waits as ez_publish_bytes() does and gives the buffer from which the
 * message will be sent; the caller fills `data`, which lies on a multiple of 64 (see buffer_bytes);
 * commit sends it.
 * From begin to commit or abort, each of which any thread may call, all other threads that publish
 * on this publisher wait, and it must not be destroyed. A message that has begun is sent also when
 * the graph is paused meanwhile.
 */
struct ez_slot {
	void *data;
	size_t bytes;			/* room at data */
	struct ez_publisher *publisher; /* NULL after commit and abort */
	uint64_t internal[3];		/* the runtime's own */
};

/* For `bytes` of at most that length. Errors: as ez_publish_bytes(); there is no slot then. */
EZ_API int ez_publish_begin(struct ez_publisher *publisher, size_t bytes, int64_t timeout_ns,
			    struct ez_slot *ret_slot);
/* For an array, described as for ez_publish_array(). */
EZ_API int ez_publish_begin_array(struct ez_publisher *publisher, const char *dtype,
				  const uint64_t *shape, size_t dimensions, int64_t timeout_ns,
				  struct ez_slot *ret_slot);
/*
 * Sends the first `bytes` of it; of an array all. -EINVAL, and the slot stays: more than there is
 * room for, or less than the array; also where there is no slot.
 */
EZ_API int ez_publish_commit(struct ez_slot *slot, size_t bytes);
/* Gives it back; nothing is sent, no message id is used up. Without a slot it does nothing. */
EZ_API void ez_publish_abort(struct ez_slot *slot);

/*
 * A descriptor for poll, epoll and the like. It is readable (POLLIN, not POLLOUT) exactly while a
 * publish or a begin with a time-out of 0 would not return -ETIMEDOUT: the next message's buffer is
 * free on all channels, no socket is full, the publisher isn't paused, and no thread publishes just
 * now or is between begin and commit or abort; or there is an error to return, since the publisher
 * is closed or has lost the graph server. So it is level-triggered, and there is nothing to read or
 * to reset. It is the publisher's: don't read, write or close it; it ends in
 * ez_publisher_destroy(). The first call makes it; each returns the same.
 *
 * It is readable most of the time, as a socket is writable: watch it only while there is something
 * to send. An edge (EPOLLET) comes whenever it becomes readable, so that on an edge messages are to
 * be published until -ETIMEDOUT; after begin, a large message or a larger segment one comes though
 * nothing was released.
 *
 * What it says holds for one thread that publishes: between that and its publish only a pause, the
 * publisher's or the graph's, can come. Of several threads one may be quicker than another. And a
 * message that needs a larger segment still blocks until the graph server has given it, at most
 * 10 s, and may then fail with -ETIMEDOUT while the descriptor stays readable.
 *
 * From the first call on the context's own thread reads all acknowledgements, and each message
 * leaves in a write of its own, at once (docs/runtime.md says what that costs); EZ_LEASE_TIMEOUT_MS
 * counts from when a buffer made the descriptor unreadable, also if there is nothing to send. Time
 * spent waiting for the descriptor is the program's: profiles don't show it as backpressure.
 * Errors: -EMFILE, ...
 */
EZ_API int ez_publisher_fd(struct ez_publisher *publisher);

/* Messages sent so far and their marshalled bytes. Exact between two publishes. */
EZ_API void ez_publisher_totals(const struct ez_publisher *publisher, uint64_t *ret_messages,
				uint64_t *ret_bytes);
/* Channels connected now, this process's own included. */
EZ_API size_t ez_publisher_channels(const struct ez_publisher *publisher);
/* Resume a start_paused publisher, or pause it, here only. */
EZ_API int ez_publisher_pause(struct ez_publisher *publisher);
EZ_API int ez_publisher_resume(struct ez_publisher *publisher);

/* ---- subscriber ---- */

/* Runs in a thread of the subscriber's own; the message is released when it returns. */
typedef void (*ez_message_fn)(const struct ez_message *message, void *user);

struct ez_subscriber_options {
	const char *handle;	/* name in profiles; NULL: the topic */
	const char *task;	/* optional second name, e.g. the function's */
	ez_message_fn callback; /* NULL: use ez_receive() */
	void *user;
	bool leaky;	    /* drop the oldest unread message instead of holding up the publisher */
	uint32_t max_queue; /* leaky: messages that may wait; 0: 1 */
	bool count_only;    /* messages come without payload: id, total_bytes, topic, via */
};

/*
 * `options` may be NULL. Blocks until all its channels are up (at most 10 s). -EPERM: the process
 * has EZ_COUNT_ONLY=1 and this subscriber isn't count_only.
 */
EZ_API int ez_subscriber_create(struct ez_context *context, const char *topic,
				const struct ez_subscriber_options *options,
				struct ez_subscriber **ret_subscriber);
/* Wakes blocked receivers (-EPIPE). Unread messages are released. Not from its own callback. */
EZ_API void ez_subscriber_destroy(struct ez_subscriber *subscriber);

/*
 * Takes the next message; each must be given back by ez_message_release(), in any order, by any
 * thread. User code between the two is what a profile calls processing.
 * Errors: -ETIMEDOUT; -EPIPE closed; -EINVAL it has a callback; -ECONNRESET the graph server is
 * gone, and everything that had been sent by then was received.
 */
EZ_API int ez_receive(struct ez_subscriber *subscriber, int64_t timeout_ns,
		      struct ez_message *ret_message);
EZ_API void ez_message_release(struct ez_message *message);

/* The same with a point in time, nanoseconds of CLOCK_MONOTONIC, for loops with a period. */
EZ_API int ez_receive_until(struct ez_subscriber *subscriber, uint64_t deadline_ns,
			    struct ez_message *ret_message);

/*
 * A descriptor for poll, epoll and the like. It is readable (POLLIN) exactly while ez_receive()
 * with a time-out of 0 would not return -ETIMEDOUT: a message waits, or the subscriber is closed or
 * has lost the graph server. So it is level-triggered, and there is nothing to read or to reset; an
 * edge (EPOLLET) comes when the first message enters the empty queue, so that on an edge messages
 * are to be taken until -ETIMEDOUT. It is the subscriber's: don't read, write or close it; it ends
 * in ez_subscriber_destroy(). The first call makes it; each returns the same.
 * Errors: -EINVAL it has a callback; -EMFILE, ...
 */
EZ_API int ez_subscriber_fd(struct ez_subscriber *subscriber);

/* Messages released so far, their bytes, and how many were dropped unread. */
EZ_API void ez_subscriber_totals(const struct ez_subscriber *subscriber, uint64_t *ret_messages,
				 uint64_t *ret_bytes, uint64_t *ret_drops);

/* ---- graph ---- */

/* Errors of all: -ELOOP the edge would close a cycle; -ETIMEDOUT; as ez_context_create(). */
EZ_API int ez_connect(struct ez_context *context, const char *from_topic, const char *to_topic);
EZ_API int ez_disconnect(struct ez_context *context, const char *from_topic, const char *to_topic);
EZ_API int ez_pause(struct ez_context *context);
EZ_API int ez_resume(struct ez_context *context);
/* Pauses all publishers and returns when every message has been released. */
EZ_API int ez_sync(struct ez_context *context, int64_t timeout_ns);

/*
 * Asks the graph server for a profile of the last `window_s` seconds: a JSON document, to be
 * freed by the caller. -ENOTSUP: that server doesn't know PROFILE.
 */
EZ_API int ez_profile(struct ez_context *context, double window_s, char **ret_json);

/* The library's version, "0.1.0". */
EZ_API const char *ez_version(void);

#ifdef __cplusplus
}
#endif

#endif
