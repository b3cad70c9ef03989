/* SPDX-License-Identifier: MIT */
/* Lease holders by small index: identity first, hash and equality where that fails. */
#include "keys.h"

struct keys *keys_new(void)
{
	struct keys *keys = PyMem_Calloc(1, sizeof(*keys));

	if (!keys) {
		PyErr_NoMemory();
		return NULL;
	}
	keys->references = 1;
	return keys;
}

static void key_drop(struct key *k)
{
	struct key old = *k;

	/* Emptied first: a destructor may run anything. */
	memset(k, 0, sizeof(*k));
	Py_XDECREF(old.object);
	Py_XDECREF(old.alias);
	Py_XDECREF(old.subscriber);
}

void keys_clear(struct keys *keys)
{
	uint32_t i;

	for (i = 0; keys && i < keys->count; i++) {
		Py_CLEAR(keys->table[i].subscriber);
		Py_CLEAR(keys->table[i].alias);
	}
}

void keys_release(struct keys *keys)
{
	uint32_t i;

	if (!keys || --keys->references)
		return;
	for (i = 0; i < keys->count; i++)
		key_drop(&keys->table[i]);
	PyMem_Free(keys->table);
	PyMem_Free(keys);
}

int keys_traverse(const struct keys *keys, visitproc visit, void *arg)
{
	uint32_t i;

	for (i = 0; keys && i < keys->count; i++) {
		Py_VISIT(keys->table[i].object);
		Py_VISIT(keys->table[i].alias);
		Py_VISIT(keys->table[i].subscriber);
	}
	return 0;
}

static int32_t find_hashed(struct keys *keys, PyObject *object, Py_hash_t hash)
{
	uint32_t i;

	for (i = 0; i < keys->count; i++) {
		struct key *k = &keys->table[i];
		PyObject *other = k->object;
		int equal;

		if (!other || k->hash != hash)
			continue;
		Py_INCREF(other);
		equal = PyObject_RichCompareBool(other, object, Py_EQ);
		/* Comparing may run Python code, which may change the table. */
		if (i < keys->count && keys->table[i].object == other && equal > 0) {
			Py_INCREF(object);
			Py_XSETREF(keys->table[i].alias, object);
		}
		Py_DECREF(other);
		if (equal)
			return equal < 0 ? KEY_ERROR : (int32_t)i;
	}
	return KEY_NONE;
}

int32_t keys_find_slow(struct keys *keys, PyObject *object)
{
	Py_hash_t hash = PyObject_Hash(object);

	if (hash == -1)
		return KEY_ERROR;
	return find_hashed(keys, object, hash);
}

static int32_t free_place(struct keys *keys)
{
	struct key *grown;
	uint32_t i;

	for (i = 0; i < keys->count; i++) {
		const struct key *k = &keys->table[i];

		if (!k->object || (!k->leases && !k->entry && !k->subscriber)) {
			key_drop(&keys->table[i]);
			return (int32_t)i;
		}
	}
	if (keys->count == keys->room) {
		uint32_t room = keys->room ? 2 * keys->room : 4;

		grown = PyMem_Realloc(keys->table, room * sizeof(*grown));
		if (!grown) {
			PyErr_NoMemory();
			return KEY_ERROR;
		}
		keys->table = grown;
		keys->room = room;
	}
	memset(&keys->table[keys->count], 0, sizeof(keys->table[0]));
	return (int32_t)keys->count++;
}

int32_t keys_intern(struct keys *keys, PyObject *object)
{
	Py_hash_t hash;
	int32_t place;
	uint32_t i;

	for (i = 0; i < keys->count; i++) {
		const struct key *k = &keys->table[i];

		if ((k->object == object || k->alias == object) && k->object)
			return (int32_t)i;
	}
	hash = PyObject_Hash(object);
	if (hash == -1)
		return KEY_ERROR;
	place = find_hashed(keys, object, hash);
	if (place != KEY_NONE)
		return place;
	place = free_place(keys);
	if (place >= 0) {
		keys->table[place].object = Py_NewRef(object);
		keys->table[place].hash = hash;
	}
	return place;
}
