/* SPDX-License-Identifier: MIT */
/*
 * SUBSCRIBE, and the link that it makes: the server tells the subscriber, by UPDATE, from which
 * publishers it receives; always the complete list. Loop thread only.
 */
#ifndef EZPROF_SUBSCRIBER_LINK_H
#define EZPROF_SUBSCRIBER_LINK_H

#include "confirmation.h"
#include "conn.h"
#include "graph.h"

struct ezprof_subscriber {
	struct ezprof_conn *conn;
	struct ezprof_topic *topic;
	uint64_t seq;	   /* order of registration */
	uint64_t aware_of; /* the server's changes when it was told last */
	struct ezprof_owed updates;
	struct ezprof_confirmation *creating;  /* its own first UPDATE */
	struct ezprof_subscriber *prev, *next; /* of the topic */
};

int ezprof_subscriber_begin(struct ezprof_conn *conn, struct ez_reader *in);

/* Reads a topic: valid UTF-8 without zero bytes, within the limit. */
int ezprof_read_topic(struct ezprof_conn *conn, struct ez_reader *in, struct ez_str *ret_topic);

/*
 * A set of topics whose subscribers have to be told; each is told once. The struct starts zeroed.
 */
struct ezprof_told {
	struct ezprof_server *server;
	struct ezprof_subscriber **subscribers;
	size_t n, capacity;
	uint64_t unaware_of; /* only subscribers that weren't told since this change; 0 = all */
	bool failed;
};

/* Adds the subscribers downstream of topic (an ezprof_visit_fn). */
void ezprof_told_add(struct ezprof_topic *topic, void *told);

/*
 * Sends an UPDATE to each, in order of registration, and empties the set. confirmation may be NULL.
 */
void ezprof_told_send(struct ezprof_told *told, struct ezprof_confirmation *confirmation);

/* Both in one. */
void ezprof_update_downstream(struct ezprof_server *server, struct ezprof_topic *topic,
			      struct ezprof_confirmation *confirmation);

#endif
