/* SPDX-License-Identifier: MIT */
/* What Channel.get() returns: from taking a message to releasing it. */
#ifndef EZPY_DELIVERY_H
#define EZPY_DELIVERY_H

#include "backpressure.h"

extern PyTypeObject delivery_type;

/*
 * New reference. `bp` may be NULL (nothing is told). `inner` is the context manager to observe,
 * its reference taken over, or NULL to do its work.
 */
PyObject *delivery_new(PyObject *channel, struct backpressure *bp, PyObject *message_id,
		       PyObject *client_id, PyObject *inner);

#endif
