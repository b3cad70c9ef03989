/* SPDX-License-Identifier: MIT */
/* What Channel.get() returns: from taking a message to releasing it. */
#ifndef EZPY_DELIVERY_H
#define EZPY_DELIVERY_H

#include "activity.h"
#include "py_backpressure.h"

extern PyTypeObject delivery_type;

/* New reference. `bp` may be NULL (nothing is told). */
PyObject *delivery_new(PyObject *channel, struct backpressure *bp, PyObject *message_id,
		       PyObject *client_id);

/*
 * A client takes a message, and is finished with it; `activity` is what goes on in between. For
 * those who have the moments without a context manager.
 */
void delivery_taken(struct backpressure *bp, PyObject *client_id, PyObject *message_id,
		    struct activity *activity);
void delivery_finished(struct backpressure *bp, PyObject *client_id, struct activity *activity);

#endif
