/* SPDX-License-Identifier: MIT */
/*
 * The writer of one link. write() is the original's own bound method, so that writing costs
 * nothing more; everything but drain() is passed on.
 */
#include "writer.h"
#include "names.h"

struct timed_writer {
	PyObject_HEAD PyObject *writer;
	PyObject *write, *drain; /* bound methods of it */
	struct backpressure *bp;
};

PyObject *writer_new(struct backpressure *bp, PyObject *writer)
{
	struct timed_writer *w = PyObject_GC_New(struct timed_writer, &writer_type);

	if (!w)
		return NULL;
	w->writer = Py_NewRef(writer);
	w->bp = (struct backpressure *)Py_NewRef((PyObject *)bp);
	w->write = PyObject_GetAttr(writer, names.write);
	w->drain = w->write ? PyObject_GetAttr(writer, names.drain) : NULL;
	PyObject_GC_Track((PyObject *)w);
	if (!w->drain)
		Py_CLEAR(w);
	return (PyObject *)w;
}

static PyObject *writer_drain(struct timed_writer *w, PyObject *unused)
{
	(void)unused;
	return backpressure_blocking(w->bp, PyObject_CallNoArgs(w->drain));
}

static PyObject *writer_getattro(struct timed_writer *w, PyObject *name)
{
	PyObject *value = PyObject_GenericGetAttr((PyObject *)w, name);

	if (value || !PyErr_ExceptionMatches(PyExc_AttributeError))
		return value;
	PyErr_Clear();
	return PyObject_GetAttr(w->writer, name);
}

static int writer_setattro(struct timed_writer *w, PyObject *name, PyObject *value)
{
	return PyObject_SetAttr(w->writer, name, value);
}

static PyObject *writer_repr(struct timed_writer *w)
{
	return PyObject_Repr(w->writer);
}

static int writer_traverse(struct timed_writer *w, visitproc visit, void *arg)
{
	Py_VISIT(w->writer);
	Py_VISIT(w->write);
	Py_VISIT(w->drain);
	Py_VISIT(w->bp);
	return 0;
}

static int writer_clear(struct timed_writer *w)
{
	/* Bound methods close the cycles there can be; the rest must last as long as the object. */
	Py_CLEAR(w->write);
	return 0;
}

static void writer_dealloc(struct timed_writer *w)
{
	PyObject_GC_UnTrack(w);
	Py_CLEAR(w->write);
	Py_CLEAR(w->drain);
	Py_CLEAR(w->writer);
	Py_CLEAR(w->bp);
	PyObject_GC_Del(w);
}

static PyMethodDef writer_methods[] = {
	{"drain", (PyCFunction)(void (*)(void))writer_drain, METH_NOARGS,
	 "Wait until it is right to go on writing."},
	{0},
};

static PyMemberDef writer_members[] = {
	{"write", T_OBJECT_EX, offsetof(struct timed_writer, write), READONLY, NULL},
	{"_ezprof_writer", T_OBJECT_EX, offsetof(struct timed_writer, writer), READONLY, NULL},
	{0},
};

PyTypeObject writer_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ezmsg_usdt._ext.TimedWriter",
	.tp_basicsize = sizeof(struct timed_writer),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.tp_doc = "A StreamWriter that tells when drain() blocks.",
	.tp_dealloc = (destructor)(void (*)(void))writer_dealloc,
	.tp_traverse = (traverseproc)(void (*)(void))writer_traverse,
	.tp_clear = (inquiry)(void (*)(void))writer_clear,
	.tp_repr = (reprfunc)(void (*)(void))writer_repr,
	.tp_getattro = (getattrofunc)(void (*)(void))writer_getattro,
	.tp_setattro = (setattrofunc)(void (*)(void))writer_setattro,
	.tp_methods = writer_methods,
	.tp_members = writer_members,
};
