/* SPDX-License-Identifier: MIT */
/*
 * SubscriberState: what is known of one Subscriber, and the callback that goes on after its buffer
 * has been released (recv(), and all of a leaky subscriber's). TaskState: one coroutine of a unit.
 */
#ifndef EZPY_SUBSCRIBER_H
#define EZPY_SUBSCRIBER_H

#include "activity.h"

struct subscriber_state {
	PyObject_HEAD PyObject *topic_object, *handle_object,
		*task_object; /* str: owners of the strings */
	const char *topic, *handle, *task;
	struct activity pending; /* user code works on a message released already */
	struct activity taken;	 /* observing: on one not released yet */
	bool in_recv;		 /* a step of recv() is running */
	PyObject *weakrefs;
};

extern PyTypeObject subscriber_type;

/* The client with that entry leaves its channel. */
void subscriber_leaves(PyObject *subscriber, const struct ez_entry *entry);

/* Subscriber.recv(): ends the callback that is pending, marks its steps. */
PyObject *subscriber_recv(PyObject *state, PyObject *awaitable);

/* TaskState(callable, address): a unit's coroutine function that tells its steps. */
extern PyTypeObject task_type;
/* The task whose step is running in this thread was blocked publishing. */
void task_credit_blocked(uint64_t ns);
/* In a forked child: the tasks in the registry are the parent's. */
void tasks_forked(void);

#endif
