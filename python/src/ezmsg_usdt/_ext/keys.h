/* SPDX-License-Identifier: MIT */
/*
 * The table of lease holders of one Backpressure: hashable Python objects (UUIDs) turned into
 * small indices. Found by identity, for ezmsg passes the same objects again and again; by hash
 * and equality only where identity fails, because a UUID's are Python functions.
 *
 * All functions: the caller holds the GIL.
 */
#ifndef EZPY_KEYS_H
#define EZPY_KEYS_H

#include "pyinc.h"

#include <stdint.h>

struct ez_entry;

struct key {
	PyObject *object; /* NULL: the place is free */
	PyObject *alias;  /* an equal object that was seen last, or NULL */
	Py_hash_t hash;
	uint32_t leases;	/* leases that it holds */
	struct ez_entry *entry; /* link or client in the registry, or NULL */
	PyObject *subscriber;	/* SubscriberState of a client, or NULL */
	uint64_t taken_id;	/* client: the message that it is processing */
};

struct keys {
	struct key *table;
	uint32_t count, room;
	uint32_t references; /* owners of this table */
};

#define KEY_NONE (-1)
#define KEY_ERROR (-2)

/* A new table with one reference; NULL with MemoryError set. */
struct keys *keys_new(void);
/* Drops one reference. */
void keys_release(struct keys *keys);
int keys_traverse(const struct keys *keys, visitproc visit, void *arg);
void keys_clear(struct keys *keys);

/* Index of an object: KEY_NONE if it isn't there, KEY_ERROR with an exception set. */
int32_t keys_find_slow(struct keys *keys, PyObject *object);
/* The same, but enters it. Never KEY_NONE. Places without leases and without entry are reused. */
int32_t keys_intern(struct keys *keys, PyObject *object);

static inline int32_t keys_find(struct keys *keys, PyObject *object)
{
	uint32_t i;

	for (i = 0; i < keys->count; i++) {
		const struct key *k = &keys->table[i];

		if ((k->object == object || k->alias == object) && k->object)
			return (int32_t)i;
	}
	return keys_find_slow(keys, object);
}

#endif
