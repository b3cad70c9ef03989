/* SPDX-License-Identifier: MIT */
/*
 * SESSION, and the link that it makes: edges that belong to one client of ezmsg 3.9.0 and go with
 * it, what it says of its units, and its questions about all of that. Loop thread only.
 */
#ifndef EZPROF_SESSION_LINK_H
#define EZPROF_SESSION_LINK_H

#include "confirmation.h"
#include "conn.h"
#include "settings.h"
#include "uuid.h"

struct ezprof_session {
	struct ezprof_conn *conn;
	char id[EZ_UUID_TEXT_BYTES];
	uint64_t owner;				/* of its edges */
	struct ezprof_confirmation *changing;	/* UPDATEs that its request waits for */
	struct ezprof_process_request *request; /* whose answer it waits for */
	struct ezprof_fragment metadata;	/* GraphMetadata, if it registered one */
	struct ezprof_component *components;	/* of that */
	struct ezprof_session *prev, *next;	/* of the server */
};

/* The command byte was read. 0 or -ENOMEM. */
int ezprof_session_begin(struct ezprof_conn *conn);

#endif
