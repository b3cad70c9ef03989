/* SPDX-License-Identifier: MIT */
/* The list of callbacks in progress; short, for it has one entry per task at work. */
#include "activity.h"
#include "names.h"

#include <thread_work.h>

static struct activity *first;

const void *current_task(void)
{
	PyObject *type, *value, *trace, *task;

	PyErr_Fetch(&type, &value, &trace);
	task = PyObject_CallNoArgs(names.asyncio_current_task);
	if (!task)
		PyErr_Clear(); /* no running loop */
	PyErr_Restore(type, value, trace);
	/* Compared only, and the loop keeps it alive while it runs. */
	Py_XDECREF(task);
	return task == Py_None ? NULL : task;
}

static void link_in(struct activity *a)
{
	a->previous = NULL;
	a->next = first;
	if (first)
		first->previous = a;
	first = a;
	a->open = true;
}

static void link_out(struct activity *a)
{
	if (a->previous)
		a->previous->next = a->next;
	else
		first = a->next;
	if (a->next)
		a->next->previous = a->previous;
	a->open = false;
}

void activity_open(struct activity *a, struct ez_entry *entry, uint64_t message_id)
{
	if (a->open)
		activity_forget(a);
	a->entry = entry;
	a->message_id = message_id;
	a->excluded_ns = 0;
	a->user_end_ns = 0;
	a->task = current_task();
	link_in(a);
	ez_endpoint_callback_begin(entry, message_id);
	/* The user's code runs in steps, which say so; of others' coroutines no steps are seen. */
	ez_work_suspend(entry);
}

void activity_close(struct activity *a)
{
	if (!a->open)
		return;
	link_out(a);
	if (a->user_end_ns)
		a->excluded_ns += ez_clock_ns(CLOCK_MONOTONIC) - a->user_end_ns;
	ez_endpoint_callback_end_excluding(a->entry, a->message_id, a->excluded_ns);
}

void activity_forget(struct activity *a)
{
	if (a->open)
		link_out(a);
}

void activity_move(struct activity *to, struct activity *from)
{
	activity_forget(to);
	*to = *from;
	if (!from->open)
		return;
	link_out(from);
	link_in(to);
}

void activity_forget_entry(const struct ez_entry *entry)
{
	struct activity *a;

	for (a = first; a; a = a->next) {
		if (!entry || a->entry == entry)
			a->entry = NULL;
	}
}

void activity_credit_blocked(uint64_t ns)
{
	const void *task = first ? current_task() : NULL;
	struct activity *a;

	for (a = first; task && a; a = a->next) {
		if (a->task == task)
			a->excluded_ns += ns;
	}
}

void activity_step_begin(void)
{
	const void *task = first ? current_task() : NULL;
	struct activity *a;

	for (a = first; task && a; a = a->next) {
		if (a->task == task)
			ez_work_resume(a->entry);
	}
}

void activity_step_end(bool ended)
{
	const void *task = first ? current_task() : NULL;
	struct activity *a;

	for (a = first; task && a; a = a->next) {
		if (a->task != task)
			continue;
		ez_work_suspend(a->entry);
		if (ended)
			a->user_end_ns = ez_clock_ns(CLOCK_MONOTONIC);
	}
}
