/* SPDX-License-Identifier: MIT */
/*
 * A graph server of its own for each test, on a free port, and processes that take part in the
 * graph on command (runtime_peer.c). Everything is asserted: a test that uses these just calls
 * them.
 */
#ifndef EZ_GRAPH_FIXTURE_H
#define EZ_GRAPH_FIXTURE_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <ezmsg/ezmsg.h>

#define SECOND_NS INT64_C(1000000000)
/* Long enough for a loaded machine; reached only by a test that fails. */
#define PATIENCE_NS (20 * SECOND_NS)

struct graph {
	pid_t server;
	char address[64];
};

/* cmocka's setup and teardown: *state is a struct graph. */
int graph_setup(void **state);
int graph_teardown(void **state);

/* Ends the server now; with SIGTERM, so that it leaves no shared memory behind. */
void graph_end_server(struct graph *graph);

struct peer {
	pid_t pid;
	FILE *to;
	FILE *from;
};

/* Starts a process that joins the graph. */
void peer_start(struct peer *peer, const struct graph *graph);
/* Sends a command, and checks that the answer begins with `expected`. */
void peer_tell(struct peer *peer, const char *expected, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The two halves of it. */
void peer_send(struct peer *peer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void peer_expect(struct peer *peer, const char *expected);
void peer_stop(struct peer *peer);
void peer_kill(struct peer *peer);

/* Receives, checks that it is the n-th message of send_number(), releases. Returns its id. */
uint64_t receive_number(struct ez_subscriber *subscriber, uint64_t n);
void send_number(struct ez_publisher *publisher, uint64_t n);

/* Waits until so many channels are connected. */
void wait_channels(struct ez_publisher *publisher, size_t n);

/* Milliseconds asleep, for what can't be waited for otherwise. */
void nap_ms(unsigned int ms);

#endif
