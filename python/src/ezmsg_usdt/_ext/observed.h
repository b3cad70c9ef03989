/* SPDX-License-Identifier: MIT */
/* Observing wrappers around the original Backpressure. */
#ifndef EZPY_OBSERVED_H
#define EZPY_OBSERVED_H

#include "py_backpressure.h"

/* backpressure_install(Backpressure): a C one beside each instance, from now on. */
PyObject *backpressure_install(PyObject *module, PyObject *args);

/* backpressure_observe(instance): follow its lease() and free() as well. */
PyObject *backpressure_observe(PyObject *module, PyObject *self);

#endif
