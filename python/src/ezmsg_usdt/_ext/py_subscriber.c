/* SPDX-License-Identifier: MIT */
/* SubscriberState, and the run around recv(). */
#include "py_subscriber.h"
#include "run.h"

void subscriber_leaves(PyObject *subscriber, const struct ez_entry *entry)
{
	struct subscriber_state *s = (struct subscriber_state *)subscriber;

	if (s->pending.open && s->pending.entry == entry)
		activity_forget(&s->pending);
	if (s->taken.open && s->taken.entry == entry)
		activity_forget(&s->taken);
}

static void recv_before(struct run *r)
{
	struct subscriber_state *s = (struct subscriber_state *)r->subject;

	/* Whoever calls recv() again is done with what it got before. */
	if (!r->flag)
		activity_close(&s->pending);
	r->flag = true;
	s->in_recv = true;
}

static void recv_after(struct run *r, PySendResult result)
{
	(void)result;
	((struct subscriber_state *)r->subject)->in_recv = false;
}

static const struct run_kind recv_kind = {
	.name = "recv",
	.before = recv_before,
	.after = recv_after,
};

PyObject *subscriber_recv(PyObject *state, PyObject *awaitable)
{
	return run_new(&recv_kind, awaitable, state);
}

static PyObject *subscriber_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *names_of[] = {"topic", "handle", "task", NULL};
	PyObject *topic, *handle = NULL, *task = NULL;
	struct subscriber_state *s;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "U|UU:SubscriberState", names_of, &topic,
					 &handle, &task))
		return NULL;
	s = (struct subscriber_state *)type->tp_alloc(type, 0);
	if (!s)
		return NULL;
	s->topic_object = Py_NewRef(topic);
	s->handle_object = Py_XNewRef(handle);
	s->task_object = Py_XNewRef(task);
	s->topic = PyUnicode_AsUTF8(topic);
	s->handle = handle ? PyUnicode_AsUTF8(handle) : "";
	s->task = task ? PyUnicode_AsUTF8(task) : "";
	if (!s->topic || !s->handle || !s->task)
		Py_CLEAR(s);
	return (PyObject *)s;
}

static void subscriber_dealloc(struct subscriber_state *s)
{
	if (s->weakrefs)
		PyObject_ClearWeakRefs((PyObject *)s);
	activity_forget(&s->pending);
	activity_forget(&s->taken);
	Py_CLEAR(s->topic_object);
	Py_CLEAR(s->handle_object);
	Py_CLEAR(s->task_object);
	Py_TYPE(s)->tp_free((PyObject *)s);
}

/* It refers to strings only, so it can't be part of a cycle. */
PyTypeObject subscriber_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ezmsg_usdt._ext.SubscriberState",
	.tp_basicsize = sizeof(struct subscriber_state),
	.tp_flags = Py_TPFLAGS_DEFAULT,
	.tp_doc = "SubscriberState(topic, handle='', task='')",
	.tp_new = subscriber_new,
	.tp_dealloc = (destructor)(void (*)(void))subscriber_dealloc,
	.tp_weaklistoffset = offsetof(struct subscriber_state, weakrefs),
};
