/* SPDX-License-Identifier: MIT */
#include "server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <event2/event.h>
#include <uuid/uuid.h>

#include "clock.h"
#include "conn.h"
#include "departure.h"
#include "dispatch.h"
#include "fd.h"
#include "peer.h"
#include "settings.h"
#include "shm_store.h"

#define BACKLOG 1024
#define ACCEPTS_PER_TURN_MAX 64
#define ACCEPT_PAUSE_MS 100
#define ACCEPT_LOG_NS (5 * EZ_NS_PER_S)

/* Ticks of 100 ns between 1582-10-15, where version 1 ids begin, and 1970. */
#define UUID_EPOCH_TICKS UINT64_C(0x01b21dd213814000)

/*
 * libuuid locks and writes a file for each id. So it makes the first one, with a clock sequence
 * that no other process of this machine has, and the others are that one at later times.
 */
void ezprof_server_new_id(char out[37])
{
	static uuid_t id;
	static uint64_t last_ticks;
	uint64_t ticks = ez_clock_read_ns(CLOCK_REALTIME) / 100 + UUID_EPOCH_TICKS;

	if (!last_ticks)
		uuid_generate_time(id);
	last_ticks = ticks > last_ticks ? ticks : last_ticks + 1;
	for (int i = 0; i < 4; i++)
		id[i] = (uint8_t)(last_ticks >> (24 - 8 * i));
	for (int i = 0; i < 2; i++)
		id[4 + i] = (uint8_t)(last_ticks >> (40 - 8 * i));
	id[6] = (uint8_t)(0x10 | (last_ticks >> 56 & 0x0f));
	id[7] = (uint8_t)(last_ticks >> 48);
	uuid_unparse_lower(id, out);
}

/* Lines about accepting come at most every few seconds, however many clients wait. */
static void complain_about_accept(struct ezprof_server *server, const char *text)
{
	uint64_t held_back;

	if (ez_log_limited(&server->accept_log, ACCEPT_LOG_NS, &held_back))
		ez_log(EZ_LOG_WARN, "%s (%llu more times since the last line like this)", text,
		       (unsigned long long)held_back);
}

/*
 * Out of descriptors: the waiting client would make the loop spin, so leave it in the backlog for a
 * while.
 */
static void pause_accepting(struct ezprof_server *server, int err)
{
	struct timeval pause = {.tv_usec = ACCEPT_PAUSE_MS * 1000};
	char text[96];

	snprintf(text, sizeof(text), "can't accept a client: %s", strerror(-err));
	complain_about_accept(server, text);
	for (int i = 0; i < server->n_listeners; i++)
		event_del(server->accepting[i]);
	event_add(server->accept_again, &pause);
}

static void accept_again(evutil_socket_t fd, short what, void *arg)
{
	struct ezprof_server *server = arg;

	(void)fd;
	(void)what;
	for (int i = 0; i < server->n_listeners && !server->stopping; i++)
		event_add(server->accepting[i], NULL);
}

/* The client ended before we came to it; nothing is wrong with us. */
static bool is_clients_fault(int err)
{
	return err == -ECONNABORTED || err == -EINTR || err == -EPROTO || err == -EPERM;
}

/*
 * The kernel makes a socket before it finds that nobody waits. So clients that come one by one are
 * accepted one by one, and a crowd in growing numbers.
 */
static void accept_clients(evutil_socket_t fd, short what, void *arg)
{
	struct ezprof_server *server = arg;

	(void)what;
	for (int i = 0, n = server->accepts_per_turn; i < n; i++) {
		union ezprof_socket_address peer = {.any.sa_family = AF_UNSPEC};
		socklen_t len = sizeof(peer);
		int client = accept4(fd, &peer.any, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (client < 0)
			client = -errno;
		if (client == -EAGAIN) {
			server->accepts_per_turn = 1;
			return;
		}
		if (client < 0 && is_clients_fault(client))
			continue;
		if (client < 0) {
			pause_accepting(server, client);
			return;
		}
		if (server->n_conns >= server->config.clients_max) {
			complain_about_accept(server,
					      "refused a client: the limit of clients is reached");
			ez_fd_close(client);
			continue;
		}
		ezprof_dispatch_new_client(server, client, &peer);
	}
	if (server->accepts_per_turn < ACCEPTS_PER_TURN_MAX)
		server->accepts_per_turn *= 2;
}

static void reap(evutil_socket_t fd, short what, void *arg)
{
	struct ezprof_server *server = arg;
	struct ezprof_conn *conn, *next;

	(void)fd;
	(void)what;
	DL_FOREACH_SAFE(server->dead, conn, next)
	{
		DL_DELETE(server->dead, conn);
		ezprof_conn_free(conn);
	}
}

static int start_accepting(struct ezprof_server *server, int i)
{
	int err = ez_fd_nonblock(server->listen_fds[i], true);

	if (err)
		return err;
	/* Inherited by what is accepted: no call for each of these then. */
	ez_fd_nodelay(server->listen_fds[i]);
	ez_fd_peer_timeout(server->listen_fds[i], (int)server->config.peer_timeout_s);
	server->accepting[i] = event_new(server->base, server->listen_fds[i], EV_READ | EV_PERSIST,
					 accept_clients, server);
	if (!server->accepting[i] || event_add(server->accepting[i], NULL) < 0)
		return -ENOMEM;
	return 0;
}

int ezprof_server_init(struct ezprof_server *server, const struct ezprof_config *config)
{
	int n, err = 0;

	memset(server, 0, sizeof(*server));
	server->config = *config;
	server->next_owner = EZPROF_OWNER_NOBODY + 1;
	n = ez_fd_listen_all(config->address.host, config->address.port, BACKLOG,
			     server->listen_fds, EZPROF_LISTENERS_MAX, &server->port);
	if (n < 0)
		return n;
	server->n_listeners = n;
	server->base = event_base_new();
	server->shm = ezprof_shm_store_new();
	server->scratch = malloc(EZPROF_SCRATCH_BYTES);
	server->accepts_per_turn = 1;
	if (!server->base || !server->shm || !server->scratch) {
		err = -ENOMEM;
		goto fail;
	}
	server->accept_again = event_new(server->base, -1, 0, accept_again, server);
	server->reaper = event_new(server->base, -1, 0, reap, server);
	if (!server->accept_again || !server->reaper)
		err = -ENOMEM;
	for (int i = 0; i < n && !err; i++)
		err = start_accepting(server, i);
	if (!err)
		return 0;
fail:
	ezprof_server_free(server);
	return err;
}

int ezprof_server_run(struct ezprof_server *server)
{
	return event_base_dispatch(server->base) < 0 ? -EIO : 0;
}

void ezprof_server_stop(struct ezprof_server *server)
{
	server->stopping = true;
	event_base_loopbreak(server->base);
}

static void event_free_if(struct event *event)
{
	if (event)
		event_free(event);
}

void ezprof_server_free(struct ezprof_server *server)
{
	server->stopping = true;
	while (server->conns)
		ezprof_conn_close(server->conns);
	if (server->reaper)
		reap(-1, 0, server);
	ezprof_departures_drop(server);
	ezprof_shm_store_free(server->shm);
	ezprof_settings_clear(server);
	ezprof_event_log_clear(&server->settings_log);
	ezprof_event_log_clear(&server->topology_log);
	ezprof_graph_clear(&server->graph);
	for (int i = 0; i < server->n_listeners; i++)
		event_free_if(server->accepting[i]);
	event_free_if(server->accept_again);
	event_free_if(server->reaper);
	free(server->scratch);
	if (server->base)
		event_base_free(server->base);
	while (server->n_listeners > 0)
		ez_fd_close(server->listen_fds[--server->n_listeners]);
}
