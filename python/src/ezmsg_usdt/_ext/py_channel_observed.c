/* SPDX-License-Identifier: MIT */
/*
 * Channel's methods around the originals. What they do to the leases is done again by the C
 * Backpressure that stands beside the channel's own one (attribute _ezprof), and by the one beside
 * its publisher's: each original is wrapped once, not each of its steps.
 */
#include "activity.h"
#include "py_channel.h"
#include "delivery.h"
#include "names.h"
#include "py_subscriber.h"

/* Borrowed; NULL: nothing stands there. */
static struct backpressure *beside(PyObject *channel)
{
	PyObject *found = PyObject_GetAttr(channel, names.ledger);

	if (!found) {
		PyErr_Clear();
		return NULL;
	}
	/* The channel keeps it alive. */
	Py_DECREF(found);
	return backpressure_check(found) && ((struct backpressure *)found)->num_buffers
		       ? (struct backpressure *)found
		       : NULL;
}

static struct activity *taken_of(struct backpressure *bp, PyObject *client_id)
{
	int32_t key = keys_find(bp->ledger.keys, client_id);
	PyObject *subscriber = key < 0 ? NULL : bp->ledger.keys->table[key].subscriber;

	if (key == KEY_ERROR)
		PyErr_Clear();
	return subscriber ? &((struct subscriber_state *)subscriber)->taken : NULL;
}

/* The original's context manager is entered right behind the call and left with the release. */
static void observe_taken(struct backpressure *bp, PyObject *const *args)
{
	struct activity *taken = bp ? taken_of(bp, args[1]) : NULL;

	if (taken)
		delivery_taken(bp, args[1], args[0], taken);
}

static void observe_finished(struct backpressure *bp, PyObject *const *args)
{
	struct activity *taken = taken_of(bp, args[1]);

	if (taken && taken->open)
		delivery_finished(bp, args[1], taken);
}

static PyObject *observed_get(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
			      PyObject *kwnames)
{
	if (nargs == 2 && activity_wanted())
		observe_taken(beside(self), args);
	return channel_call_original(channel_original.get, self, args, nargs, kwnames);
}

/* A client's lease ends, and with the last one the publisher's of this channel. */
static int observe_release(struct backpressure *bp, PyObject *const *args)
{
	struct backpressure *publisher = bp->publisher;
	Py_ssize_t index;
	uint64_t id;

	if (!channel_message_number(args[0], &id))
		return 0;
	index = (Py_ssize_t)(id % (uint64_t)bp->num_buffers);
	if (backpressure_free_one(bp, args[1], index, false))
		return -1;
	if (bp->leases[index]->count || !publisher || index >= publisher->num_buffers)
		return 0;
	return backpressure_free_one(publisher, bp->id, index, false);
}

static PyObject *observed_release(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
				  PyObject *kwnames)
{
	struct backpressure *bp = nargs == 2 ? beside(self) : NULL;
	PyObject *done;

	if (bp && activity_wanted())
		observe_finished(bp, args);
	done = channel_call_original(channel_original.release, self, args, nargs, kwnames);
	if (done && bp && observe_release(bp, args))
		Py_CLEAR(done);
	return done;
}

static int observe_notified(struct backpressure *bp, uint64_t id)
{
	struct lease *l = bp->leases[id % (uint64_t)bp->num_buffers];
	uint32_t i;

	for (i = 0; i < bp->ledger.keys->count; i++) {
		if (bp->ledger.keys->table[i].subscriber &&
		    backpressure_lease_key(bp, l, (int32_t)i))
			return -1;
	}
	return 0;
}

static PyObject *observed_notify(PyObject *self, PyObject *message_id)
{
	struct received message = marshal_take_received();
	struct backpressure *bp = beside(self);
	PyObject *result, *args[2] = {self, message_id};
	uint64_t id;
	bool known = bp && channel_message_number(message_id, &id);

	if (known) {
		channel_arrived(bp, id, &message);
		/* Before: a leaky queue releases older messages meanwhile, never this one. */
		if (observe_notified(bp, id))
			return NULL;
	}
	result = PyObject_Vectorcall(channel_original.notify_clients, args, 2, NULL);
	return result;
}

static PyObject *observed_put_local(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
				    PyObject *kwnames)
{
	struct backpressure *bp = nargs == 2 ? beside(self) : NULL;
	struct backpressure *publisher = bp ? bp->publisher : NULL;
	struct received message = {0};
	PyObject *result;
	uint64_t id = 0;
	Py_ssize_t index;

	if (!publisher || !publisher->num_buffers || !channel_message_number(args[0], &id))
		return channel_call_original(channel_original.put_local, self, args, nargs,
					     kwnames);
	channel_publishing(publisher, args[1], id, &message);
	marshal_set_received(&message);
	result = channel_call_original(channel_original.put_local, self, args, nargs, kwnames);
	index = (Py_ssize_t)(id % (uint64_t)bp->num_buffers);
	if (result && bp->leases[index]->count && backpressure_lease(publisher, bp->id, index))
		Py_CLEAR(result);
	return result;
}

static PyObject *observed_release_without_get(PyObject *self, PyObject *const *args,
					      Py_ssize_t nargs, PyObject *kwnames)
{
	struct backpressure *bp = nargs == 2 ? beside(self) : NULL;

	if (bp)
		backpressure_drop(bp, args[1]);
	return channel_call_original(channel_original.release_without_get, self, args, nargs,
				     kwnames);
}

#define WITH_KEYWORDS (METH_FASTCALL | METH_KEYWORDS)

PyMethodDef channel_observed_defs[] = {
	{"get", (PyCFunction)(void (*)(void))observed_get, WITH_KEYWORDS, NULL},
	{"_notify_clients", observed_notify, METH_O, NULL},
	{"put_local", (PyCFunction)(void (*)(void))observed_put_local, WITH_KEYWORDS, NULL},
	{"release_without_get", (PyCFunction)(void (*)(void))observed_release_without_get,
	 WITH_KEYWORDS, NULL},
	{"_release_backpressure", (PyCFunction)(void (*)(void))observed_release, WITH_KEYWORDS,
	 NULL},
	{0},
};
