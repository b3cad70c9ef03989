/* SPDX-License-Identifier: MIT */
/*
 * Observing wrappers around the original Backpressure: a C one stands beside each instance and
 * goes through the same leases, for the registry and the probes only.
 */
#include "backpressure.h"
#include "channel.h"
#include "methods.h"
#include "names.h"

static struct {
	PyObject *init, *wait, *lease, *free;
} original;

static PyObject *pass_on(PyObject *function, PyObject *self, PyObject *const *args,
			 Py_ssize_t nargs, PyObject *kwnames)
{
	Py_ssize_t all = nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
	PyObject *passed[4] = {self};

	if (all > 3) {
		PyErr_SetString(PyExc_TypeError, "too many arguments");
		return NULL;
	}
	memcpy(passed + 1, args, (size_t)all * sizeof(*passed));
	return PyObject_Vectorcall(function, passed, (size_t)nargs + 1, kwnames);
}

static PyObject *observed_init(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
			       PyObject *kwnames)
{
	PyObject *made = pass_on(original.init, self, args, nargs, kwnames);
	PyObject *beside;
	int failed;

	if (!made)
		return NULL;
	Py_DECREF(made);
	beside = PyObject_Vectorcall((PyObject *)&backpressure_type, args, (size_t)nargs, kwnames);
	failed = !beside || PyObject_SetAttr(self, names.ledger, beside);
	Py_XDECREF(beside);
	if (failed)
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *observed_wait(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
			       PyObject *kwnames)
{
	PyObject *awaitable = pass_on(original.wait, self, args, nargs, kwnames);
	struct backpressure *bp = awaitable ? backpressure_of(self) : NULL;

	return bp ? backpressure_blocking(bp, awaitable) : awaitable;
}

static PyObject *observed_lease(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
				PyObject *kwnames)
{
	PyObject *done = pass_on(original.lease, self, args, nargs, kwnames);
	struct backpressure *bp = done ? backpressure_of(self) : NULL;

	if (bp && nargs == 2 && backpressure_lease(bp, args[0], PyLong_AsSsize_t(args[1])))
		Py_CLEAR(done);
	return done;
}

static PyObject *observed_free(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
			       PyObject *kwnames)
{
	PyObject *again, *done = pass_on(original.free, self, args, nargs, kwnames);
	struct backpressure *bp = done ? backpressure_of(self) : NULL;

	if (!bp)
		return done;
	again = backpressure_free(bp, args, nargs, kwnames);
	if (!again)
		Py_CLEAR(done);
	Py_XDECREF(again);
	return done;
}

static PyMethodDef observed_defs[] = {
	{"__init__", (PyCFunction)(void (*)(void))observed_init, METH_FASTCALL | METH_KEYWORDS,
	 NULL},
	{"wait", (PyCFunction)(void (*)(void))observed_wait, METH_FASTCALL | METH_KEYWORDS, NULL},
	{"lease", (PyCFunction)(void (*)(void))observed_lease, METH_FASTCALL | METH_KEYWORDS, NULL},
	{"free", (PyCFunction)(void (*)(void))observed_free, METH_FASTCALL | METH_KEYWORDS, NULL},
	{0},
};

PyObject *backpressure_install(PyObject *module, PyObject *args)
{
	PyObject *class, *originals[4] = {NULL};

	(void)module;
	if (!PyArg_ParseTuple(args, "O!:backpressure_install", &PyType_Type, &class))
		return NULL;
	if (methods_install(class, observed_defs, originals))
		return NULL;
	original.init = originals[0];
	original.wait = originals[1];
	original.lease = originals[2];
	original.free = originals[3];
	Py_RETURN_NONE;
}
