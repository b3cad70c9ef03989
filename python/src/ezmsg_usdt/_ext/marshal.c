/* SPDX-License-Identifier: MIT */
/*
 * serialize() as a C context manager: the same header and buffers as the original's generator.
 * It gives the size to the publisher at its end, just before the broadcast completes, so that two
 * broadcasts that overlap on one publisher don't mix theirs up.
 */
#include "marshal.h"
#include "py_backpressure.h"
#include "names.h"

struct serialize {
	PyObject_HEAD PyObject *class, *object, *elision;
	PyObject *inner; /* observed original, or NULL */
	PyObject *buffers;
	uint64_t message_id, bytes;
};

static _Thread_local struct received last;
static PyObject *original_serialize, *original_load;
static bool replacing;

#define PREAMBLE_BYTES 10u /* "EZ", message id */

struct received marshal_take_received(void)
{
	struct received taken = last;

	memset(&last, 0, sizeof(last));
	return taken;
}

void marshal_set_received(const struct received *message)
{
	last = *message;
}

static char *put_u64(char *p, uint64_t value)
{
	int i;

	for (i = 0; i < 8; i++)
		*p++ = (char)(value >> (8 * i));
	return p;
}

static PyObject *dump(struct serialize *s)
{
	PyObject *buffers, *wired = NULL;

	if (s->elision && s->elision != Py_None) {
		wired = PyObject_CallMethodOneArg(s->elision, names.wire, s->object);
		if (!wired)
			return NULL;
	}
	buffers = PyObject_CallMethodOneArg(s->class, names.dump, wired ? wired : s->object);
	Py_XDECREF(wired);
	if (buffers && !PyList_Check(buffers)) {
		Py_SETREF(buffers, PySequence_List(buffers));
	}
	return buffers;
}

/* "EZ", id, number of buffers, their lengths. */
static PyObject *make_header(struct serialize *s)
{
	Py_ssize_t i, n = PyList_GET_SIZE(s->buffers);
	size_t bytes = PREAMBLE_BYTES + 8 * (1 + (size_t)n);
	PyObject *header = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes);
	char *p;

	if (!header)
		return NULL;
	p = PyBytes_AS_STRING(header);
	*p++ = 'E';
	*p++ = 'Z';
	p = put_u64(p, s->message_id);
	p = put_u64(p, (uint64_t)n);
	s->bytes = bytes;
	for (i = 0; i < n; i++) {
		Py_ssize_t length = PyObject_Size(PyList_GET_ITEM(s->buffers, i));

		if (length < 0) {
			Py_DECREF(header);
			return NULL;
		}
		p = put_u64(p, (uint64_t)length);
		s->bytes += (uint64_t)length;
	}
	return header;
}

static void give_size(struct serialize *s)
{
	struct backpressure *bp = backpressure_current();

	if (bp)
		backpressure_sized(bp, true, s->bytes);
}

static PyObject *enter_inner(struct serialize *s)
{
	PyObject *made = PyObject_CallMethodNoArgs(s->inner, names.enter);
	PyObject *type, *value, *trace;

	if (!made)
		return NULL;
	if (PyTuple_Check(made) && PyTuple_GET_SIZE(made) > 0)
		s->bytes = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(made, 0));
	PyErr_Fetch(&type, &value, &trace);
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(trace);
	give_size(s);
	return made;
}

static PyObject *serialize_enter(struct serialize *s, PyObject *unused)
{
	PyObject *header;

	(void)unused;
	backpressure_serialising(true);
	if (s->inner)
		return enter_inner(s);
	s->buffers = dump(s);
	if (!s->buffers)
		return NULL;
	header = make_header(s);
	if (!header)
		return NULL;
	give_size(s);
	return Py_BuildValue("(KNO)", (unsigned long long)s->bytes, header, s->buffers);
}

static PyObject *serialize_exit(struct serialize *s, PyObject *const *args, Py_ssize_t nargs)
{
	Py_ssize_t i;
	PyObject *done;

	give_size(s);
	backpressure_serialising(false);
	if (s->inner) {
		PyObject *all[4] = {s->inner, NULL, NULL, NULL};

		for (i = 0; i < 3; i++)
			all[i + 1] = i < nargs ? args[i] : Py_None;
		return PyObject_VectorcallMethod(names.exit, all, 4, NULL);
	}
	for (i = 0; s->buffers && i < PyList_GET_SIZE(s->buffers); i++) {
		done = PyObject_CallMethodNoArgs(PyList_GET_ITEM(s->buffers, i), names.release);
		if (!done)
			return NULL;
		Py_DECREF(done);
	}
	Py_CLEAR(s->buffers);
	Py_RETURN_FALSE;
}

static struct serialize *serialize_alloc(void)
{
	struct serialize *s = PyObject_GC_New(struct serialize, &serialize_type);

	if (s)
		memset((char *)s + sizeof(PyObject), 0, sizeof(*s) - sizeof(PyObject));
	return s;
}

static PyObject *replaced(PyObject *class, PyObject *const *args, Py_ssize_t nargs)
{
	struct serialize *s;
	uint64_t id = PyLong_AsUnsignedLongLong(args[0]);

	if (PyErr_Occurred())
		return NULL;
	s = serialize_alloc();
	if (!s)
		return NULL;
	s->class = Py_NewRef(class);
	s->message_id = id;
	s->object = Py_NewRef(args[1]);
	s->elision = nargs > 2 ? Py_NewRef(args[2]) : NULL;
	PyObject_GC_Track((PyObject *)s);
	return (PyObject *)s;
}

/* Anything but the call that Publisher.broadcast makes goes through the original. */
static PyObject *serialize_call(PyObject *class, PyObject *const *args, Py_ssize_t nargs,
				PyObject *kwnames)
{
	struct serialize *s;
	PyObject *inner;

	if (replacing && !kwnames && (nargs == 2 || nargs == 3) && PyLong_Check(args[0]))
		return replaced(class, args, nargs);
	inner = PyObject_Vectorcall(original_serialize, args, (size_t)nargs, kwnames);
	if (!inner)
		return NULL;
	s = serialize_alloc();
	if (!s) {
		Py_DECREF(inner);
		return NULL;
	}
	s->inner = inner;
	PyObject_GC_Track((PyObject *)s);
	return (PyObject *)s;
}

static void note_received(PyObject *buffers)
{
	Py_ssize_t i, n = PyList_GET_SIZE(buffers);
	uint64_t bytes = PREAMBLE_BYTES + 8 * (1 + (uint64_t)n);
	bool from_bytes = false;

	for (i = 0; i < n; i++) {
		PyObject *view = PyList_GET_ITEM(buffers, i);

		if (!PyMemoryView_Check(view))
			return;
		bytes += (uint64_t)PyMemoryView_GET_BUFFER(view)->len;
		if (PyMemoryView_GET_BASE(view))
			from_bytes = PyBytes_Check(PyMemoryView_GET_BASE(view));
	}
	last.bytes = bytes;
	last.transport = from_bytes ? EZ_TRANSPORT_TCP : EZ_TRANSPORT_SHM;
	last.known = n > 0;
}

static PyObject *load_call(PyObject *unused, PyObject *buffers)
{
	(void)unused;
	if (PyList_Check(buffers))
		note_received(buffers);
	return PyObject_CallOneArg(original_load, buffers);
}

static PyMethodDef serialize_def = {"serialize", (PyCFunction)(void (*)(void))serialize_call,
				    METH_FASTCALL | METH_KEYWORDS | METH_CLASS,
				    "Serialize an object for network transmission."};
static PyMethodDef load_def = {"load", load_call, METH_O,
			       "Deserialize an object from a list of memory buffers."};

PyObject *marshal_install(PyObject *module, PyObject *args)
{
	PyObject *class, *method = NULL, *function = NULL;
	int replace, failed;

	(void)module;
	if (!PyArg_ParseTuple(args, "O!p:marshal_install", &PyType_Type, &class, &replace))
		return NULL;
	Py_XSETREF(original_serialize, PyObject_GetAttrString(class, "serialize"));
	Py_XSETREF(original_load, PyObject_GetAttrString(class, "load"));
	if (!original_serialize || !original_load)
		return NULL;
	replacing = replace;
	method = PyDescr_NewClassMethod((PyTypeObject *)class, &serialize_def);
	function = PyCFunction_New(&load_def, NULL);
	if (function)
		Py_SETREF(function, PyStaticMethod_New(function));
	failed = !method || !function || PyObject_SetAttrString(class, "serialize", method) ||
		 PyObject_SetAttrString(class, "load", function);
	Py_XDECREF(method);
	Py_XDECREF(function);
	if (failed)
		return NULL;
	Py_RETURN_NONE;
}

static int serialize_traverse(struct serialize *s, visitproc visit, void *arg)
{
	Py_VISIT(s->class);
	Py_VISIT(s->object);
	Py_VISIT(s->elision);
	Py_VISIT(s->inner);
	Py_VISIT(s->buffers);
	return 0;
}

static int serialize_clear(struct serialize *s)
{
	Py_CLEAR(s->class);
	Py_CLEAR(s->object);
	Py_CLEAR(s->elision);
	Py_CLEAR(s->inner);
	Py_CLEAR(s->buffers);
	return 0;
}

static void serialize_dealloc(struct serialize *s)
{
	PyObject_GC_UnTrack(s);
	serialize_clear(s);
	PyObject_GC_Del(s);
}

static PyMethodDef serialize_methods[] = {
	{"__enter__", (PyCFunction)(void (*)(void))serialize_enter, METH_NOARGS, NULL},
	{"__exit__", (PyCFunction)(void (*)(void))serialize_exit, METH_FASTCALL, NULL},
	{0},
};

PyTypeObject serialize_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ezmsg_usdt._ext.Serialize",
	.tp_basicsize = sizeof(struct serialize),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.tp_doc = "The context manager that MessageMarshal.serialize() returns.",
	.tp_dealloc = (destructor)(void (*)(void))serialize_dealloc,
	.tp_traverse = (traverseproc)(void (*)(void))serialize_traverse,
	.tp_clear = (inquiry)(void (*)(void))serialize_clear,
	.tp_methods = serialize_methods,
};
