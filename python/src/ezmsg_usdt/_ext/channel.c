/* SPDX-License-Identifier: MIT */
/*
 * Channel's methods in C, or around the originals. Where an argument or attribute is not what
 * ezmsg itself puts there (tests do that), the original does the work.
 */
#include "channel.h"
#include "backpressure.h"
#include "delivery.h"
#include "marshal.h"
#include "methods.h"
#include "names.h"
#include "payload.h"

static struct {
	PyObject *get, *notify_clients, *put_local, *release_without_get;
} original;
static PyObject *local_kind; /* NULL: this ezmsg has none */
static bool replacing;

/* Attribute `name` as a Backpressure that we know: new reference to the attribute, or NULL. */
static PyObject *attribute_backpressure(PyObject *channel, PyObject *name,
					struct backpressure **ret_bp)
{
	PyObject *attribute = PyObject_GetAttr(channel, name);

	*ret_bp = NULL;
	if (!attribute)
		PyErr_Clear();
	else if (attribute != Py_None)
		*ret_bp = backpressure_of(attribute);
	return attribute;
}

static bool message_number(PyObject *object, uint64_t *ret_id)
{
	if (!PyLong_CheckExact(object))
		return false;
	*ret_id = PyLong_AsUnsignedLongLong(object);
	if (!PyErr_Occurred())
		return true;
	PyErr_Clear();
	return false;
}

static PyObject *channel_get(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
			     PyObject *kwnames)
{
	PyObject *attribute, *delivery, *inner = NULL, *all[3];
	struct backpressure *bp;

	if (kwnames || nargs != 2) {
		/* Called as nobody in ezmsg does: unobserved rather than wrong. */
		all[0] = self;
		if (nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0) != 2) {
			PyErr_SetString(PyExc_TypeError, "get() takes msg_id and client_id");
			return NULL;
		}
		memcpy(all + 1, args, 2 * sizeof(*all));
		return PyObject_Vectorcall(original.get, all, (size_t)nargs + 1, kwnames);
	}
	attribute = attribute_backpressure(self, names.backpressure, &bp);
	if (!replacing) {
		all[0] = self;
		memcpy(all + 1, args, 2 * sizeof(*all));
		inner = PyObject_Vectorcall(original.get, all, 3, NULL);
		if (!inner) {
			Py_XDECREF(attribute);
			return NULL;
		}
	}
	delivery = delivery_new(self, bp, args[0], args[1], inner);
	Py_XDECREF(attribute);
	return delivery;
}

static void arrived(struct backpressure *bp, uint64_t id, const struct received *message)
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
	struct backpressure *bp;
	PyObject *attribute, *result, *args[2] = {self, message_id};
	uint64_t id;
	int notified;

	attribute = attribute_backpressure(self, names.backpressure, &bp);
	if (!bp || !bp->num_buffers || !message_number(message_id, &id)) {
		Py_XDECREF(attribute);
		return PyObject_Vectorcall(original.notify_clients, args, 2, NULL);
	}
	arrived(bp, id, &message);
	if (replacing && (PyObject *)bp == attribute) {
		notified = notify(self, bp, message_id, id);
		result = notified < 0 ? NULL : PyBool_FromLong(notified);
	} else {
		result = PyObject_Vectorcall(original.notify_clients, args, 2, NULL);
	}
	Py_DECREF(attribute);
	return result;
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

static int lease_local(PyObject *self, PyObject *local, struct backpressure *publisher, uint64_t id)
{
	PyObject *channel_id = PyObject_GetAttr(self, names.id);
	int failed;

	(void)local;
	if (!channel_id)
		return -1;
	failed = backpressure_lease(publisher, channel_id,
				    (Py_ssize_t)(id % (uint64_t)publisher->num_buffers));
	Py_DECREF(channel_id);
	return failed;
}

/* The original's body, step by step. */
static PyObject *put_local_replaced(PyObject *self, struct backpressure *bp, PyObject *local,
				    struct backpressure *publisher, PyObject *const *args,
				    uint64_t id, const struct received *message)
{
	PyObject *cache, *done, *put[3];
	int notified;

	if (mark_local(self))
		return NULL;
	arrived(bp, id, message);
	notified = notify(self, bp, args[0], id);
	if (notified < 0)
		return NULL;
	if (!notified)
		Py_RETURN_NONE;
	cache = PyObject_GetAttr(self, names.cache);
	if (!cache)
		return NULL;
	put[0] = cache;
	put[1] = args[1];
	put[2] = args[0];
	done = PyObject_VectorcallMethod(names.put_local, put, 3, NULL);
	Py_DECREF(cache);
	if (!done)
		return NULL;
	Py_DECREF(done);
	if (lease_local(self, local, publisher, id))
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *put_local_original(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
				    PyObject *kwnames)
{
	PyObject *all[3] = {self};

	if (nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0) != 2) {
		PyErr_SetString(PyExc_TypeError, "put_local() takes msg_id and msg");
		return NULL;
	}
	memcpy(all + 1, args, 2 * sizeof(*all));
	return PyObject_Vectorcall(original.put_local, all, (size_t)nargs + 1, kwnames);
}

static PyObject *channel_put_local(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
				   PyObject *kwnames)
{
	struct received message = {.transport = EZ_TRANSPORT_LOCAL};
	struct backpressure *bp, *publisher;
	PyObject *attribute, *local, *result;
	uint64_t id;

	if (kwnames || nargs != 2 || !message_number(args[0], &id))
		return put_local_original(self, args, nargs, kwnames);
	local = attribute_backpressure(self, names.local_backpressure, &publisher);
	attribute = attribute_backpressure(self, names.backpressure, &bp);
	if (publisher) {
		message.known = payload_bytes(args[1], &message.bytes);
		ledger_size(&publisher->ledger, message.known, message.bytes);
		backpressure_message(publisher, id, message.known, message.bytes);
	}
	if (replacing && bp && publisher && (PyObject *)bp == attribute && bp->num_buffers &&
	    publisher->num_buffers && (PyObject *)publisher == local) {
		result = put_local_replaced(self, bp, local, publisher, args, id, &message);
	} else {
		if (publisher)
			marshal_set_received(&message);
		result = put_local_original(self, args, nargs, kwnames);
	}
	Py_XDECREF(local);
	Py_XDECREF(attribute);
	return result;
}

static PyObject *channel_release_without_get(PyObject *self, PyObject *const *args,
					     Py_ssize_t nargs, PyObject *kwnames)
{
	PyObject *attribute, *all[3] = {self};
	struct backpressure *bp;
	int32_t key;

	if (nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0) != 2) {
		PyErr_SetString(PyExc_TypeError,
				"release_without_get() takes msg_id and client_id");
		return NULL;
	}
	attribute = attribute_backpressure(self, names.backpressure, &bp);
	if (bp) {
		key = keys_find(bp->ledger.keys, args[1]);
		if (key == KEY_ERROR)
			PyErr_Clear();
		ez_endpoint_drop(ledger_entry(&bp->ledger, key));
	}
	Py_XDECREF(attribute);
	memcpy(all + 1, args, 2 * sizeof(*all));
	return PyObject_Vectorcall(original.release_without_get, all, (size_t)nargs + 1, kwnames);
}

#define CALLED_WITH_KEYWORDS (METH_FASTCALL | METH_KEYWORDS)

static PyMethodDef channel_defs[] = {
	{"get", (PyCFunction)(void (*)(void))channel_get, CALLED_WITH_KEYWORDS,
	 "Get a message via a context manager."},
	{"_notify_clients", channel_notify, METH_O, "Notify interested clients."},
	{"put_local", (PyCFunction)(void (*)(void))channel_put_local, CALLED_WITH_KEYWORDS,
	 "Put a message directly into the cache."},
	{"release_without_get", (PyCFunction)(void (*)(void))channel_release_without_get,
	 CALLED_WITH_KEYWORDS, "Release a message that is never read."},
	{0},
};

int methods_install(PyObject *class, PyMethodDef *def, PyObject **originals)
{
	PyObject *method;
	int failed;

	for (; def->ml_name; def++, originals++) {
		Py_XSETREF(*originals, PyObject_GetAttrString(class, def->ml_name));
		if (!*originals)
			return -1;
		method = PyDescr_NewMethod((PyTypeObject *)class, def);
		failed = !method || PyObject_SetAttrString(class, def->ml_name, method);
		Py_XDECREF(method);
		if (failed)
			return -1;
	}
	return 0;
}

PyObject *channel_install(PyObject *module, PyObject *args)
{
	PyObject *class, *kind, *originals[4] = {NULL};
	int replace;

	(void)module;
	if (!PyArg_ParseTuple(args, "O!pO:channel_install", &PyType_Type, &class, &replace, &kind))
		return NULL;
	if (methods_install(class, channel_defs, originals))
		return NULL;
	original.get = originals[0];
	original.notify_clients = originals[1];
	original.put_local = originals[2];
	original.release_without_get = originals[3];
	local_kind = kind == Py_None ? NULL : Py_NewRef(kind);
	replacing = replace;
	Py_RETURN_NONE;
}
