/* SPDX-License-Identifier: MIT */
/* Entries of one Backpressure: opened and closed here, and forgotten in a forked child. */
#include "ledger.h"
#include "activity.h"
#include "names.h"
#include "py_subscriber.h"

#include <pthread.h>
#include <thread_work.h>

static struct ledger *bound;

/* Publishers by number; a place's serial says whether it is still the same one. */
struct place {
	struct ledger *ledger;
	uint64_t serial;
};
static struct place *places;
static uint32_t num_places;
static _Thread_local struct {
	uint32_t slot;
	uint64_t serial;
} current;

int uuid_bytes(PyObject *uuid, uint8_t ret_bytes[16])
{
	PyObject *bytes = PyObject_GetAttr(uuid, names.bytes_);

	if (!bytes)
		return -1;
	if (!PyBytes_Check(bytes) || PyBytes_GET_SIZE(bytes) != 16) {
		Py_DECREF(bytes);
		PyErr_SetString(PyExc_TypeError, "an endpoint's id must be a UUID");
		return -1;
	}
	memcpy(ret_bytes, PyBytes_AS_STRING(bytes), 16);
	Py_DECREF(bytes);
	return 0;
}

/*
 * In the child all endpoints are the parent's: it must not write into, and least of all report,
 * what it has only inherited.
 */
static void fork_child(void)
{
	struct ledger *l;
	uint32_t i;

	for (l = bound; l; l = l->next) {
		l->entry = NULL;
		for (i = 0; i < l->keys->count; i++)
			l->keys->table[i].entry = NULL;
	}
	activity_forget_entry(NULL);
	tasks_forked();
}

static void watch_forks(void)
{
	static bool watching;

	if (!watching)
		pthread_atfork(NULL, NULL, fork_child);
	watching = true;
}

static int take_place(struct ledger *l)
{
	static uint64_t serial;
	struct place *grown;
	uint32_t i;

	for (i = 1; i < num_places && places[i].ledger; i++)
		;
	if (i >= num_places) {
		uint32_t num = num_places ? 2 * num_places : 16;

		grown = PyMem_Realloc(places, num * sizeof(*grown));
		if (!grown) {
			PyErr_NoMemory();
			return -1;
		}
		memset(grown + num_places, 0, (num - num_places) * sizeof(*grown));
		i = num_places ? num_places : 1;
		places = grown;
		num_places = num;
	}
	places[i].ledger = l;
	places[i].serial = ++serial;
	l->slot = i;
	return 0;
}

void ledger_enter(const struct ledger *l)
{
	if (!l->slot)
		return;
	current.slot = l->slot;
	current.serial = places[l->slot].serial;
}

struct ledger *ledger_current(void)
{
	const struct place *p;

	if (current.slot >= num_places)
		return NULL;
	p = &places[current.slot];
	return p->serial == current.serial ? p->ledger : NULL;
}

static char *copy_string(const char *s)
{
	size_t n = s ? strlen(s) + 1 : 1;
	char *copy = PyMem_Malloc(n);

	if (!copy)
		PyErr_NoMemory();
	else
		memcpy(copy, s ? s : "", n);
	return copy;
}

int ledger_bind(struct ledger *l, enum ledger_role role, PyObject *id, PyObject *publisher_id,
		const char *topic, const char *handle, const char *task)
{
	struct ez_endpoint_spec spec = {.num_buffers = l->num_buffers};
	char *copy;

	if (l->role != LEDGER_NONE) {
		PyErr_SetString(PyExc_RuntimeError, "this Backpressure has an endpoint already");
		return -1;
	}
	if (uuid_bytes(id, l->id) || uuid_bytes(publisher_id, l->publisher_id))
		return -1;
	copy = copy_string(topic);
	if (!copy || (role == LEDGER_PUBLISHER && take_place(l))) {
		PyMem_Free(copy);
		return -1;
	}
	l->topic = copy;
	spec.kind = role == LEDGER_PUBLISHER ? EZ_KIND_PUBLISHER : EZ_KIND_CHANNEL;
	spec.id = l->id;
	spec.publisher_id = l->publisher_id;
	spec.channel_id = role == LEDGER_CHANNEL ? l->id : NULL;
	spec.topic = topic;
	spec.handle = handle;
	spec.task = task;
	watch_forks();
	/* No room: the registry has counted it, and the program goes on without. */
	ez_registry_open(&spec, &l->entry);
	l->role = role;
	l->next = bound;
	if (bound)
		bound->previous = l;
	bound = l;
	return 0;
}

void ledger_close_key(struct ledger *l, int32_t key)
{
	struct key *k = &l->keys->table[key];
	PyObject *subscriber = k->subscriber;

	if (subscriber)
		subscriber_leaves(subscriber, k->entry);
	if (k->entry) /* NULL would mean all */
		activity_forget_entry(k->entry);
	ez_registry_close(k->entry);
	k->entry = NULL;
	k->subscriber = NULL;
	Py_XDECREF(subscriber);
}

void ledger_unbind(struct ledger *l)
{
	uint32_t i;

	if (l->role == LEDGER_NONE)
		return;
	for (i = 0; i < l->keys->count; i++) {
		if (l->keys->table[i].entry || l->keys->table[i].subscriber)
			ledger_close_key(l, (int32_t)i);
	}
	ez_registry_close(l->entry);
	l->entry = NULL;
	if (l->slot)
		memset(&places[l->slot], 0, sizeof(places[0]));
	l->slot = 0;
	if (l->previous)
		l->previous->next = l->next;
	else
		bound = l->next;
	if (l->next)
		l->next->previous = l->previous;
	l->next = l->previous = NULL;
	l->role = LEDGER_NONE;
	PyMem_Free(l->topic);
	l->topic = NULL;
}

static int open_key(struct ledger *l, PyObject *id, struct ez_endpoint_spec *spec,
		    uint8_t bytes[16])
{
	int32_t key;

	if (l->role == LEDGER_NONE || uuid_bytes(id, bytes))
		return PyErr_Occurred() ? KEY_ERROR : KEY_NONE;
	key = keys_intern(l->keys, id);
	if (key < 0)
		return key;
	if (l->keys->table[key].entry)
		ledger_close_key(l, key);
	spec->num_buffers = l->num_buffers;
	spec->publisher_id = l->publisher_id;
	ez_registry_open(spec, &l->keys->table[key].entry);
	return key;
}

int ledger_open_link(struct ledger *l, PyObject *channel_id, uint32_t pid,
		     enum ez_transport transport)
{
	uint8_t id[16];
	struct ez_endpoint_spec spec = {
		.kind = EZ_KIND_LINK,
		.id = id,
		.channel_id = id,
		.topic = l->topic,
		.peer_pid = pid,
	};
	int32_t key = open_key(l, channel_id, &spec, id);

	if (key >= 0)
		ez_endpoint_set_transport(l->keys->table[key].entry, transport);
	return key == KEY_ERROR ? -1 : 0;
}

int ledger_open_client(struct ledger *l, PyObject *subscriber_id, PyObject *subscriber)
{
	const struct subscriber_state *s = (struct subscriber_state *)subscriber;
	uint8_t id[16];
	struct ez_endpoint_spec spec = {
		.kind = EZ_KIND_CLIENT,
		.id = id,
		.subscriber_id = id,
		.channel_id = l->id,
		.topic = s->topic,
		.handle = s->handle,
		.task = s->task,
	};
	int32_t key = open_key(l, subscriber_id, &spec, id);

	if (key >= 0)
		Py_XSETREF(l->keys->table[key].subscriber, Py_NewRef(subscriber));
	return key == KEY_ERROR ? -1 : 0;
}

void ledger_size(struct ledger *l, bool sized, uint64_t bytes)
{
	l->sized = sized;
	l->bytes = bytes;
}

void ledger_publish(struct ledger *l)
{
	uint64_t id = l->message_id++;

	if (l->entry && !l->sized)
		l->entry->unsized++;
	ez_endpoint_publish(l->entry, id, l->sized ? l->bytes : 0);
	l->sized = false;
	l->bytes = 0;
}

void ledger_serialised(struct ledger *l, uint64_t ns)
{
	if (!l->entry)
		return;
	ez_entry_begin(l->entry);
	l->entry->span_ns += ns;
	ez_entry_end(l->entry);
}

/* Several tasks may wait for one publisher: blocked is the time in which at least one does. */
void ledger_blocked_begin(struct ledger *l)
{
	if (l->blocked_depth++)
		return;
	ez_endpoint_blocked_begin(l->entry, l->message_id);
	/* It is a coroutine that waits: the loop's thread goes on with others. */
	ez_work_suspend(l->entry);
}

void ledger_blocked_end(struct ledger *l)
{
	if (!--l->blocked_depth && l->entry && l->entry->blocked_since_ns)
		ez_endpoint_blocked_end(l->entry, l->message_id);
}
