/* SPDX-License-Identifier: MIT */
/* The seams of Channel: get, _notify_clients, put_local, release_without_get. */
#ifndef EZPY_CHANNEL_H
#define EZPY_CHANNEL_H

#include "pyinc.h"

/*
 * channel_install(Channel, replace, local_kind): puts the seams in; replace false: around the
 * originals. local_kind is ProfileChannelType.LOCAL, or None where ezmsg has no such thing.
 */
PyObject *channel_install(PyObject *module, PyObject *args);

/* backpressure_install(Backpressure): observing wrappers around the original class. */
PyObject *backpressure_install(PyObject *module, PyObject *args);

#endif
