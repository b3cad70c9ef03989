/* SPDX-License-Identifier: MIT */
/*
 * PROCESS, and the link that it makes: a process of ezmsg 3.9.0 says which units it runs, what
 * their settings are and what it traced, and answers requests to its units. Loop thread only.
 */
#ifndef EZPROF_PROCESS_LINK_H
#define EZPROF_PROCESS_LINK_H

#include "conn.h"
#include "hash.h"
#include "trace.h"
#include "uuid.h"

/* A unit belongs to one process at most. */
struct ezprof_unit {
	struct ezprof_process *process;
	char *address;
	size_t len;
	uint64_t mark; /* scratch: the update that named it */
	UT_hash_handle hh;
	struct ezprof_unit *prev, *next; /* of the process */
};

struct ezprof_process {
	struct ezprof_conn *conn;
	char id[EZ_UUID_TEXT_BYTES];
	bool is_registered;
	int64_t pid;
	char *host; /* NULL until it registered */
	struct ezprof_unit *units;
	struct ezprof_process_request *requests; /* that it has to answer */
	struct ezprof_trace trace;
	struct ezprof_process *prev, *next; /* of the server */
};

int ezprof_process_begin(struct ezprof_conn *conn, struct ez_reader *in);

bool ezprof_process_owns(const struct ezprof_process *process, struct ez_str unit);

/* NULL if nobody has it. */
struct ezprof_process *ezprof_process_of(const struct ezprof_server *server, struct ez_str unit);

#endif
