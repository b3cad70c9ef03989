/* SPDX-License-Identifier: MIT */
/*
 * Channel's methods in C. Where an argument or attribute is not what ezmsg itself puts there
 * (tests do that), the original does the work.
 */
#include "py_channel.h"
#include "delivery.h"
#include "methods.h"
#include "names.h"
#include "payload.h"

struct channel_originals channel_original;
static PyObject *local_kind; /* NULL: this ezmsg has none */

/* Attribute `name` as a C Backpressure with buffers: new reference, or NULL without exception. */
static struct backpressure *attribute_backpressure(PyObject *channel, PyObject *name)
{
	PyObject *attribute = PyObject_GetAttr(channel, name);

	if (attribute && backpressure_check(attribute) &&
	    ((struct backpressure *)attribute)->num_buffers)
		return (struct backpressure *)attribute;
	Py_XDECREF(attribute);
	PyErr_Clear();
	return NULL;
}

bool channel_message_number(PyObject *object, uint64_t *ret_id)
{
	if (!PyLong_CheckExact(object))
		return false;
	*ret_id = PyLong_AsUnsignedLongLong(object);
	if (!PyErr_Occurred())
		return true;
	PyErr_Clear();
	return false;
}

PyObject *channel_call_original(PyObject *function, PyObject *self, PyObject *const *args,
				Py_ssize_t nargs, PyObject *kwnames)
{
	PyObject *all[3] = {self};

	if (nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0) != 2) {
		PyErr_SetString(PyExc_TypeError, "a message id and one argument more are needed");
		return NULL;
	}
	memcpy(all + 1, args, 2 * sizeof(*all));
	return PyObject_Vectorcall(function, all, (size_t)nargs + 1, kwnames);
}

static PyObject *channel_get(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
			     PyObject *kwnames)
{
	struct backpressure *bp;
	PyObject *delivery;

	if (kwnames || nargs != 2)
		return channel_call_original(channel_original.get, self, args, nargs, kwnames);
	bp = attribute_backpressure(self, names.backpressure);
	delivery = delivery_new(self, bp, args[0], args[1]);
	Py_XDECREF(bp);
	return delivery;
}

void channel_arrived(struct backpressure *bp, uint64_t id, const struct received *message)
{
	backpressure_message(bp, id, message->known, message->bytes);
	if (!bp->ledger.entry)
		return;
	ez_endpoint_set_transport(bp->ledger.entry, message->transport);
	if (!message->known)
		bp->ledger.entry->unsized++;
	ez_endpoint_arrive(bp->ledger.entry, message->known ? message->bytes : 0);
}

/* One lease and one notification per subscriber, in the order of the dict. */
static int notify_each(struct backpressure *bp, PyObject *clients, PyObject *notification,
		       Py_ssize_t index)
{
	PyObject *client, *queue, *done, *args[2];
	Py_ssize_t position = 0, size = PyDict_GET_SIZE(clients);

	while (PyDict_Next(clients, &position, &client, &queue)) {
		if (queue == Py_None)
			continue; /* the publisher itself */
		Py_INCREF(client);
		Py_INCREF(queue);
		args[0] = queue;
		args[1] = notification;
		done = backpressure_lease(bp, client, index)
			       ? NULL
			       : PyObject_VectorcallMethod(names.put_nowait, args, 2, NULL);
		Py_DECREF(client);
		Py_DECREF(queue);
		if (!done)
			return -1;
		Py_DECREF(done);
		if (PyDict_GET_SIZE(clients) != size) {
			PyErr_SetString(PyExc_RuntimeError,
					"dictionary changed size during iteration");
			return -1;
		}
	}
	return 0;
}

/* 1: somebody was notified, 0: nobody, -1: exception. */
static int notify(PyObject *self, struct backpressure *bp, PyObject *message_id, uint64_t id)
{
	PyObject *clients = PyObject_GetAttr(self, names.clients);
	PyObject *publisher = clients ? PyObject_GetAttr(self, names.pub_id) : NULL;
	PyObject *notification = publisher ? PyTuple_Pack(2, publisher, message_id) : NULL;
	Py_ssize_t index = (Py_ssize_t)(id % (uint64_t)bp->num_buffers);
	int failed = -1;

	if (notification && PyDict_Check(clients))
		failed = notify_each(bp, clients, notification, index);
	else if (notification)
		PyErr_SetString(PyExc_TypeError, "Channel.clients must be a dict");
	Py_XDECREF(clients);
	Py_XDECREF(publisher);
	Py_XDECREF(notification);
	return failed ? -1 : bp->leases[index]->count > 0;
}

static PyObject *channel_notify(PyObject *self, PyObject *message_id)
{
	struct received message = marshal_take_received();
	struct backpressure *bp = attribute_backpressure(self, names.backpressure);
	PyObject *args[2] = {self, message_id};
	uint64_t id;
	int notified;

	if (!bp || !channel_message_number(message_id, &id)) {
		Py_XDECREF(bp);
		return PyObject_Vectorcall(channel_original.notify_clients, args, 2, NULL);
	}
	channel_arrived(bp, id, &message);
	notified = notify(self, bp, message_id, id);
	Py_DECREF(bp);
	return notified < 0 ? NULL : PyBool_FromLong(notified);
}

static int mark_local(PyObject *self)
{
	PyObject *kind, *done;

	if (!local_kind)
		return 0;
	kind = PyObject_GetAttr(self, names.channel_kind);
	if (!kind)
		return -1;
	Py_DECREF(kind);
	if (kind == local_kind)
		return 0;
	done = PyObject_CallMethodOneArg(self, names.set_channel_kind, local_kind);
	Py_XDECREF(done);
	return done ? 0 : -1;
}

static int put_into_cache(PyObject *self, PyObject *const *args)
{
	PyObject *done, *put[3] = {PyObject_GetAttr(self, names.cache), args[1], args[0]};

	if (!put[0])
		return -1;
	done = PyObject_VectorcallMethod(names.put_local, put, 3, NULL);
	Py_DECREF(put[0]);
	Py_XDECREF(done);
	return done ? 0 : -1;
}

static int lease_local(PyObject *self, struct backpressure *publisher, uint64_t id)
{
	PyObject *channel_id = PyObject_GetAttr(self, names.id);
	int failed;

	if (!channel_id)
		return -1;
	failed = backpressure_lease(publisher, channel_id,
				    (Py_ssize_t)(id % (uint64_t)publisher->num_buffers));
	Py_DECREF(channel_id);
	return failed;
}

void channel_publishing(struct backpressure *publisher, PyObject *object, uint64_t id,
			struct received *ret_message)
{
	ret_message->transport = EZ_TRANSPORT_LOCAL;
	ret_message->known = payload_bytes(object, &ret_message->bytes);
	ledger_size(&publisher->ledger, ret_message->known, ret_message->bytes);
	backpressure_message(publisher, id, ret_message->known, ret_message->bytes);
}

/* The original's body, step by step. */
static int put_local(PyObject *self, struct backpressure *bp, struct backpressure *publisher,
		     PyObject *const *args, uint64_t id)
{
	struct received message = {0};
	int notified;

	channel_publishing(publisher, args[1], id, &message);
	if (mark_local(self))
		return -1;
	channel_arrived(bp, id, &message);
	notified = notify(self, bp, args[0], id);
	if (notified <= 0)
		return notified;
	if (put_into_cache(self, args))
		return -1;
	return lease_local(self, publisher, id);
}

static PyObject *channel_put_local(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
				   PyObject *kwnames)
{
	struct backpressure *bp, *publisher;
	PyObject *result = NULL;
	uint64_t id;

	if (kwnames || nargs != 2 || !channel_message_number(args[0], &id))
		return channel_call_original(channel_original.put_local, self, args, nargs,
					     kwnames);
	publisher = attribute_backpressure(self, names.local_backpressure);
	bp = attribute_backpressure(self, names.backpressure);
	if (!bp || !publisher)
		result = channel_call_original(channel_original.put_local, self, args, nargs,
					       kwnames);
	else if (!put_local(self, bp, publisher, args, id))
		result = Py_NewRef(Py_None);
	Py_XDECREF(publisher);
	Py_XDECREF(bp);
	return result;
}

static PyObject *channel_release_without_get(PyObject *self, PyObject *const *args,
					     Py_ssize_t nargs, PyObject *kwnames)
{
	struct backpressure *bp = attribute_backpressure(self, names.backpressure);

	if (bp && nargs == 2)
		backpressure_drop(bp, args[1]);
	Py_XDECREF(bp);
	return channel_call_original(channel_original.release_without_get, self, args, nargs,
				     kwnames);
}

#define WITH_KEYWORDS (METH_FASTCALL | METH_KEYWORDS)

static PyMethodDef channel_defs[] = {
	{"get", (PyCFunction)(void (*)(void))channel_get, WITH_KEYWORDS,
	 "Get a message via a context manager."},
	{"_notify_clients", channel_notify, METH_O, "Notify interested clients."},
	{"put_local", (PyCFunction)(void (*)(void))channel_put_local, WITH_KEYWORDS,
	 "Put a message directly into the cache."},
	{"release_without_get", (PyCFunction)(void (*)(void))channel_release_without_get,
	 WITH_KEYWORDS, "Release a message that is never read."},
	{0},
};

PyObject *channel_install(PyObject *module, PyObject *args)
{
	PyObject *class, *kind, *originals[5] = {NULL};
	int replace;

	(void)module;
	if (!PyArg_ParseTuple(args, "O!pO:channel_install", &PyType_Type, &class, &replace, &kind))
		return NULL;
	if (methods_install(class, replace ? channel_defs : channel_observed_defs, originals))
		return NULL;
	channel_original.get = originals[0];
	channel_original.notify_clients = originals[1];
	channel_original.put_local = originals[2];
	channel_original.release_without_get = originals[3];
	channel_original.release = originals[4];
	local_kind = kind == Py_None ? NULL : Py_NewRef(kind);
	Py_RETURN_NONE;
}
