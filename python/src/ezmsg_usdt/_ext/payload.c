/* SPDX-License-Identifier: MIT */
/*
 * Sizes by type: what a type offers is looked up once and kept for the types seen last. A type is
 * remembered by address only; one that took a dead one's place is found out when it is used.
 */
#include "payload.h"
#include "names.h"

enum way { WAY_NEW, WAY_NBYTES, WAY_BUFFER, WAY_FIELDS, WAY_NONE };

#define WAYS 16
static struct {
	const PyTypeObject *type;
	enum way way;
} ways[WAYS];

static bool has_attribute(PyTypeObject *type, PyObject *name)
{
	PyObject *found = PyObject_GetAttr((PyObject *)type, name);

	if (!found)
		PyErr_Clear();
	Py_XDECREF(found);
	return found;
}

static enum way look_at(PyTypeObject *type)
{
	if (PyType_HasFeature(type, Py_TPFLAGS_LONG_SUBCLASS | Py_TPFLAGS_LIST_SUBCLASS |
					    Py_TPFLAGS_TUPLE_SUBCLASS |
					    Py_TPFLAGS_UNICODE_SUBCLASS | Py_TPFLAGS_DICT_SUBCLASS))
		return WAY_NONE;
	if (has_attribute(type, names.nbytes))
		return WAY_NBYTES;
	if (type->tp_as_buffer && type->tp_as_buffer->bf_getbuffer)
		return WAY_BUFFER;
	if (has_attribute(type, names.dataclass_fields))
		return WAY_FIELDS;
	return WAY_NONE;
}

static enum way way_of(PyTypeObject *type)
{
	size_t i = ((uintptr_t)type >> 4) % WAYS;

	if (ways[i].type != type) {
		ways[i].way = look_at(type);
		ways[i].type = type;
	}
	return ways[i].way;
}

static bool by_nbytes(PyObject *object, uint64_t *ret_bytes)
{
	PyObject *value = PyObject_GetAttr(object, names.nbytes);
	uint64_t n = value ? PyLong_AsUnsignedLongLong(value) : 0;
	bool known = !PyErr_Occurred();

	PyErr_Clear();
	Py_XDECREF(value);
	if (known)
		*ret_bytes = n;
	return known;
}

static bool by_buffer(PyObject *object, uint64_t *ret_bytes)
{
	Py_buffer view;

	if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO)) {
		PyErr_Clear();
		return false;
	}
	*ret_bytes = (uint64_t)view.len;
	PyBuffer_Release(&view);
	return true;
}

static bool plain_bytes(PyObject *object, enum way way, uint64_t *ret_bytes)
{
	if (way == WAY_NBYTES)
		return by_nbytes(object, ret_bytes);
	return way == WAY_BUFFER && by_buffer(object, ret_bytes);
}

static bool by_fields(PyObject *object, uint64_t *ret_bytes)
{
	PyObject *fields = PyObject_GetAttr((PyObject *)Py_TYPE(object), names.dataclass_fields);
	PyObject *name, *field, *value;
	uint64_t bytes, sum = 0;
	Py_ssize_t position = 0;
	bool known = false;

	while (fields && PyDict_Check(fields) && PyDict_Next(fields, &position, &name, &field)) {
		value = PyObject_GetAttr(object, name);
		if (!value) {
			PyErr_Clear();
			continue;
		}
		if (plain_bytes(value, way_of(Py_TYPE(value)), &bytes)) {
			sum += bytes;
			known = true;
		}
		Py_DECREF(value);
	}
	PyErr_Clear();
	Py_XDECREF(fields);
	if (known)
		*ret_bytes = sum;
	return known;
}

bool payload_bytes(PyObject *object, uint64_t *ret_bytes)
{
	enum way way;

	if (PyBytes_CheckExact(object)) {
		*ret_bytes = (uint64_t)PyBytes_GET_SIZE(object);
		return true;
	}
	way = way_of(Py_TYPE(object));
	if (way == WAY_FIELDS)
		return by_fields(object, ret_bytes);
	return plain_bytes(object, way, ret_bytes);
}
