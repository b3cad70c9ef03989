/* SPDX-License-Identifier: MIT */
/*
 * The graph server's whole command parser: what up to four clients send, in pieces, over sockets
 * that nobody else sees. The first byte chooses the dialect; then come pieces of client (1 byte),
 * length (1 byte) and bytes; a length of 0 is the client's end. Whatever came in, the server serves
 * the next client, and nothing of the old ones is left.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>

#include "dispatch.h"
#include "hash.h"
#include "settings.h"

#define CLIENTS 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ezprof_server server;
static bool running;

/* Its list of segments goes with it. */
static void clean_up(void)
{
	if (running)
		ezprof_server_free(&server);
}

static void begin(uint8_t dialect)
{
	static bool registered;
	struct ezprof_config config = {
		.address = {.host = "127.0.0.1", .port = 0},
		.version = "3.9.0",
		.profile_deadline_ms = 1000,
		.update_timeout_ms = 1000,
		.request_timeout_ms = 1000,
		.peer_timeout_s = 120,
		.clients_max = 16,
		.edges_max = 64,
		.string_bytes_max = 4096,
		.payload_bytes_max = 65536,
		.pending_bytes_max = 1 << 20,
		.segment_bytes_max = 65536,
	};

	if (!running && ezprof_server_init(&server, &config))
		abort();
	running = true;
	if (!registered)
		atexit(clean_up);
	registered = true;
	server.config.dialect = (enum ezprof_dialect)(dialect % 3);
}

static void turn(void)
{
	for (int i = 0; i < 4 && !server.stopping; i++)
		event_base_loop(server.base, EVLOOP_NONBLOCK);
}

static void send_piece(int *fds, uint8_t client, const uint8_t *data, size_t len)
{
	char waste[65536];
	int *fd = &fds[client % CLIENTS];

	if (*fd < 0) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
			return;
		ezprof_dispatch_new_client(&server, pair[0], NULL);
		*fd = pair[1];
	}
	if (len == 0) {
		close(*fd);
		*fd = -1;
	} else if (send(*fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		/* It was refused. */
	}
	turn();
	for (int i = 0; i < CLIENTS; i++)
		while (fds[i] >= 0 && recv(fds[i], waste, sizeof(waste), MSG_DONTWAIT) > 0)
			;
}

static void end(int *fds)
{
	for (int i = 0; i < CLIENTS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	turn();
	while (server.conns)
		ezprof_conn_close(server.conns);
	if (server.publishers || server.channels || server.sessions || server.processes ||
	    server.units || server.settings || server.graph.n_edges > 64)
		abort();
	/* Edges of nobody stay, as they should; the next input begins without them. */
	if (server.stopping || server.graph.n_edges) {
		ezprof_server_free(&server);
		running = false;
		return;
	}
	ezprof_event_log_clear(&server.settings_log);
	ezprof_event_log_clear(&server.topology_log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fds[CLIENTS] = {-1, -1, -1, -1};
	size_t pos = 1;

	if (size < 1)
		return 0;
	begin(data[0]);
	while (pos + 2 <= size && !server.stopping) {
		size_t len = data[pos + 1];

		if (len > size - pos - 2)
			len = size - pos - 2;
		send_piece(fds, data[pos], data + pos + 2, len);
		pos += 2 + len;
	}
	end(fds);
	return 0;
}
