/* SPDX-License-Identifier: MIT */
/* The seams of Publisher and Subscriber that a message passes: broadcast() and recv(). */
#ifndef EZPY_CLIENT_H
#define EZPY_CLIENT_H

#include "pyinc.h"

/* publisher_install(Publisher), subscriber_install(Subscriber) */
PyObject *publisher_install(PyObject *module, PyObject *class);
PyObject *subscriber_install(PyObject *module, PyObject *class);

#endif
