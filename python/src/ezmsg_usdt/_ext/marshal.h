/* SPDX-License-Identifier: MIT */
/*
 * MessageMarshal.serialize and .load: the marshalled size of what is sent and what is received.
 */
#ifndef EZPY_MARSHAL_H
#define EZPY_MARSHAL_H

#include <endpoint.h>

#include "pyinc.h"

#include <stdbool.h>

/* The message that this thread has unpickled last and nobody has taken note of yet. */
struct received {
	uint64_t bytes;
	enum ez_transport transport;
	bool known;
};

/* Returns it and forgets it. */
struct received marshal_take_received(void);
void marshal_set_received(const struct received *message);

extern PyTypeObject serialize_type;

/* marshal_install(Marshal, replace): puts both seams in; replace false: around the originals. */
PyObject *marshal_install(PyObject *module, PyObject *args);

#endif
