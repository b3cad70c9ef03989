/* SPDX-License-Identifier: MIT */
/* How large a message is that nobody serialises. */
#ifndef EZPY_PAYLOAD_H
#define EZPY_PAYLOAD_H

#include "pyinc.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The bytes of an object that offers a buffer or `nbytes`, or of those fields of a dataclass that
 * do (AxisArray's data). False: unknown. Never leaves an exception.
 */
bool payload_bytes(PyObject *object, uint64_t *ret_bytes);

#endif
