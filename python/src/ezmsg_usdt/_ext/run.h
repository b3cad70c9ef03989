/* SPDX-License-Identifier: MIT */
/*
 * Run: a coroutine that stands in for another one and looks at each of its steps. It passes
 * values, exceptions and close() through unchanged.
 */
#ifndef EZPY_RUN_H
#define EZPY_RUN_H

#include "pyinc.h"

#include <stdbool.h>
#include <stdint.h>

struct run;

struct run_kind {
	const char *name;
	/* Around each step; `result` PYGEN_NEXT: it suspended. An exception may be set in after();
	 * it must stay. */
	void (*before)(struct run *run);
	void (*after)(struct run *run, PySendResult result);
	/* The run is dropped while suspended. */
	void (*abandoned)(struct run *run);
	bool returns_none; /* whatever the inner one returns */
};

struct run {
	PyObject_HEAD PyObject *awaitable; /* what to await; NULL once it has been started */
	PyObject *inner;		   /* its iterator */
	PyObject *subject;		   /* what the kind works on */
	const struct run_kind *kind;
	struct run *outer; /* for the kind's use, as all that follows */
	uint64_t begin_ns, since_ns;
	uint64_t number;
	bool flag;
	bool running;
	bool finished;
};

extern PyTypeObject run_type;

/* Takes over the reference to `awaitable`, also on failure; NULL: passes the exception on. */
PyObject *run_new(const struct run_kind *kind, PyObject *awaitable, PyObject *subject);

#endif
