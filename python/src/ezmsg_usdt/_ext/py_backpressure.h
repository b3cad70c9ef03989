/* SPDX-License-Identifier: MIT */
/*
 * Backpressure: ezmsg's leases on a publisher's or a channel's buffers, with the registry's and
 * the probes' view of them. Same interface, exceptions and wake-up order as the original.
 */
#ifndef EZPY_BACKPRESSURE_H
#define EZPY_BACKPRESSURE_H

#include "py_lease.h"
#include "ledger.h"

struct backpressure {
	PyObject_HEAD PyObject *buffers; /* list of BufferLease, as the original has it */
	struct lease **leases;		 /* the same, owned by the list's first state */
	Py_ssize_t num_buffers;
	Py_ssize_t pressure; /* buffers with leases */
	PyObject *event;     /* asyncio.Event: no pressure; made on demand */
	struct ledger ledger;
	/* beside an observed channel: its id, and what stands beside its publisher, if local */
	PyObject *id;
	struct backpressure *publisher;
	PyObject *weakrefs;
};

extern PyTypeObject backpressure_type;

static inline bool backpressure_check(PyObject *o)
{
	return Py_TYPE(o) == &backpressure_type;
}

/* A lease on a buffer: 0, -1 with an exception set. */
int backpressure_lease(struct backpressure *bp, PyObject *uuid, Py_ssize_t index);
int backpressure_lease_key(struct backpressure *bp, struct lease *lease, int32_t key);
/* A leaky client drops a message; its lease is freed by another call. */
void backpressure_drop(struct backpressure *bp, PyObject *uuid);
/* The end of it. `departed`: because the holder leaves. Nothing happens if it holds none. */
int backpressure_free_one(struct backpressure *bp, PyObject *uuid, Py_ssize_t index, bool departed);
/* Backpressure.free() with its Python arguments. */
PyObject *backpressure_free(struct backpressure *bp, PyObject *const *args, Py_ssize_t nargs,
			    PyObject *kwnames);
/* What lies in the buffer of that message from now on. */
void backpressure_message(struct backpressure *bp, uint64_t message_id, bool sized, uint64_t bytes);
/* The size of the message that the publisher has in hand. */
void backpressure_sized(struct backpressure *bp, bool sized, uint64_t bytes);
/* The publisher whose broadcast this thread is in, or NULL. */
struct backpressure *backpressure_current(void);
/* A Backpressure itself, or what stands beside an observed original; borrowed. NULL: neither. */
struct backpressure *backpressure_of(PyObject *backpressure);
/* New reference to a coroutine that tells when it blocks the publisher. Steals `awaitable`. */
PyObject *backpressure_blocking(struct backpressure *bp, PyObject *awaitable);

/* Publisher.broadcast() under observation. Steals `awaitable`. */
PyObject *backpressure_broadcast(struct backpressure *bp, PyObject *awaitable);

/* Methods of the type that have to do with the registry, for the glue; endpoints.c. */
PyObject *backpressure_open_publisher(struct backpressure *bp, PyObject *args);
PyObject *backpressure_open_channel(struct backpressure *bp, PyObject *args);
PyObject *backpressure_set_publisher(struct backpressure *bp, PyObject *args);
PyObject *backpressure_open_link(struct backpressure *bp, PyObject *args);
PyObject *backpressure_open_client(struct backpressure *bp, PyObject *args);
PyObject *backpressure_close_key(struct backpressure *bp, PyObject *id);
PyObject *backpressure_close_owner(struct backpressure *bp, PyObject *unused);
PyObject *backpressure_close_endpoints(struct backpressure *bp, PyObject *unused);
PyObject *backpressure_broadcast_method(struct backpressure *bp, PyObject *awaitable);
PyObject *backpressure_timed_writer(struct backpressure *bp, PyObject *writer);

/* The broadcast that this thread is in begins or ends to serialise and copy its message. */
void backpressure_serialising(bool begins);

#endif
