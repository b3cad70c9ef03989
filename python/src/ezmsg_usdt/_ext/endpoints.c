/* SPDX-License-Identifier: MIT */
/*
 * What the glue tells a Backpressure: which endpoint it is, who connects and leaves; and the runs
 * around what may block a publisher.
 */
#include "py_backpressure.h"
#include "activity.h"
#include "names.h"
#include "run.h"
#include "py_subscriber.h"
#include "writer.h"

PyObject *backpressure_open_publisher(struct backpressure *bp, PyObject *args)
{
	const char *topic, *handle, *task;
	PyObject *id;

	if (!PyArg_ParseTuple(args, "Osss:open_publisher", &id, &topic, &handle, &task))
		return NULL;
	if (ledger_bind(&bp->ledger, LEDGER_PUBLISHER, id, id, topic, handle, task))
		return NULL;
	Py_RETURN_NONE;
}

PyObject *backpressure_open_channel(struct backpressure *bp, PyObject *args)
{
	PyObject *id, *publisher_id;
	const char *topic;

	if (!PyArg_ParseTuple(args, "OOs:open_channel", &id, &publisher_id, &topic))
		return NULL;
	if (bp->ledger.role == LEDGER_NONE &&
	    ledger_bind(&bp->ledger, LEDGER_CHANNEL, id, publisher_id, topic, "", ""))
		return NULL;
	Py_RETURN_NONE;
}

PyObject *backpressure_set_publisher(struct backpressure *bp, PyObject *args)
{
	PyObject *id, *publisher;

	if (!PyArg_ParseTuple(args, "OO:observe", &id, &publisher))
		return NULL;
	if (publisher != Py_None && !backpressure_check(publisher)) {
		PyErr_SetString(PyExc_TypeError, "observe() takes a Backpressure or None");
		return NULL;
	}
	Py_XSETREF(bp->id, Py_NewRef(id));
	Py_XSETREF(bp->publisher,
		   publisher == Py_None ? NULL : (struct backpressure *)Py_NewRef(publisher));
	Py_RETURN_NONE;
}

PyObject *backpressure_open_link(struct backpressure *bp, PyObject *args)
{
	unsigned int transport;
	unsigned long long pid;
	PyObject *id;

	if (!PyArg_ParseTuple(args, "OKI:open_link", &id, &pid, &transport))
		return NULL;
	if (ledger_open_link(&bp->ledger, id, (uint32_t)pid, transport))
		return NULL;
	Py_RETURN_NONE;
}

PyObject *backpressure_open_client(struct backpressure *bp, PyObject *args)
{
	PyObject *id, *state;

	if (!PyArg_ParseTuple(args, "OO!:open_client", &id, &subscriber_type, &state))
		return NULL;
	if (ledger_open_client(&bp->ledger, id, state))
		return NULL;
	Py_RETURN_NONE;
}

PyObject *backpressure_close_key(struct backpressure *bp, PyObject *id)
{
	int32_t key = keys_find(bp->ledger.keys, id);

	if (key == KEY_ERROR)
		return NULL;
	if (key >= 0)
		ledger_close_key(&bp->ledger, key);
	Py_RETURN_NONE;
}

PyObject *backpressure_close_owner(struct backpressure *bp, PyObject *unused)
{
	(void)unused;
	ez_registry_close(bp->ledger.entry);
	bp->ledger.entry = NULL;
	Py_RETURN_NONE;
}

PyObject *backpressure_close_endpoints(struct backpressure *bp, PyObject *unused)
{
	(void)unused;
	ledger_unbind(&bp->ledger);
	Py_RETURN_NONE;
}

void backpressure_message(struct backpressure *bp, uint64_t message_id, bool sized, uint64_t bytes)
{
	struct lease *l;

	if (!bp->num_buffers)
		return;
	l = bp->leases[message_id % (uint64_t)bp->num_buffers];
	l->message_id = message_id;
	l->sized = sized;
	l->bytes = bytes;
}

void backpressure_drop(struct backpressure *bp, PyObject *uuid)
{
	int32_t key = keys_find(bp->ledger.keys, uuid);

	if (key == KEY_ERROR)
		PyErr_Clear();
	ez_endpoint_drop(ledger_entry(&bp->ledger, key));
}

void backpressure_sized(struct backpressure *bp, bool sized, uint64_t bytes)
{
	ledger_size(&bp->ledger, sized, bytes);
	backpressure_message(bp, bp->ledger.message_id, sized, bytes);
}

struct backpressure *backpressure_current(void)
{
	char *l = (char *)ledger_current();

	return l ? (struct backpressure *)(void *)(l - offsetof(struct backpressure, ledger))
		 : NULL;
}

struct backpressure *backpressure_of(PyObject *backpressure)
{
	PyObject *beside;

	if (backpressure_check(backpressure))
		return (struct backpressure *)backpressure;
	beside = PyObject_GetAttr(backpressure, names.ledger);
	if (!beside) {
		PyErr_Clear();
		return NULL;
	}
	/* The original keeps it alive. */
	Py_DECREF(beside);
	return backpressure_check(beside) ? (struct backpressure *)beside : NULL;
}

/* Blocked is what suspends: a wait or drain that returns at once has not blocked anybody. */
static void blocking_after(struct run *r, PySendResult result)
{
	struct backpressure *bp = (struct backpressure *)r->subject;
	uint64_t blocked_ns;

	if (result == PYGEN_NEXT) {
		if (!r->flag) {
			r->since_ns = ez_clock_ns(CLOCK_MONOTONIC);
			ledger_blocked_begin(&bp->ledger);
		}
		r->flag = true;
		return;
	}
	if (!r->flag)
		return;
	r->flag = false;
	ledger_blocked_end(&bp->ledger);
	blocked_ns = ez_clock_ns(CLOCK_MONOTONIC) - r->since_ns;
	activity_credit_blocked(blocked_ns);
	task_credit_blocked(blocked_ns);
}

static void blocking_abandoned(struct run *r)
{
	if (r->flag)
		ledger_blocked_end(&((struct backpressure *)r->subject)->ledger);
	r->flag = false;
}

static const struct run_kind blocking_kind = {
	.name = "wait",
	.after = blocking_after,
	.abandoned = blocking_abandoned,
	.returns_none = true,
};

PyObject *backpressure_blocking(struct backpressure *bp, PyObject *awaitable)
{
	return run_new(&blocking_kind, awaitable, (PyObject *)bp);
}

/* The broadcast whose step is running in this thread; its flag: it is serialising. */
static _Thread_local struct run *broadcasting;

static void credit_serialising(struct run *r)
{
	ledger_serialised(&((struct backpressure *)r->subject)->ledger,
			  ez_clock_ns(CLOCK_MONOTONIC) - r->since_ns);
}

void backpressure_serialising(bool begins)
{
	struct run *r = broadcasting;

	if (!r || r->flag == begins)
		return;
	if (begins)
		r->since_ns = ez_clock_ns(CLOCK_MONOTONIC);
	else
		credit_serialising(r);
	r->flag = begins;
}

static void broadcast_before(struct run *r)
{
	ledger_enter(&((struct backpressure *)r->subject)->ledger);
	r->outer = broadcasting;
	broadcasting = r;
	if (r->flag)
		r->since_ns = ez_clock_ns(CLOCK_MONOTONIC);
}

static void broadcast_after(struct run *r, PySendResult result)
{
	broadcasting = r->outer;
	/* What it waits for the socket meanwhile is no serialising. */
	if (r->flag)
		credit_serialising(r);
	if (result == PYGEN_RETURN)
		ledger_publish(&((struct backpressure *)r->subject)->ledger);
}

static const struct run_kind broadcast_kind = {
	.name = "broadcast",
	.before = broadcast_before,
	.after = broadcast_after,
};

PyObject *backpressure_broadcast(struct backpressure *bp, PyObject *awaitable)
{
	return run_new(&broadcast_kind, awaitable, (PyObject *)bp);
}

PyObject *backpressure_broadcast_method(struct backpressure *bp, PyObject *awaitable)
{
	return backpressure_broadcast(bp, Py_NewRef(awaitable));
}

PyObject *backpressure_timed_writer(struct backpressure *bp, PyObject *writer)
{
	return writer_new(bp, writer);
}
