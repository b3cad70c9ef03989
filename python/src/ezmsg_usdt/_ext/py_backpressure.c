/* SPDX-License-Identifier: MIT */
/*
 * The C Backpressure. Every state change of the original happens here at the same instant and in
 * the same order; the registry is told only of what really changed.
 */
#include "py_backpressure.h"
#include "names.h"
#include "py_subscriber.h"

static struct lease *lease_at(struct backpressure *bp, Py_ssize_t index)
{
	if (index < 0)
		index += bp->num_buffers;
	if (index >= 0 && index < bp->num_buffers)
		return bp->leases[index];
	PyErr_SetString(PyExc_IndexError, "list index out of range");
	return NULL;
}

int backpressure_lease_key(struct backpressure *bp, struct lease *l, int32_t key)
{
	int added;

	bp->pressure += !l->count;
	added = lease_add_key(l, key);
	if (added < 0)
		return -1;
	if (added)
		ez_endpoint_lease(ledger_entry(&bp->ledger, key), l->message_id);
	return lazy_event_clear(&bp->event);
}

int backpressure_lease(struct backpressure *bp, PyObject *uuid, Py_ssize_t index)
{
	struct lease *l = lease_at(bp, index);
	int32_t key;

	if (!l)
		return -1;
	key = keys_intern(bp->ledger.keys, uuid);
	return key < 0 ? -1 : backpressure_lease_key(bp, l, key);
}

int backpressure_free_one(struct backpressure *bp, PyObject *uuid, Py_ssize_t index, bool departed)
{
	struct lease *l = lease_at(bp, index);
	struct ez_entry *entry;
	int32_t key;
	int removed;

	if (!l)
		return -1;
	key = keys_find(bp->ledger.keys, uuid);
	if (key < 0)
		return key == KEY_NONE ? 0 : -1;
	entry = ledger_entry(&bp->ledger, key);
	removed = lease_remove_key(l, key);
	if (removed <= 0)
		return removed;
	bp->pressure -= !l->count;
	if (departed) {
		ez_endpoint_free_departed(entry, l->message_id);
	} else {
		if (entry && !l->sized)
			entry->unsized++;
		ez_endpoint_free(entry, l->message_id, l->sized ? l->bytes : 0);
	}
	return 0;
}

static PyObject *bp_available(struct backpressure *bp, PyObject *arg)
{
	Py_ssize_t index = PyNumber_AsSsize_t(arg, PyExc_IndexError);
	struct lease *l;

	if (index == -1 && PyErr_Occurred())
		return NULL;
	l = lease_at(bp, index);
	return l ? PyBool_FromLong(!l->count) : NULL;
}

static PyObject *bp_wait(struct backpressure *bp, PyObject *arg)
{
	Py_ssize_t index = PyNumber_AsSsize_t(arg, PyExc_IndexError);
	struct lease *l;

	if (index == -1 && PyErr_Occurred())
		return NULL;
	l = lease_at(bp, index);
	return l ? backpressure_blocking(bp, lease_event_wait(l)) : NULL;
}

static PyObject *bp_sync(struct backpressure *bp, PyObject *unused)
{
	PyObject *event = lazy_event_get(&bp->event, !bp->pressure);

	(void)unused;
	return event ? PyObject_CallMethodNoArgs(event, names.wait) : NULL;
}

static PyObject *bp_lease(struct backpressure *bp, PyObject *const *args, Py_ssize_t nargs)
{
	Py_ssize_t index;

	if (nargs != 2) {
		PyErr_SetString(PyExc_TypeError, "lease() takes a uuid and a buffer index");
		return NULL;
	}
	index = PyNumber_AsSsize_t(args[1], PyExc_IndexError);
	if ((index == -1 && PyErr_Occurred()) || backpressure_lease(bp, args[0], index))
		return NULL;
	Py_RETURN_NONE;
}

static int free_all(struct backpressure *bp, PyObject *uuid)
{
	Py_ssize_t i;
	int32_t key;

	for (i = 0; i < bp->num_buffers; i++) {
		if (backpressure_free_one(bp, uuid, i, true))
			return -1;
	}
	/* A publisher's link ends with this; a client goes when its channel drops it. */
	if (bp->ledger.role != LEDGER_PUBLISHER)
		return 0;
	key = keys_find(bp->ledger.keys, uuid);
	if (key >= 0)
		ledger_close_key(&bp->ledger, key);
	return key == KEY_ERROR ? -1 : 0;
}

PyObject *backpressure_free(struct backpressure *bp, PyObject *const *args, Py_ssize_t nargs,
			    PyObject *kwnames)
{
	Py_ssize_t all = nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
	Py_ssize_t index;

	if (nargs < 1 || all > 2 ||
	    (all > nargs &&
	     PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, 0), "buf_idx"))) {
		PyErr_SetString(PyExc_TypeError, "free() takes a uuid and a buffer index or None");
		return NULL;
	}
	if (all == 1 || args[1] == Py_None) {
		if (free_all(bp, args[0]))
			return NULL;
	} else {
		index = PyNumber_AsSsize_t(args[1], PyExc_IndexError);
		if ((index == -1 && PyErr_Occurred()) ||
		    backpressure_free_one(bp, args[0], index, false))
			return NULL;
	}
	if (!bp->pressure && lazy_event_set(&bp->event))
		return NULL;
	Py_RETURN_NONE;
}

static int make_leases(struct backpressure *bp)
{
	Py_ssize_t i;

	bp->buffers = PyList_New(bp->num_buffers);
	bp->leases = PyMem_Calloc((size_t)bp->num_buffers + 1, sizeof(*bp->leases));
	if (!bp->buffers || !bp->leases)
		return -1;
	for (i = 0; i < bp->num_buffers; i++) {
		struct lease *l = lease_new_shared(bp->ledger.keys);

		if (!l)
			return -1;
		bp->leases[i] = l;
		PyList_SET_ITEM(bp->buffers, i, Py_NewRef((PyObject *)l));
	}
	return 0;
}

static PyObject *bp_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *names_of[] = {"num_buffers", NULL};
	struct backpressure *bp;
	Py_ssize_t num;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "n:Backpressure", names_of, &num))
		return NULL;
	bp = (struct backpressure *)type->tp_alloc(type, 0);
	if (!bp)
		return NULL;
	bp->num_buffers = num < 0 ? 0 : num;
	bp->ledger.num_buffers =
		bp->num_buffers > UINT32_MAX ? UINT32_MAX : (uint32_t)bp->num_buffers;
	bp->ledger.keys = keys_new();
	if (!bp->ledger.keys || make_leases(bp)) {
		if (!PyErr_Occurred())
			PyErr_NoMemory();
		Py_CLEAR(bp);
	}
	return (PyObject *)bp;
}

static int bp_traverse(struct backpressure *bp, visitproc visit, void *arg)
{
	Py_ssize_t i;

	Py_VISIT(bp->buffers);
	Py_VISIT(bp->event);
	Py_VISIT(bp->publisher);
	Py_VISIT(bp->id);
	for (i = 0; bp->leases && i < bp->num_buffers; i++)
		Py_VISIT(bp->leases[i]);
	return keys_traverse(bp->ledger.keys, visit, arg);
}

static int bp_clear(struct backpressure *bp)
{
	Py_CLEAR(bp->event);
	Py_CLEAR(bp->publisher);
	return 0;
}

static void bp_dealloc(struct backpressure *bp)
{
	Py_ssize_t i;

	PyObject_GC_UnTrack(bp);
	if (bp->weakrefs)
		PyObject_ClearWeakRefs((PyObject *)bp);
	if (bp->ledger.keys)
		ledger_unbind(&bp->ledger);
	for (i = 0; bp->leases && i < bp->num_buffers; i++)
		Py_XDECREF(bp->leases[i]);
	PyMem_Free(bp->leases);
	Py_CLEAR(bp->buffers);
	Py_CLEAR(bp->event);
	Py_CLEAR(bp->publisher);
	Py_CLEAR(bp->id);
	keys_release(bp->ledger.keys);
	Py_TYPE(bp)->tp_free((PyObject *)bp);
}

static PyObject *bp_is_empty(struct backpressure *bp, void *unused)
{
	(void)unused;
	return PyBool_FromLong(!bp->pressure);
}

static PyObject *bp_empty(struct backpressure *bp, void *unused)
{
	(void)unused;
	return Py_XNewRef(lazy_event_get(&bp->event, !bp->pressure));
}

static PyMemberDef bp_members[] = {
	{"buffers", T_OBJECT, offsetof(struct backpressure, buffers), READONLY, NULL},
	{"pressure", T_PYSSIZET, offsetof(struct backpressure, pressure), READONLY, NULL},
	{0},
};

static PyGetSetDef bp_getset[] = {
	{"is_empty", (getter)(void (*)(void))bp_is_empty, NULL, "No lease is left.", NULL},
	{"empty", (getter)(void (*)(void))bp_empty, NULL, "asyncio.Event: no lease is left.", NULL},
	{0},
};

static PyMethodDef backpressure_methods[] = {
	{"available", (PyCFunction)(void (*)(void))bp_available, METH_O,
	 "Whether a buffer has no leases."},
	{"wait", (PyCFunction)(void (*)(void))bp_wait, METH_O, "Wait until a buffer is free."},
	{"lease", (PyCFunction)(void (*)(void))bp_lease, METH_FASTCALL, "Lease a buffer."},
	{"free", (PyCFunction)(void (*)(void))backpressure_free, METH_FASTCALL | METH_KEYWORDS,
	 "End a client's lease on a buffer, or all of them."},
	{"sync", (PyCFunction)(void (*)(void))bp_sync, METH_NOARGS, "Wait until all are free."},
	{"open_publisher", (PyCFunction)(void (*)(void))backpressure_open_publisher, METH_VARARGS,
	 "open_publisher(id, topic, handle, task)"},
	{"open_channel", (PyCFunction)(void (*)(void))backpressure_open_channel, METH_VARARGS,
	 "open_channel(id, publisher_id, topic)"},
	{"observe", (PyCFunction)(void (*)(void))backpressure_set_publisher, METH_VARARGS,
	 "observe(id, publisher or None): follow this channel's local publisher as well"},
	{"open_link", (PyCFunction)(void (*)(void))backpressure_open_link, METH_VARARGS,
	 "open_link(channel_id, pid, transport)"},
	{"open_client", (PyCFunction)(void (*)(void))backpressure_open_client, METH_VARARGS,
	 "open_client(subscriber_id, state)"},
	{"close_key", (PyCFunction)(void (*)(void))backpressure_close_key, METH_O,
	 "close_key(id): a link or client leaves the registry"},
	{"close_owner", (PyCFunction)(void (*)(void))backpressure_close_owner, METH_NOARGS,
	 "The publisher leaves the registry; its links go with their channels."},
	{"close_endpoints", (PyCFunction)(void (*)(void))backpressure_close_endpoints, METH_NOARGS,
	 "All of this leaves the registry."},
	{"broadcast", (PyCFunction)(void (*)(void))backpressure_broadcast_method, METH_O,
	 "broadcast(coroutine): the same, observed"},
	{"timed_writer", (PyCFunction)(void (*)(void))backpressure_timed_writer, METH_O,
	 "timed_writer(writer): the same, whose drain() tells when it blocks"},
	{0},
};

PyTypeObject backpressure_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ezmsg_usdt._ext.Backpressure",
	.tp_basicsize = sizeof(struct backpressure),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.tp_doc = "ezmsg's Backpressure, in C, with probes.",
	.tp_new = bp_new,
	.tp_dealloc = (destructor)(void (*)(void))bp_dealloc,
	.tp_traverse = (traverseproc)(void (*)(void))bp_traverse,
	.tp_clear = (inquiry)(void (*)(void))bp_clear,
	.tp_weaklistoffset = offsetof(struct backpressure, weakrefs),
	.tp_methods = backpressure_methods,
	.tp_members = bp_members,
	.tp_getset = bp_getset,
};
