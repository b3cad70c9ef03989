/* SPDX-License-Identifier: MIT */
/*
 * PUBLISH, and the link that it makes: a publisher is there as long as its link. Loop thread only.
 */
#ifndef EZPROF_PUBLISHER_LINK_H
#define EZPROF_PUBLISHER_LINK_H

#include "confirmation.h"
#include "conn.h"
#include "graph.h"
#include "respondent.h"
#include "uuid.h"

struct ezprof_publisher {
	struct ezprof_conn *conn;
	char id[EZ_UUID_TEXT_BYTES];
	struct ezprof_topic *topic;
	bool registered; /* its address is known */
	uint16_t port;
	uint64_t seq; /* order of registration */
	struct ezprof_owed syncs;
	struct ezprof_respondent respondent;
	struct ezprof_confirmation *creating; /* the UPDATEs that come before its COMPLETE */
	struct ezprof_publisher *prev, *next; /* of the server */
	struct ezprof_publisher *topic_prev, *topic_next;
	UT_hash_handle hh; /* by id */
};

int ezprof_publisher_begin(struct ezprof_conn *conn, struct ez_reader *in);

/* NULL if there is no such publisher. */
struct ezprof_publisher *ezprof_publisher_find(const struct ezprof_server *server,
					       struct ez_str id);

/*
 * Where a channel reaches it: the peer's address as the server sees it, and the port that it
 * advertised.
 */
int ezprof_publisher_address(const struct ezprof_publisher *publisher, char out[EZ_ADDRESS_BYTES]);

#endif
