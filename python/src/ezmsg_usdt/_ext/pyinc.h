/* SPDX-License-Identifier: MIT */
/* Python.h, which wants to be first and doesn't pass this project's warnings. */
#ifndef EZPY_PYINC_H
#define EZPY_PYINC_H

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#pragma GCC diagnostic pop

#endif
