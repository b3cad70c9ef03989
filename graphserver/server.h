/* SPDX-License-Identifier: MIT */
/*
 * The graph server's state: one event loop, one thread. Every connection has a role (conn.h); what
 * roles share is here. Nothing in here ever waits: whoever has to wait for a peer keeps its state
 * in an object and goes on when the peer's bytes, or a timer, come.
 */
#ifndef EZPROF_SERVER_H
#define EZPROF_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event_log.h"
#include "graph.h"
#include "log.h"
#include "parse.h"

struct event;
struct event_base;
struct ezprof_channel;
struct ezprof_conn;
struct ezprof_control;
struct ezprof_departure;
struct ezprof_process;
struct ezprof_publisher;
struct ezprof_session;
struct ezprof_setting;
struct ezprof_shm_store;
struct ezprof_unit;

/* What byte 15 means without HELLO, and whether links that didn't say so may be asked. */
enum ezprof_dialect {
	EZPROF_DIALECT_AUTO,  /* PROFILE if its 8 bytes follow, SESSION after a silence */
	EZPROF_DIALECT_3_9,   /* SESSION */
	EZPROF_DIALECT_PR206, /* PROFILE; every publisher and channel answers it */
};

struct ezprof_config {
	struct ez_address address;
	const char *version; /* what the greeting says */
	uint64_t profile_deadline_ms;
	uint64_t update_timeout_ms;  /* how long a request waits for a subscriber's confirmation */
	uint64_t departure_delay_ms; /* until subscribers hear that a publisher left */
	uint64_t request_timeout_ms; /* a request must be complete by then */
	uint64_t peer_timeout_s;     /* until a peer whose machine vanished is dropped */
	uint64_t clients_max;
	uint64_t edges_max;
	uint64_t string_bytes_max;  /* topics */
	uint64_t payload_bytes_max; /* pickles and answers of clients */
	uint64_t pending_bytes_max; /* unsent bytes of one connection */
	uint64_t segment_bytes_max;
	enum ezprof_dialect dialect;
};

#define EZPROF_LISTENERS_MAX 8 /* addresses of one name */
#define EZPROF_SCRATCH_BYTES 65536

struct ezprof_server {
	struct ezprof_config config;
	struct event_base *base;
	struct ezprof_graph graph;
	struct ezprof_shm_store *shm;

	int listen_fds[EZPROF_LISTENERS_MAX];
	struct event *accepting[EZPROF_LISTENERS_MAX];
	int n_listeners;
	uint16_t port;		    /* of all of them */
	struct event *accept_again; /* after a pause, when descriptors ran out */
	int accepts_per_turn;
	struct ez_log_limit accept_log;

	struct ezprof_conn *conns; /* all that live */
	struct ezprof_conn *dead;  /* to be freed by the reaper */
	struct event *reaper;
	uint8_t *scratch; /* what one recv brings, until the role has taken it */
	uint64_t n_conns;
	struct ez_log_limit peer_log;

	/* Links by kind, in order of registration. */
	struct ezprof_publisher *publishers;
	struct ezprof_publisher *publishers_by_id;
	struct ezprof_channel *channels;
	struct ezprof_control *agents;
	struct ezprof_session *sessions;
	struct ezprof_departure *departures;
	struct ezprof_process *processes;
	struct ezprof_unit *units; /* who owns which, by address */

	/* What sessions and processes said of their components, and what happened to whom. */
	struct ezprof_setting *settings;
	struct ezprof_event_log settings_log, topology_log;
	uint64_t changes;  /* departures so far */
	uint64_t next_seq; /* of publishers and subscribers */
	uint64_t next_owner;
	bool stopping;
};

/* Listens and sets the loop up. 0 or negative errno; then nothing is left. config is copied. */
int ezprof_server_init(struct ezprof_server *server, const struct ezprof_config *config);

/* Runs until ezprof_server_stop(), which any callback of the loop may call. 0 or negative errno. */
int ezprof_server_run(struct ezprof_server *server);
void ezprof_server_stop(struct ezprof_server *server);

/* Closes everything; all segments are unlinked. */
void ezprof_server_free(struct ezprof_server *server);

/* A fresh version 1 id, as text. */
void ezprof_server_new_id(char out[37]);

#endif
