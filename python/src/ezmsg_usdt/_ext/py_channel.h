/* SPDX-License-Identifier: MIT */
/* The seams of Channel: get, _notify_clients, put_local, the releases. */
#ifndef EZPY_CHANNEL_H
#define EZPY_CHANNEL_H

#include "py_backpressure.h"
#include "marshal.h"

/*
 * channel_install(Channel, replace, local_kind): puts the seams in; replace false: around the
 * originals. local_kind is ProfileChannelType.LOCAL, or None where ezmsg has no such thing.
 */
PyObject *channel_install(PyObject *module, PyObject *args);

/* What was in Channel before; set at install. */
struct channel_originals {
	PyObject *get, *notify_clients, *put_local, *release_without_get, *release;
};
extern struct channel_originals channel_original;

/* The methods of observing mode (py_channel_observed.c), ended by an empty one. */
extern PyMethodDef channel_observed_defs[];

/* A message number as ezmsg passes it; false: something else. Never leaves an exception. */
bool channel_message_number(PyObject *object, uint64_t *ret_id);
/* A message has reached the channel. */
void channel_arrived(struct backpressure *bp, uint64_t id, const struct received *message);
/* A publisher hands an object to its own process: its size is now that of the message in hand. */
void channel_publishing(struct backpressure *publisher, PyObject *object, uint64_t id,
			struct received *ret_message);
/* Calls an original of two arguments with whatever was given. */
PyObject *channel_call_original(PyObject *function, PyObject *self, PyObject *const *args,
				Py_ssize_t nargs, PyObject *kwnames);

#endif
