/* SPDX-License-Identifier: MIT */
/* C methods on somebody else's Python class. */
#ifndef EZPY_METHODS_H
#define EZPY_METHODS_H

#include "pyinc.h"

/*
 * Sets each method of a list that ends with an empty name; `originals[i]` gets a new reference to
 * what was there. -1 with an exception set.
 */
int methods_install(PyObject *class, PyMethodDef *defs, PyObject **originals);

#endif
