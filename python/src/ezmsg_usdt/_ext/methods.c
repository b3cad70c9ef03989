/* SPDX-License-Identifier: MIT */
/* C methods on somebody else's Python class, by method descriptors. */
#include "methods.h"

int methods_install(PyObject *class, PyMethodDef *def, PyObject **originals)
{
	PyObject *method;
	int failed;

	for (; def->ml_name; def++, originals++) {
		Py_XSETREF(*originals, PyObject_GetAttrString(class, def->ml_name));
		if (!*originals)
			return -1;
		method = PyDescr_NewMethod((PyTypeObject *)class, def);
		failed = !method || PyObject_SetAttrString(class, def->ml_name, method);
		Py_XDECREF(method);
		if (failed)
			return -1;
	}
	return 0;
}
