/* SPDX-License-Identifier: MIT */
/*
 * The context manager around a message in hand. Releasing is the channel's own method, because
 * ezmsg's releases differ in it.
 */
#include "delivery.h"
#include "activity.h"
#include "names.h"
#include "py_subscriber.h"

struct delivery {
	PyObject_HEAD PyObject *channel, *message_id, *client_id;
	struct backpressure *bp;
	struct activity activity;
	bool entered, done;
};

PyObject *delivery_new(PyObject *channel, struct backpressure *bp, PyObject *message_id,
		       PyObject *client_id)
{
	struct delivery *d = PyObject_GC_New(struct delivery, &delivery_type);

	if (!d)
		return NULL;
	memset((char *)d + sizeof(PyObject), 0, sizeof(*d) - sizeof(PyObject));
	d->channel = Py_NewRef(channel);
	d->message_id = Py_NewRef(message_id);
	d->client_id = Py_NewRef(client_id);
	d->bp = (struct backpressure *)Py_XNewRef((PyObject *)bp);
	PyObject_GC_Track((PyObject *)d);
	return (PyObject *)d;
}

static const struct key *client_of(struct backpressure *bp, PyObject *client_id)
{
	int32_t key = keys_find(bp->ledger.keys, client_id);

	if (key == KEY_ERROR)
		PyErr_Clear();
	return key < 0 ? NULL : &bp->ledger.keys->table[key];
}

void delivery_taken(struct backpressure *bp, PyObject *client_id, PyObject *message_id,
		    struct activity *activity)
{
	const struct key *k = client_of(bp, client_id);

	if (!k || !k->entry)
		return;
	/* It took another message without recv(): when it finished with the last is unknown. */
	if (k->subscriber)
		activity_forget(&((struct subscriber_state *)k->subscriber)->pending);
	activity_open(activity, k->entry, PyLong_AsUnsignedLongLongMask(message_id));
}

void delivery_finished(struct backpressure *bp, PyObject *client_id, struct activity *activity)
{
	const struct key *k = client_of(bp, client_id);

	if (k && k->subscriber && ((struct subscriber_state *)k->subscriber)->in_recv)
		activity_move(&((struct subscriber_state *)k->subscriber)->pending, activity);
	else
		activity_close(activity);
}

static void finished(struct delivery *d)
{
	if (d->activity.open)
		delivery_finished(d->bp, d->client_id, &d->activity);
}

static PyObject *release(struct delivery *d)
{
	PyObject *args[3] = {d->channel, d->message_id, d->client_id};

	return PyObject_VectorcallMethod(names.release_backpressure, args, 3, NULL);
}

/* The original's try/finally: released also where there was nothing to get. */
static void release_after_failure(struct delivery *d)
{
	PyObject *type, *value, *trace, *type2, *value2, *trace2, *released;

	PyErr_Fetch(&type, &value, &trace);
	PyErr_NormalizeException(&type, &value, &trace);
	released = release(d);
	if (released) {
		Py_DECREF(released);
		PyErr_Restore(type, value, trace);
		return;
	}
	PyErr_Fetch(&type2, &value2, &trace2);
	PyErr_NormalizeException(&type2, &value2, &trace2);
	if (trace)
		PyException_SetTraceback(value, trace);
	if (value2 != value)
		PyException_SetContext(value2, Py_NewRef(value));
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(trace);
	PyErr_Restore(type2, value2, trace2);
}

static PyObject *delivery_enter(struct delivery *d, PyObject *unused)
{
	PyObject *cache, *object = NULL;

	(void)unused;
	if (d->entered) {
		PyErr_SetString(PyExc_RuntimeError, "generator didn't yield");
		return NULL;
	}
	d->entered = true;
	cache = PyObject_GetAttr(d->channel, names.cache);
	if (cache)
		object = PyObject_GetItem(cache, d->message_id);
	Py_XDECREF(cache);
	if (object) {
		if (d->bp && activity_wanted())
			delivery_taken(d->bp, d->client_id, d->message_id, &d->activity);
		return object;
	}
	d->done = true;
	release_after_failure(d);
	return NULL;
}

static PyObject *delivery_exit(struct delivery *d, PyObject *const *args, Py_ssize_t nargs)
{
	PyObject *released;

	(void)args;
	(void)nargs;
	finished(d);
	if (d->done)
		Py_RETURN_FALSE;
	d->done = true;
	released = release(d);
	if (!released)
		return NULL;
	Py_DECREF(released);
	Py_RETURN_FALSE;
}

/* Dropped in the middle: a generator would have run its finally clause. */
static void delivery_finalize(PyObject *self)
{
	struct delivery *d = (struct delivery *)self;
	PyObject *type, *value, *trace, *released;

	if (!d->entered || d->done)
		return;
	d->done = true;
	PyErr_Fetch(&type, &value, &trace);
	finished(d);
	released = release(d);
	if (!released)
		PyErr_WriteUnraisable(self);
	Py_XDECREF(released);
	PyErr_Restore(type, value, trace);
}

static int delivery_traverse(struct delivery *d, visitproc visit, void *arg)
{
	Py_VISIT(d->channel);
	Py_VISIT(d->message_id);
	Py_VISIT(d->client_id);
	Py_VISIT(d->bp);
	return 0;
}

static int delivery_clear(struct delivery *d)
{
	Py_CLEAR(d->channel);
	Py_CLEAR(d->message_id);
	Py_CLEAR(d->client_id);
	Py_CLEAR(d->bp);
	return 0;
}

static void delivery_dealloc(struct delivery *d)
{
	if (PyObject_CallFinalizerFromDealloc((PyObject *)d))
		return;
	PyObject_GC_UnTrack(d);
	activity_forget(&d->activity);
	delivery_clear(d);
	PyObject_GC_Del(d);
}

static PyMethodDef delivery_methods[] = {
	{"__enter__", (PyCFunction)(void (*)(void))delivery_enter, METH_NOARGS, NULL},
	{"__exit__", (PyCFunction)(void (*)(void))delivery_exit, METH_FASTCALL, NULL},
	{0},
};

PyTypeObject delivery_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ezmsg_usdt._ext.Delivery",
	.tp_basicsize = sizeof(struct delivery),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.tp_doc = "The context manager that Channel.get() returns.",
	.tp_dealloc = (destructor)(void (*)(void))delivery_dealloc,
	.tp_traverse = (traverseproc)(void (*)(void))delivery_traverse,
	.tp_clear = (inquiry)(void (*)(void))delivery_clear,
	.tp_finalize = delivery_finalize,
	.tp_methods = delivery_methods,
};
