/* SPDX-License-Identifier: MIT */
/*
 * TaskState stands in for a unit's coroutine function. Its calls tell how long each step held the
 * event loop, which is what the others wait for when no backpressure explains a delay.
 */
#include "run.h"
#include "py_subscriber.h"

#include <registry.h>

struct task_state {
	PyObject_HEAD struct task_state *next, *previous; /* of all, for a forked child */
	PyObject *callable;
	PyObject *dict;
	struct ez_entry *entry;
	vectorcallfunc vectorcall;
};

static struct task_state *first;

void tasks_forked(void)
{
	struct task_state *t;

	for (t = first; t; t = t->next)
		t->entry = NULL;
}

/* The innermost call whose step is running in this thread. */
static _Thread_local struct run *current;

void task_credit_blocked(uint64_t ns)
{
	struct ez_entry *e = current ? ((struct task_state *)current->subject)->entry : NULL;

	if (!e)
		return;
	current->number += ns;
	ez_entry_begin(e);
	e->blocked_ns += ns;
	ez_entry_end(e);
}

static void task_before(struct run *r)
{
	struct task_state *t = (struct task_state *)r->subject;

	r->outer = current;
	current = r;
	r->since_ns = ez_clock_ns(CLOCK_MONOTONIC);
	if (!r->flag)
		r->begin_ns = r->since_ns;
	r->flag = true;
	if (t->entry)
		t->entry->callback_since_ns = r->since_ns;
	activity_step_begin();
}

static void task_after(struct run *r, PySendResult result)
{
	struct ez_entry *e = ((struct task_state *)r->subject)->entry;
	uint64_t now = ez_clock_ns(CLOCK_MONOTONIC), held = now - r->since_ns;

	current = r->outer;
	activity_step_end(result != PYGEN_NEXT);
	if (!e)
		return;
	ez_entry_begin(e);
	e->callback_since_ns = 0;
	e->hold_ns += held;
	if (held > e->hold_max_ns) {
		e->hold_max_ns = held;
		e->hold_max_at_ns = r->since_ns;
	}
	if (result != PYGEN_NEXT) {
		e->messages++;
		e->span_ns += now - r->begin_ns - r->number;
	}
	ez_entry_end(e);
}

static const struct run_kind task_kind = {
	.name = "task",
	.before = task_before,
	.after = task_after,
};

static PyObject *task_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
	struct task_state *t = (struct task_state *)self;

	return run_new(&task_kind, PyObject_Vectorcall(t->callable, args, nargsf, kwnames), self);
}

static PyObject *task_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *names_of[] = {"callable", "address", NULL};
	struct ez_endpoint_spec spec = {.kind = EZ_KIND_TASK};
	PyObject *callable;
	struct task_state *t;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Os:TaskState", names_of, &callable,
					 &spec.task))
		return NULL;
	t = (struct task_state *)type->tp_alloc(type, 0);
	if (!t)
		return NULL;
	t->callable = Py_NewRef(callable);
	t->vectorcall = task_call;
	spec.topic = spec.task;
	ez_registry_open(&spec, &t->entry);
	t->next = first;
	if (first)
		first->previous = t;
	first = t;
	return (PyObject *)t;
}

static int task_traverse(struct task_state *t, visitproc visit, void *arg)
{
	Py_VISIT(t->callable);
	Py_VISIT(t->dict);
	return 0;
}

static int task_clear(struct task_state *t)
{
	Py_CLEAR(t->callable);
	Py_CLEAR(t->dict);
	return 0;
}

static void task_dealloc(struct task_state *t)
{
	PyObject_GC_UnTrack(t);
	if (t->previous)
		t->previous->next = t->next;
	else
		first = t->next;
	if (t->next)
		t->next->previous = t->previous;
	ez_registry_close(t->entry);
	task_clear(t);
	Py_TYPE(t)->tp_free((PyObject *)t);
}

static PyGetSetDef task_getset[] = {
	{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
	{0},
};

PyTypeObject task_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ezmsg_usdt._ext.TaskState",
	.tp_basicsize = sizeof(struct task_state),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
	.tp_doc = "TaskState(callable, address): a unit's coroutine function.",
	.tp_new = task_new,
	.tp_dealloc = (destructor)(void (*)(void))task_dealloc,
	.tp_traverse = (traverseproc)(void (*)(void))task_traverse,
	.tp_clear = (inquiry)(void (*)(void))task_clear,
	.tp_call = PyVectorcall_Call,
	.tp_vectorcall_offset = offsetof(struct task_state, vectorcall),
	.tp_dictoffset = offsetof(struct task_state, dict),
	.tp_getset = task_getset,
};
