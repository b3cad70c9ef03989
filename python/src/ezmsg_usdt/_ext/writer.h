/* SPDX-License-Identifier: MIT */
/* TimedWriter: a StreamWriter whose drain() tells when it blocks its publisher. */
#ifndef EZPY_WRITER_H
#define EZPY_WRITER_H

#include "py_backpressure.h"

extern PyTypeObject writer_type;

/* New reference, or NULL with an exception set. */
PyObject *writer_new(struct backpressure *bp, PyObject *writer);

#endif
