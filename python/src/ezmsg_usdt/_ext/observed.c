/* SPDX-License-Identifier: MIT */
/*
 * Observing wrappers: the original Backpressure does the work, a C one beside it goes through the
 * same leases for the registry and the probes. A wrapper costs more than what it wraps, so leases
 * are followed where a wrapper is needed anyway (the channel's methods), and lease()
 * and free() themselves are wrapped only on a publisher with links to other processes.
 */
#include "methods.h"
#include "names.h"
#include "observed.h"

static struct {
	PyObject *init, *wait;
} original;

static PyObject *pass_on(PyObject *function, PyObject *self, PyObject *const *args,
			 Py_ssize_t nargs, PyObject *kwnames)
{
	Py_ssize_t all = nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
	PyObject *passed[3] = {self};

	if (all > 2) {
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

/* lease() and free() of one instance: `pair` is the original's bound method and the C one. */
static PyObject *observed_lease(PyObject *pair, PyObject *const *args, Py_ssize_t nargs,
				PyObject *kwnames)
{
	PyObject *done =
		PyObject_Vectorcall(PyTuple_GET_ITEM(pair, 0), args, (size_t)nargs, kwnames);
	struct backpressure *bp = (struct backpressure *)PyTuple_GET_ITEM(pair, 1);

	if (done && nargs == 2 && backpressure_lease(bp, args[0], PyLong_AsSsize_t(args[1])))
		Py_CLEAR(done);
	return done;
}

static PyObject *observed_free(PyObject *pair, PyObject *const *args, Py_ssize_t nargs,
			       PyObject *kwnames)
{
	PyObject *done =
		PyObject_Vectorcall(PyTuple_GET_ITEM(pair, 0), args, (size_t)nargs, kwnames);
	PyObject *again;

	if (!done)
		return NULL;
	again = backpressure_free((struct backpressure *)PyTuple_GET_ITEM(pair, 1), args, nargs,
				  kwnames);
	if (!again)
		Py_CLEAR(done);
	Py_XDECREF(again);
	return done;
}

static PyMethodDef observed_defs[] = {
	{"__init__", (PyCFunction)(void (*)(void))observed_init, METH_FASTCALL | METH_KEYWORDS,
	 NULL},
	{"wait", (PyCFunction)(void (*)(void))observed_wait, METH_FASTCALL | METH_KEYWORDS, NULL},
	{0},
};

static PyMethodDef instance_defs[] = {
	{"lease", (PyCFunction)(void (*)(void))observed_lease, METH_FASTCALL | METH_KEYWORDS, NULL},
	{"free", (PyCFunction)(void (*)(void))observed_free, METH_FASTCALL | METH_KEYWORDS, NULL},
	{0},
};

PyObject *backpressure_install(PyObject *module, PyObject *args)
{
	PyObject *class, *originals[2] = {NULL};

	(void)module;
	if (!PyArg_ParseTuple(args, "O!:backpressure_install", &PyType_Type, &class))
		return NULL;
	if (methods_install(class, observed_defs, originals))
		return NULL;
	original.init = originals[0];
	original.wait = originals[1];
	Py_RETURN_NONE;
}

static int observe_method(PyObject *self, struct backpressure *bp, PyMethodDef *def)
{
	PyObject *bound = PyObject_GetAttrString(self, def->ml_name);
	PyObject *pair = bound ? PyTuple_Pack(2, bound, (PyObject *)bp) : NULL;
	PyObject *function = pair ? PyCFunction_New(def, pair) : NULL;
	int failed = !function || PyObject_SetAttrString(self, def->ml_name, function);

	Py_XDECREF(bound);
	Py_XDECREF(pair);
	Py_XDECREF(function);
	return failed ? -1 : 0;
}

PyObject *backpressure_observe(PyObject *module, PyObject *self)
{
	struct backpressure *bp = backpressure_of(self);
	PyObject *bound;
	bool observed;

	(void)module;
	if (!bp || (PyObject *)bp == self)
		Py_RETURN_NONE;
	bound = PyObject_GetAttr(self, names.lease);
	if (!bound)
		return NULL;
	observed = PyCFunction_Check(bound);
	Py_DECREF(bound);
	if (!observed && (observe_method(self, bp, &instance_defs[0]) ||
			  observe_method(self, bp, &instance_defs[1])))
		return NULL;
	Py_RETURN_NONE;
}
