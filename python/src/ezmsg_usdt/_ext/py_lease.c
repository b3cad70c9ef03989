/* SPDX-License-Identifier: MIT */
/*
 * BufferLease as a C type: a bit per holder instead of a set of UUIDs, the event made on demand.
 * The event is set and cleared at the same instants as in the original, so whoever waits for it is
 * woken in the same order.
 */
#include "py_lease.h"
#include "names.h"

PyObject *lazy_event_get(PyObject **event, bool set)
{
	if (!*event) {
		PyObject *made = PyObject_CallNoArgs(names.asyncio_event);

		if (!made)
			return NULL;
		Py_XSETREF(*event, made);
		if (set && lazy_event_set(event))
			return NULL;
	}
	return *event;
}

int lazy_event_set(PyObject **event)
{
	PyObject *done;

	if (!*event)
		return 0;
	done = PyObject_CallMethodNoArgs(*event, names.set);
	Py_XDECREF(done);
	return done ? 0 : -1;
}

int lazy_event_clear(PyObject **event)
{
	PyObject *done;

	if (!*event)
		return 0;
	/* Nobody but us knows it any more: nobody can be waiting. */
	if (Py_REFCNT(*event) == 1) {
		Py_CLEAR(*event);
		return 0;
	}
	done = PyObject_CallMethodNoArgs(*event, names.clear);
	Py_XDECREF(done);
	return done ? 0 : -1;
}

static bool bit_test(const struct lease *l, uint32_t bit)
{
	return bit / 64 < l->num_words && (l->words[bit / 64] >> (bit % 64) & 1);
}

static int bits_grow(struct lease *l, uint32_t bit)
{
	uint32_t num = bit / 64 + 1;
	uint64_t *words;

	if (num <= l->num_words)
		return 0;
	words = PyMem_Calloc(num, sizeof(*words));
	if (!words) {
		PyErr_NoMemory();
		return -1;
	}
	memcpy(words, l->words, l->num_words * sizeof(*words));
	if (l->words != &l->word)
		PyMem_Free(l->words);
	l->words = words;
	l->num_words = num;
	return 0;
}

int lease_add_key(struct lease *l, int32_t key)
{
	uint32_t bit = (uint32_t)key;

	if (lazy_event_clear(&l->event))
		return -1;
	if (bit_test(l, bit))
		return 0;
	if (bits_grow(l, bit))
		return -1;
	l->words[bit / 64] |= (uint64_t)1 << (bit % 64);
	l->count++;
	l->keys->table[key].leases++;
	return 1;
}

int lease_remove_key(struct lease *l, int32_t key)
{
	uint32_t bit = (uint32_t)key;

	if (!bit_test(l, bit))
		return 0;
	l->words[bit / 64] &= ~((uint64_t)1 << (bit % 64));
	l->count--;
	l->keys->table[key].leases--;
	if (!l->count && lazy_event_set(&l->event))
		return -1;
	return 1;
}

PyObject *lease_event_wait(struct lease *l)
{
	PyObject *event = lazy_event_get(&l->event, !l->count);

	return event ? PyObject_CallMethodNoArgs(event, names.wait) : NULL;
}

static struct lease *lease_alloc(PyTypeObject *type)
{
	struct lease *l = (struct lease *)type->tp_alloc(type, 0);

	if (l) {
		l->words = &l->word;
		l->num_words = 1;
	}
	return l;
}

struct lease *lease_new_shared(struct keys *keys)
{
	struct lease *l = lease_alloc(&lease_type);

	if (l) {
		l->keys = keys;
		l->shared = true;
		keys->references++;
	}
	return l;
}

static PyObject *lease_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	struct lease *l;

	if (!PyArg_ParseTuple(args, ":BufferLease"))
		return NULL;
	if (kwargs && PyDict_GET_SIZE(kwargs)) {
		PyErr_SetString(PyExc_TypeError, "BufferLease() takes no keyword arguments");
		return NULL;
	}
	l = lease_alloc(type);
	if (!l)
		return NULL;
	l->keys = keys_new();
	if (!l->keys)
		Py_CLEAR(l);
	return (PyObject *)l;
}

static int lease_traverse(struct lease *l, visitproc visit, void *arg)
{
	Py_VISIT(l->event);
	return l->shared ? 0 : keys_traverse(l->keys, visit, arg);
}

static int lease_tp_clear(struct lease *l)
{
	Py_CLEAR(l->event);
	if (!l->shared)
		keys_clear(l->keys);
	return 0;
}

static void lease_dealloc(struct lease *l)
{
	PyObject_GC_UnTrack(l);
	Py_CLEAR(l->event);
	keys_release(l->keys);
	if (l->words != &l->word)
		PyMem_Free(l->words);
	Py_TYPE(l)->tp_free((PyObject *)l);
}

static PyObject *lease_add(struct lease *l, PyObject *uuid)
{
	int32_t key = keys_intern(l->keys, uuid);

	if (key < 0 || lease_add_key(l, key) < 0)
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *lease_remove(struct lease *l, PyObject *uuid)
{
	int32_t key = keys_find(l->keys, uuid);
	int removed;

	if (key == KEY_ERROR)
		return NULL;
	removed = key < 0 ? 0 : lease_remove_key(l, key);
	if (removed < 0)
		return NULL;
	if (!removed) {
		PyErr_SetObject(PyExc_KeyError, uuid);
		return NULL;
	}
	Py_RETURN_NONE;
}

static PyObject *lease_wait(struct lease *l, PyObject *unused)
{
	(void)unused;
	return lease_event_wait(l);
}

static PyObject *lease_is_empty(struct lease *l, void *unused)
{
	(void)unused;
	return PyBool_FromLong(!l->count);
}

static PyObject *lease_leases(struct lease *l, void *unused)
{
	PyObject *set = PySet_New(NULL);
	uint32_t i;

	(void)unused;
	for (i = 0; set && i < l->keys->count; i++) {
		if (bit_test(l, i) && PySet_Add(set, l->keys->table[i].object))
			Py_CLEAR(set);
	}
	return set;
}

static PyObject *lease_empty(struct lease *l, void *unused)
{
	(void)unused;
	return Py_XNewRef(lazy_event_get(&l->event, !l->count));
}

static PyMethodDef lease_methods[] = {
	{"add", (PyCFunction)(void (*)(void))lease_add, METH_O, "Add a lease for a client."},
	{"remove", (PyCFunction)(void (*)(void))lease_remove, METH_O,
	 "Remove a client's lease; KeyError if it holds none."},
	{"wait", (PyCFunction)(void (*)(void))lease_wait, METH_NOARGS,
	 "Wait until no lease is left."},
	{0},
};

static PyGetSetDef lease_getset[] = {
	{"is_empty", (getter)(void (*)(void))lease_is_empty, NULL, "No lease is left.", NULL},
	{"leases", (getter)(void (*)(void))lease_leases, NULL, "A copy of the set of holders.",
	 NULL},
	{"empty", (getter)(void (*)(void))lease_empty, NULL, "asyncio.Event: no lease is left.",
	 NULL},
	{0},
};

PyTypeObject lease_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ezmsg_usdt._ext.BufferLease",
	.tp_basicsize = sizeof(struct lease),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
	.tp_doc = "ezmsg's BufferLease, in C.",
	.tp_new = lease_new,
	.tp_dealloc = (destructor)(void (*)(void))lease_dealloc,
	.tp_traverse = (traverseproc)(void (*)(void))lease_traverse,
	.tp_clear = (inquiry)(void (*)(void))lease_tp_clear,
	.tp_methods = lease_methods,
	.tp_getset = lease_getset,
};
