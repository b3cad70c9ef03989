/* SPDX-License-Identifier: MIT */
/* Interned strings, asyncio.Event and asyncio.current_task. */
#include "names.h"

struct names names;

int names_init(void)
{
	PyObject *asyncio;

#define NAMES_INTERN(name, text) \
	names.name = PyUnicode_InternFromString(text); \
	if (!names.name) \
		return -1;
	NAMES_LIST(NAMES_INTERN)
#undef NAMES_INTERN
	asyncio = PyImport_ImportModule("asyncio");
	if (!asyncio)
		return -1;
	names.asyncio_event = PyObject_GetAttrString(asyncio, "Event");
	names.asyncio_current_task = PyObject_GetAttrString(asyncio, "current_task");
	Py_DECREF(asyncio);
	return names.asyncio_event && names.asyncio_current_task ? 0 : -1;
}
