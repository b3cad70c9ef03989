/* SPDX-License-Identifier: MIT */
/*
 * BufferLease: who holds leases on one buffer. Same interface and behaviour as ezmsg's; its
 * asyncio.Event exists only once somebody waits for it or asks for it.
 */
#ifndef EZPY_LEASE_H
#define EZPY_LEASE_H

#include "keys.h"

#include <stdbool.h>

struct lease {
	PyObject_HEAD struct keys *keys; /* shared with the Backpressure and its other buffers */
	PyObject *event;		 /* asyncio.Event, or NULL */
	uint64_t *words; /* bit per key index; points to `word` while that is enough */
	uint64_t word;
	uint32_t num_words;
	uint32_t count; /* bits set */
	bool shared;	/* the keys are somebody else's to traverse */
	/* what lies in the buffer, as far as known */
	bool sized;
	uint64_t message_id, bytes;
};

extern PyTypeObject lease_type;

/* A buffer of a Backpressure, which owns `keys`. NULL with an exception set. */
struct lease *lease_new_shared(struct keys *keys);

/* Adds or removes a lease. 1: done; 0: it was there (wasn't there) already; -1: exception. */
int lease_add_key(struct lease *lease, int32_t key);
int lease_remove_key(struct lease *lease, int32_t key);

/* New reference to what `asyncio.Event.wait()` of the buffer's event returns. */
PyObject *lease_event_wait(struct lease *lease);

/* Common to buffers and Backpressure: a lazily made asyncio.Event. -1 with an exception set. */
int lazy_event_set(PyObject **event);
int lazy_event_clear(PyObject **event);
/* Borrowed reference; makes it, set if `set`. */
PyObject *lazy_event_get(PyObject **event, bool set);

#endif
