/* SPDX-License-Identifier: MIT */
/*
 * The agent's unix socket: profiles without a graph server. Who asks is told by the kernel: root
 * and the agent's owner see every process, others only those of their own user. Event loop's
 * thread, but for ezprof_agent_socket_open().
 */
#ifndef EZPROF_AGENT_SOCKET_H
#define EZPROF_AGENT_SOCKET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bufferevent;
struct event_base;
struct ezprof_agent_socket;

#define EZPROF_AGENT_SOCKET_PREFIX "agent-"
#define EZPROF_AGENT_SOCKET_SUFFIX ".sock"
#define EZPROF_SOCKET_FOLDER_BYTES 96

/* The i-th folder where agents of this user have their sockets, preferred first. -ENOENT: no more.
 */
int ezprof_agent_socket_folder(uid_t uid, unsigned int i,
			       char ret_folder[EZPROF_SOCKET_FOLDER_BYTES]);

/*
 * Makes the socket agent-<pid>.sock while the rights to do so are still there, and makes its folder
 * over to `uid`, as which the agent will go on, so that it can remove it. Sockets of agents that
 * are gone are removed. ret_path is owned by the caller. Errors: those of the folder tried last.
 */
int ezprof_agent_socket_open(uid_t uid, gid_t gid, int *ret_fd, char **ret_path);

/* What a client may ask for. Both: a new JSON text, or NULL. */
struct ezprof_agent_socket_handler {
	/* graph: "" = any. viewer: EZPROF_VIEWER_ALL or the user. */
	char *(*profile)(void *context, uint64_t window_ms, uid_t viewer, const char *graph);
	char *(*hello)(void *context, uid_t viewer);
	/* Takes the connection over; see ezprof_span_feed_add(). */
	void (*record)(void *context, struct bufferevent *events, uid_t viewer, const char *graph,
		       uint32_t flags);
	void *context;
};

/* Serves the socket; takes fd and path over in any case. owner: sees everything, like root. */
int ezprof_agent_socket_new(struct event_base *base, int fd, char *path, uid_t owner,
			    const struct ezprof_agent_socket_handler *handler,
			    struct ezprof_agent_socket **ret_socket);

const char *ezprof_agent_socket_path(const struct ezprof_agent_socket *socket);

/* Closes all clients and removes the socket. NULL is fine. */
void ezprof_agent_socket_free(struct ezprof_agent_socket *socket);

#endif
