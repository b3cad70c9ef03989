/* SPDX-License-Identifier: MIT */
#include "agent_socket.h"
#include "fd.h"
#include "hello_json.h"
#include "profile_link.h"
#include "snapshot.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>

/* Half of the places are kept for root and the owner. */
#define CLIENTS_MAX 64
#define STRANGERS_MAX 32
#define IDLE_S 600
#define GRAPH_BYTES 128

struct client {
	struct ezprof_agent_socket *socket;
	struct ezprof_profile_link *link; /* NULL: the place is free */
	uid_t viewer;
	char graph[GRAPH_BYTES];
};

struct ezprof_agent_socket {
	int fd;
	char *path;
	uid_t owner;
	struct event *incoming;
	struct event_base *base;
	struct ezprof_agent_socket_handler handler;
	struct client clients[CLIENTS_MAX];
};

static char *on_profile(void *context, uint64_t window_ms)
{
	struct client *client = context;
	const struct ezprof_agent_socket_handler *handler = &client->socket->handler;

	return handler->profile(handler->context, window_ms, client->viewer, client->graph);
}

/* A HELLO may say which graph the client is interested in. */
static char *on_hello(void *context, const char *text, size_t n)
{
	struct client *client = context;
	const struct ezprof_agent_socket_handler *handler = &client->socket->handler;

	ezprof_hello_graph(text, n, client->graph, sizeof(client->graph));
	return handler->hello(handler->context, client->viewer);
}

static void on_record(void *context, struct bufferevent *events, uint32_t flags)
{
	struct client *client = context;
	const struct ezprof_agent_socket_handler *handler = &client->socket->handler;

	client->link = NULL;
	handler->record(handler->context, events, client->viewer, client->graph, flags);
}

static void on_closed(void *context)
{
	((struct client *)context)->link = NULL;
}

static bool is_stranger(const struct client *client)
{
	return client->viewer != EZPROF_VIEWER_ALL;
}

static struct client *free_place(struct ezprof_agent_socket *s, uid_t viewer)
{
	struct client *place = NULL;
	size_t i, strangers = 0;

	for (i = 0; i < CLIENTS_MAX; i++) {
		if (!s->clients[i].link)
			place = &s->clients[i];
		else
			strangers += is_stranger(&s->clients[i]);
	}
	return viewer != EZPROF_VIEWER_ALL && strangers >= STRANGERS_MAX ? NULL : place;
}

static void on_incoming(evutil_socket_t listen_fd, short what, void *context)
{
	struct ezprof_agent_socket *s = context;
	struct ucred peer;
	socklen_t n = sizeof(peer);
	struct client *client;
	struct ezprof_profile_link_handler handler = {.profile = on_profile,
						      .hello = on_hello,
						      .record = on_record,
						      .closed = on_closed,
						      .complete = true};
	int fd = accept4((int)listen_fd, NULL, NULL, SOCK_CLOEXEC);
	uid_t viewer;

	(void)what;
	if (fd < 0)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n)) {
		ez_fd_close(fd);
		return;
	}
	viewer = peer.uid == 0 || peer.uid == s->owner ? EZPROF_VIEWER_ALL : peer.uid;
	client = free_place(s, viewer);
	if (!client) {
		ez_fd_close(fd);
		return;
	}
	*client = (struct client){.socket = s, .viewer = viewer};
	handler.context = client;
	ezprof_profile_link_new(s->base, fd, &handler, IDLE_S, &client->link);
}

int ezprof_agent_socket_new(struct event_base *base, int fd, char *path, uid_t owner,
			    const struct ezprof_agent_socket_handler *handler,
			    struct ezprof_agent_socket **ret_socket)
{
	struct ezprof_agent_socket *s = calloc(1, sizeof(*s));

	if (!s) {
		unlink(path);
		ez_fd_close(fd);
		free(path);
		return -ENOMEM;
	}
	s->fd = fd;
	s->path = path;
	s->owner = owner;
	s->base = base;
	s->handler = *handler;
	s->incoming = event_new(base, fd, EV_READ | EV_PERSIST, on_incoming, s);
	if (!s->incoming || event_add(s->incoming, NULL)) {
		ezprof_agent_socket_free(s);
		return -ENOMEM;
	}
	*ret_socket = s;
	return 0;
}

const char *ezprof_agent_socket_path(const struct ezprof_agent_socket *s)
{
	return s->path;
}

void ezprof_agent_socket_free(struct ezprof_agent_socket *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < CLIENTS_MAX; i++)
		ezprof_profile_link_free(s->clients[i].link);
	if (s->incoming)
		event_free(s->incoming);
	unlink(s->path);
	ez_fd_close(s->fd);
	free(s->path);
	free(s);
}
