/* SPDX-License-Identifier: MIT */
/*
 * What a Backpressure is in the registry: a publisher with its links, or a channel with its
 * clients. Without that (nobody has bound it) every function here does nothing.
 *
 * The caller holds the GIL, which is the endpoints' lock.
 */
#ifndef EZPY_LEDGER_H
#define EZPY_LEDGER_H

#include "keys.h"

#include <endpoint.h>
#include <registry.h>
#include <stdbool.h>

enum ledger_role { LEDGER_NONE, LEDGER_PUBLISHER, LEDGER_CHANNEL };

struct ledger {
	struct ledger *next, *previous; /* of all bound ones, for a forked child */
	struct keys *keys;
	struct ez_entry *entry; /* publisher or channel */
	enum ledger_role role;
	uint32_t num_buffers;
	uint8_t id[16], publisher_id[16];
	char *topic; /* PyMem */
	/* publisher: the broadcast in progress */
	uint64_t message_id; /* broadcasts completed, which is the id of the next one */
	uint64_t bytes;
	bool sized;
	uint32_t blocked_depth; /* broadcasts waiting */
	uint32_t slot;		/* place in the table of publishers, see ledger_ref */
};

/* 16 bytes of a UUID object. -1 with an exception set. */
int uuid_bytes(PyObject *uuid, uint8_t ret_bytes[16]);

/* Makes the ledger a publisher's or a channel's. -1 with an exception set. */
int ledger_bind(struct ledger *l, enum ledger_role role, PyObject *id, PyObject *publisher_id,
		const char *topic, const char *handle, const char *task);
/* Ends everything in it. */
void ledger_unbind(struct ledger *l);

/* A connected channel of a publisher. -1 with an exception set. */
int ledger_open_link(struct ledger *l, PyObject *channel_id, uint32_t pid,
		     enum ez_transport transport);
/* A subscriber on a channel; `subscriber` is its SubscriberState. */
int ledger_open_client(struct ledger *l, PyObject *subscriber_id, PyObject *subscriber);
/* The holder leaves the registry. Its leases must have been freed. */
void ledger_close_key(struct ledger *l, int32_t key);

/* Entry of a holder; NULL: it has none. */
static inline struct ez_entry *ledger_entry(const struct ledger *l, int32_t key)
{
	return key < 0 ? NULL : l->keys->table[key].entry;
}

/*
 * The broadcast that a thread is in. Kept by number, not by pointer: the publisher may go away in
 * the middle of it.
 */
void ledger_enter(const struct ledger *l);
struct ledger *ledger_current(void);

/* The size of the message in hand; before publish. */
void ledger_size(struct ledger *l, bool sized, uint64_t bytes);
void ledger_publish(struct ledger *l);
/* Its message was being serialised and copied for so long. */
void ledger_serialised(struct ledger *l, uint64_t ns);
void ledger_blocked_begin(struct ledger *l);
void ledger_blocked_end(struct ledger *l);

#endif
