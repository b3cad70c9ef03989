/* SPDX-License-Identifier: MIT */
/*
 * The delegating coroutine. It offers all of collections.abc.Coroutine, so asyncio takes it for
 * one; attributes that it doesn't have are the inner coroutine's (cr_frame, cr_await, __name__).
 */
#include "run.h"
#include "names.h"

PyObject *run_new(const struct run_kind *kind, PyObject *awaitable, PyObject *subject)
{
	struct run *r;

	if (!awaitable)
		return NULL;
	r = PyObject_GC_New(struct run, &run_type);
	if (!r) {
		Py_DECREF(awaitable);
		return NULL;
	}
	r->awaitable = awaitable;
	r->inner = NULL;
	r->subject = Py_NewRef(subject);
	r->kind = kind;
	r->outer = NULL;
	r->begin_ns = 0;
	r->since_ns = 0;
	r->number = 0;
	r->flag = false;
	r->running = false;
	r->finished = false;
	PyObject_GC_Track((PyObject *)r);
	return (PyObject *)r;
}

/* As the await expression does it. */
static PyObject *iterator_of(PyObject *awaitable)
{
	PyAsyncMethods *async = Py_TYPE(awaitable)->tp_as_async;

	if (PyCoro_CheckExact(awaitable))
		return Py_NewRef(awaitable);
	if (async && async->am_await)
		return async->am_await(awaitable);
	PyErr_Format(PyExc_TypeError, "object %.100s can't be used in 'await' expression",
		     Py_TYPE(awaitable)->tp_name);
	return NULL;
}

static int start(struct run *r)
{
	if (r->inner)
		return 0;
	if (r->finished) {
		PyErr_SetString(PyExc_RuntimeError, "cannot reuse already awaited coroutine");
		return -1;
	}
	r->inner = iterator_of(r->awaitable);
	Py_CLEAR(r->awaitable);
	return r->inner ? 0 : -1;
}

/* Reserves the run for one step; the reference keeps what runs alive. */
static PyObject *step_begin(struct run *r)
{
	if (r->running) {
		PyErr_SetString(PyExc_ValueError, "coroutine already executing");
		return NULL;
	}
	if (start(r))
		return NULL;
	r->running = true;
	if (r->kind->before)
		r->kind->before(r);
	return Py_NewRef(r->inner);
}

static void step_done(struct run *r, PyObject *inner, PySendResult result)
{
	r->running = false;
	if (r->kind->after)
		r->kind->after(r, result);
	if (result != PYGEN_NEXT) {
		r->finished = true;
		Py_CLEAR(r->inner);
	}
	Py_DECREF(inner);
}

static PySendResult run_send(struct run *r, PyObject *value, PyObject **result)
{
	PyObject *inner = step_begin(r);
	PySendResult how;

	*result = NULL;
	if (!inner)
		return PYGEN_ERROR;
	how = PyIter_Send(inner, value, result);
	step_done(r, inner, how);
	if (how == PYGEN_RETURN && r->kind->returns_none)
		Py_SETREF(*result, Py_NewRef(Py_None));
	return how;
}

static PyObject *stop_iteration(PyObject *value)
{
	PyObject *stop = PyObject_CallOneArg(PyExc_StopIteration, value);

	Py_DECREF(value);
	if (stop) {
		PyErr_SetObject(PyExc_StopIteration, stop);
		Py_DECREF(stop);
	}
	return NULL;
}

static PyObject *run_method_send(struct run *r, PyObject *value)
{
	PyObject *result = NULL;
	PySendResult how = run_send(r, value, &result);

	return how == PYGEN_RETURN ? stop_iteration(result) : result;
}

static PyObject *run_next(struct run *r)
{
	return run_method_send(r, Py_None);
}

static PyObject *run_throw(struct run *r, PyObject *args)
{
	PyObject *throw_method, *result, *inner = step_begin(r);

	if (!inner)
		return NULL;
	throw_method = PyObject_GetAttr(inner, names.throw_);
	result = throw_method ? PyObject_Call(throw_method, args, NULL) : NULL;
	Py_XDECREF(throw_method);
	if (result) {
		step_done(r, inner, PYGEN_NEXT);
		return result;
	}
	if (PyErr_ExceptionMatches(PyExc_StopIteration)) {
		step_done(r, inner, PYGEN_RETURN);
		if (r->kind->returns_none) {
			PyErr_Clear();
			return stop_iteration(Py_NewRef(Py_None));
		}
		return NULL;
	}
	step_done(r, inner, PYGEN_ERROR);
	return NULL;
}

static PyObject *close_unstarted(struct run *r)
{
	PyObject *closed, *awaitable = r->awaitable;

	r->finished = true;
	if (!awaitable)
		Py_RETURN_NONE;
	r->awaitable = NULL;
	if (!PyCoro_CheckExact(awaitable) && Py_TYPE(awaitable) != &run_type) {
		Py_DECREF(awaitable);
		Py_RETURN_NONE;
	}
	closed = PyObject_CallMethodNoArgs(awaitable, names.close);
	Py_DECREF(awaitable);
	return closed;
}

static PyObject *run_close(struct run *r, PyObject *unused)
{
	PyObject *closed, *inner;

	(void)unused;
	if (!r->inner)
		return close_unstarted(r);
	inner = step_begin(r);
	if (!inner)
		return NULL;
	closed = PyObject_CallMethodNoArgs(inner, names.close);
	step_done(r, inner, PYGEN_ERROR);
	return closed;
}

static PyObject *run_await(PyObject *self)
{
	return Py_NewRef(self);
}

static PyObject *run_await_method(PyObject *self, PyObject *unused)
{
	(void)unused;
	return Py_NewRef(self);
}

static PyObject *run_getattro(struct run *r, PyObject *name)
{
	PyObject *value = PyObject_GenericGetAttr((PyObject *)r, name);
	PyObject *target = r->inner ? r->inner : r->awaitable;

	if (value || !target || !PyErr_ExceptionMatches(PyExc_AttributeError))
		return value;
	PyErr_Clear();
	return PyObject_GetAttr(target, name);
}

static PyObject *run_repr(struct run *r)
{
	PyObject *target = r->inner ? r->inner : r->awaitable;

	if (target)
		return PyUnicode_FromFormat("<ezmsg_usdt %s of %R>", r->kind->name, target);
	return PyUnicode_FromFormat("<ezmsg_usdt %s, finished>", r->kind->name);
}

static int run_traverse(struct run *r, visitproc visit, void *arg)
{
	Py_VISIT(r->awaitable);
	Py_VISIT(r->inner);
	Py_VISIT(r->subject);
	return 0;
}

static int run_clear(struct run *r)
{
	if (r->inner && !r->finished && r->kind->abandoned)
		r->kind->abandoned(r);
	r->finished = true;
	Py_CLEAR(r->awaitable);
	Py_CLEAR(r->inner);
	return 0;
}

static void run_dealloc(struct run *r)
{
	PyObject_GC_UnTrack(r);
	run_clear(r);
	Py_CLEAR(r->subject);
	PyObject_GC_Del(r);
}

static PyMethodDef run_methods[] = {
	{"send", (PyCFunction)(void (*)(void))run_method_send, METH_O, NULL},
	{"throw", (PyCFunction)(void (*)(void))run_throw, METH_VARARGS, NULL},
	{"close", (PyCFunction)(void (*)(void))run_close, METH_NOARGS, NULL},
	{"__await__", run_await_method, METH_NOARGS, NULL},
	{0},
};

static PyAsyncMethods run_async = {
	.am_await = run_await,
	.am_send = (sendfunc)(void (*)(void))run_send,
};

PyTypeObject run_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ezmsg_usdt._ext.Run",
	.tp_basicsize = sizeof(struct run),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.tp_doc = "A coroutine that looks at the steps of another one.",
	.tp_dealloc = (destructor)(void (*)(void))run_dealloc,
	.tp_traverse = (traverseproc)(void (*)(void))run_traverse,
	.tp_clear = (inquiry)(void (*)(void))run_clear,
	.tp_repr = (reprfunc)(void (*)(void))run_repr,
	.tp_getattro = (getattrofunc)(void (*)(void))run_getattro,
	.tp_iter = run_await,
	.tp_iternext = (iternextfunc)(void (*)(void))run_next,
	.tp_as_async = &run_async,
	.tp_methods = run_methods,
};
