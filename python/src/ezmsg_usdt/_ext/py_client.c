/* SPDX-License-Identifier: MIT */
/*
 * broadcast() and recv() return the original's coroutine under observation. An instance that the
 * glue hasn't seen gets the original's coroutine as it is.
 */
#include "py_client.h"
#include "py_backpressure.h"
#include "methods.h"
#include "names.h"
#include "py_subscriber.h"

static PyObject *original_broadcast, *original_recv;

static PyObject *call_original(PyObject *function, PyObject *self, PyObject *const *args,
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

static PyObject *client_broadcast(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
				  PyObject *kwnames)
{
	PyObject *observed, *attribute;
	PyObject *coroutine = call_original(original_broadcast, self, args, nargs, kwnames);
	struct backpressure *bp;

	if (!coroutine)
		return NULL;
	attribute = PyObject_GetAttr(self, names.ledger);
	if (!attribute) {
		PyErr_Clear();
		return coroutine;
	}
	bp = backpressure_check(attribute) ? (struct backpressure *)attribute : NULL;
	observed = bp ? backpressure_broadcast(bp, coroutine) : coroutine;
	Py_DECREF(attribute);
	return observed;
}

static PyObject *client_recv(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
			     PyObject *kwnames)
{
	PyObject *coroutine = call_original(original_recv, self, args, nargs, kwnames);
	PyObject *state = coroutine ? PyObject_GetAttr(self, names.ledger) : NULL;

	if (!state || !PyObject_TypeCheck(state, &subscriber_type)) {
		if (coroutine)
			PyErr_Clear();
		Py_XDECREF(state);
		return coroutine;
	}
	coroutine = subscriber_recv(state, coroutine);
	Py_DECREF(state);
	return coroutine;
}

static PyMethodDef publisher_defs[] = {
	{"broadcast", (PyCFunction)(void (*)(void))client_broadcast, METH_FASTCALL | METH_KEYWORDS,
	 "Broadcast a message to all connected subscribers."},
	{0},
};

static PyMethodDef subscriber_defs[] = {
	{"recv", (PyCFunction)(void (*)(void))client_recv, METH_FASTCALL | METH_KEYWORDS,
	 "Receive the next message with a deep copy."},
	{0},
};

static PyObject *install(PyObject *class, PyMethodDef *defs, PyObject **original)
{
	if (!PyType_Check(class)) {
		PyErr_SetString(PyExc_TypeError, "a class is needed");
		return NULL;
	}
	if (methods_install(class, defs, original))
		return NULL;
	Py_RETURN_NONE;
}

PyObject *publisher_install(PyObject *module, PyObject *class)
{
	(void)module;
	return install(class, publisher_defs, &original_broadcast);
}

PyObject *subscriber_install(PyObject *module, PyObject *class)
{
	(void)module;
	return install(class, subscriber_defs, &original_recv);
}
