/* SPDX-License-Identifier: MIT */
/* The extension module: types, and functions for the glue. One per process, as the registry is. */
#include "py_backpressure.h"
#include "py_channel.h"
#include "py_client.h"
#include "delivery.h"
#include "marshal.h"
#include "names.h"
#include "observed.h"
#include "run.h"
#include "py_subscriber.h"
#include "writer.h"

static PyObject *ext_recv(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
	(void)module;
	if (nargs != 2 || !PyObject_TypeCheck(args[0], &subscriber_type)) {
		PyErr_SetString(PyExc_TypeError, "recv(SubscriberState, coroutine)");
		return NULL;
	}
	return subscriber_recv(args[0], Py_NewRef(args[1]));
}

static PyObject *ext_set_graph_address(PyObject *module, PyObject *address)
{
	const char *text = PyUnicode_AsUTF8(address);

	(void)module;
	if (!text)
		return NULL;
	ez_registry_set_graph_address(text);
	Py_RETURN_NONE;
}

/* The semaphores, for tests: name -> is anybody listening. */
static PyObject *ext_listeners(PyObject *module, PyObject *unused)
{
	PyObject *dict = PyDict_New();

	(void)module;
	(void)unused;
#define EXT_LISTENER(name, nargs, args, meaning) \
	if (dict && PyDict_SetItemString(dict, #name, \
					 ez_probe_enabled(EZ_PROBE_##name) ? Py_True : Py_False)) \
		Py_CLEAR(dict);
	EZ_PROBE_LIST(EXT_LISTENER)
#undef EXT_LISTENER
	return dict;
}

static PyMethodDef functions[] = {
	{"recv", (PyCFunction)(void (*)(void))ext_recv, METH_FASTCALL,
	 "recv(SubscriberState, coroutine): Subscriber.recv(), observed"},
	{"set_graph_address", ext_set_graph_address, METH_O, "host:port, for the registry"},
	{"listeners", ext_listeners, METH_NOARGS, "Which probes have a listener, by name."},
	{"channel_install", channel_install, METH_VARARGS, NULL},
	{"backpressure_install", backpressure_install, METH_VARARGS, NULL},
	{"backpressure_observe", backpressure_observe, METH_O, NULL},
	{"publisher_install", publisher_install, METH_O, NULL},
	{"subscriber_install", subscriber_install, METH_O, NULL},
	{"marshal_install", marshal_install, METH_VARARGS, NULL},
	{0},
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "ezmsg_usdt._ext",
	.m_doc = "ezmsg's inner classes in C, with USDT probes.",
	.m_size = -1,
	.m_methods = functions,
};

static const struct {
	const char *name; /* NULL: not for the glue */
	PyTypeObject *type;
} types[] = {
	{"Backpressure", &backpressure_type},  {"BufferLease", &lease_type},
	{"SubscriberState", &subscriber_type}, {"TaskState", &task_type},
	{"Delivery", &delivery_type},	       {"Run", &run_type},
	{"Serialize", &serialize_type},	       {"TimedWriter", &writer_type},
};

PyMODINIT_FUNC PyInit__ext(void);

PyMODINIT_FUNC PyInit__ext(void)
{
	PyObject *module;
	size_t i;

	if (names_init())
		return NULL;
	module = PyModule_Create(&definition);
	for (i = 0; module && i < sizeof(types) / sizeof(types[0]); i++) {
		if (PyType_Ready(types[i].type) ||
		    PyModule_AddObjectRef(module, types[i].name, (PyObject *)types[i].type))
			Py_CLEAR(module);
	}
	return module;
}
