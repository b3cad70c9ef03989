/* SPDX-License-Identifier: MIT */
/* Interned strings and the few objects of asyncio and ezmsg that the types need. */
#ifndef EZPY_NAMES_H
#define EZPY_NAMES_H

#include "pyinc.h"

/* clang-format off */
#define NAMES_LIST(X) \
	X(set, "set") X(clear, "clear") X(wait, "wait") X(items, "items") \
	X(put_nowait, "put_nowait") X(put_local, "put_local") X(lease, "lease") \
	X(backpressure, "backpressure") X(clients, "clients") X(pub_id, "pub_id") \
	X(num_buffers, "num_buffers") X(cache, "cache") X(id, "id") \
	X(local_backpressure, "_local_backpressure") X(channel_kind, "_channel_kind") \
	X(set_channel_kind, "_set_channel_kind") X(notify_clients, "_notify_clients") \
	X(release_backpressure, "_release_backpressure") X(nbytes, "nbytes") \
	X(dataclass_fields, "__dataclass_fields__") X(dump, "dump") X(wire, "wire") \
	X(release, "release") X(send, "send") X(throw_, "throw") X(close, "close") \
	X(bytes_, "bytes") X(write, "write") X(drain, "drain") X(ledger, "_ezprof") \
	X(enter, "__enter__") X(exit, "__exit__")
/* clang-format on */

struct names {
#define NAMES_FIELD(name, text) PyObject *name;
	NAMES_LIST(NAMES_FIELD)
#undef NAMES_FIELD
	PyObject *asyncio_event;	/* asyncio.Event */
	PyObject *asyncio_current_task; /* asyncio.current_task */
};

extern struct names names;

/* Once, at import. -1 with an exception set. */
int names_init(void);

#endif
