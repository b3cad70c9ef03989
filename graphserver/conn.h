/* SPDX-License-Identifier: MIT */
/*
 * One connection of the server: bytes in, bytes out, and a role that takes messages from the former
 * and puts answers into the latter. A role may be exchanged when a request turns the connection
 * into a link. A connection that was closed stays valid until the loop comes round, so that no
 * caller up the stack holds a dangling pointer. Loop thread only.
 */
#ifndef EZPROF_CONN_H
#define EZPROF_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "frame.h"
#include "peer.h"
#include "server.h"

/* What a role's receive may return besides errors. */
#define EZPROF_NEED_MORE (-11) /* = -EAGAIN of the frame reader: the message isn't complete yet */
#define EZPROF_NOT_NOW (-16)   /* = -EBUSY: leave the bytes alone until ezprof_conn_pump() */

struct ezprof_role {
	const char *name;
	/*
	 * Takes one message from in. 0 = done with it (what in has moved over is consumed);
	 * EZPROF_NEED_MORE, EZPROF_NOT_NOW, or another negative errno: the connection is closed.
	 */
	int (*receive)(struct ezprof_conn *conn, struct ez_reader *in);
	/* The connection has ended; conn->data is the role's to free. Called once. May be NULL. */
	void (*gone)(struct ezprof_conn *conn);
	/* The peer may shut its side down and still get its answer. */
	bool answers_after_eof;
};

struct ezprof_conn {
	struct ezprof_server *server;
	const struct ezprof_role *role;
	void *data;
	int fd;		  /* -1 = closed */
	bool established; /* a link, which may be idle for ever */
	bool finishing;	  /* only what is in out still goes */
	bool pumping;
	bool at_eof;
	struct ez_buffer in, out;
	size_t out_sent;
	struct event *readable, *writable, *timer;
	struct ezprof_conn *prev, *next;
	struct ezprof_peer peer;
};

/* Takes fd over; address may be NULL. NULL without memory; then fd is closed. */
struct ezprof_conn *ezprof_conn_new(struct ezprof_server *server, int fd,
				    const union ezprof_socket_address *address,
				    const struct ezprof_role *role);

/* Frees a connection that is on the server's dead list. */
void ezprof_conn_free(struct ezprof_conn *conn);

/* "host:port" of the other side, for log lines. */
const char *ezprof_conn_peer(struct ezprof_conn *conn);

bool ezprof_conn_is_open(const struct ezprof_conn *conn);

/* From now on another role reads; the old one's gone isn't called. */
void ezprof_conn_become(struct ezprof_conn *conn, const struct ezprof_role *role, void *data);

/* It is a link now: no time limit but on incomplete messages. */
void ezprof_conn_establish(struct ezprof_conn *conn);

/*
 * What was appended to conn->out shall be sent: by the loop, soon. So a failing send closes the
 * connection from there and never under the feet of a caller that walks over others.
 */
void ezprof_conn_flush(struct ezprof_conn *conn);

/*
 * Sends what is left, then closes; nothing is received any more. The role's gone is called at once.
 */
void ezprof_conn_finish(struct ezprof_conn *conn);

/* Closes at once. Safe to call twice. */
void ezprof_conn_close(struct ezprof_conn *conn);

/* Lets the role look at bytes that it left alone. */
void ezprof_conn_pump(struct ezprof_conn *conn);

/* A line about a peer that misbehaves, at a limited rate. */
void ezprof_conn_complain(struct ezprof_conn *conn, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * A string of the peer for a log line: at most 40 bytes of it, control characters masked by the
 * log.
 */
#define EZPROF_STR_ARGS(str) (int)((str).len < 40 ? (str).len : 40), (str).data

#endif
