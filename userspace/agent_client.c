/* SPDX-License-Identifier: MIT */
#include "agent_client.h"
#include "agent_socket.h"
#include "command.h"
#include "fd.h"
#include "frame.h"
#include "greeting.h"
#include "hello_json.h"
#include "parse.h"
#include "request.h"
#include "trusted_users.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PROGRAM "ezprof"
#define HELLO_BYTES_MAX 65536u
/* One that is stopped must not keep the others from being found, one that is slow is asked again.
 */
#define LOOK_MS 500

/* Whose agents are believed: the kernel says who listens. */
static bool listener_is_trusted(int fd, pid_t *ret_pid)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes))
		return false;
	*ret_pid = peer.pid;
	return ezprof_user_is_trusted(peer.uid);
}

static int connect_to(const char *path, pid_t *ret_pid)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, err = 0;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		err = -errno;
	else if (!listener_is_trusted(fd, ret_pid))
		err = -EPERM;
	if (!err)
		return fd;
	ez_fd_close(fd);
	return err;
}

/* Connects and says HELLO; ret_answer is the agent's. */
static int open_link(const char *path, const char *graph, ez_mono_ns_t deadline_ns, pid_t *ret_pid,
		     char **ret_answer)
{
	char *hello = ezprof_hello_client(PROGRAM, graph);
	struct ez_buffer request;
	uint8_t command;
	size_t n;
	int fd, err;

	if (!hello)
		return -ENOMEM;
	fd = connect_to(path, ret_pid);
	if (fd < 0) {
		free(hello);
		return fd;
	}
	ez_buffer_init(&request, HELLO_BYTES_MAX);
	ez_put_u8(&request, EZ_CMD_HELLO);
	ez_put_text(&request, hello);
	err = ez_link_send(fd, &request, deadline_ns);
	if (!err)
		err = ez_link_read_u8(fd, deadline_ns, &command);
	if (!err && command != EZ_CMD_HELLO)
		err = -EPROTO;
	if (!err)
		err = ez_link_read_str(fd, HELLO_BYTES_MAX, deadline_ns, ret_answer, &n);
	ez_buffer_free(&request);
	free(hello);
	if (!err)
		return fd;
	ez_fd_close(fd);
	return err;
}

static int look_at(const char *path, ez_mono_ns_t deadline_ns, struct ezprof_agent_found *ret_agent)
{
	char *answer;
	int found, fd;

	fd = open_link(path, NULL, deadline_ns, &ret_agent->pid, &answer);
	if (fd < 0)
		return fd;
	ez_fd_close(fd);
	found = ezprof_hello_graphs(answer, ret_agent->graphs[0], EZPROF_AGENT_GRAPH_BYTES,
				    EZPROF_AGENT_GRAPHS_MAX);
	free(answer);
	if (found < 0)
		return found;
	ret_agent->graph_count = (size_t)found;
	strcpy(ret_agent->path, path);
	return 0;
}

struct search {
	struct ezprof_agent_found *agents;
	size_t max, n;
	ez_mono_ns_t end_ns;
	int each_ms; /* negative: no limit of its own */
	bool late;   /* somebody is there who took longer */
};

static bool is_twice(const struct ezprof_agent_found *agents, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (agents[i].pid == agents[n].pid)
			return true;
	}
	return false;
}

static void search_path(struct search *s, const char *path)
{
	ez_mono_ns_t each_ns = ez_clock_deadline_ns(s->each_ms);
	int err = look_at(path, each_ns < s->end_ns ? each_ns : s->end_ns, &s->agents[s->n]);

	if (err == -ETIMEDOUT)
		s->late = true;
	/* Two of the folders may be one. */
	if (!err && !is_twice(s->agents, s->n))
		s->n++;
}

static void search_folder(struct search *s, const char *folder_path)
{
	DIR *folder = *folder_path ? opendir(folder_path) : NULL;
	struct dirent *entry;
	char path[sizeof(s->agents->path)];

	if (!folder)
		return;
	while (s->n < s->max && (entry = readdir(folder))) {
		if (strncmp(entry->d_name, EZPROF_AGENT_SOCKET_PREFIX,
			    strlen(EZPROF_AGENT_SOCKET_PREFIX)) != 0)
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", folder_path, entry->d_name) <
		    (int)sizeof(path))
			search_path(s, path);
	}
	closedir(folder);
}

static void search_all(struct search *s)
{
	char folder[EZPROF_SOCKET_FOLDER_BYTES];
	uid_t users[EZPROF_TRUSTED_USERS_MAX];
	size_t i, user_count = ezprof_trusted_users(users);
	unsigned int place;

	for (i = 0; i < user_count; i++) {
		for (place = 0; ezprof_agent_socket_folder(users[i], place, folder) == 0; place++)
			search_folder(s, folder);
	}
}

size_t ezprof_agent_find(struct ezprof_agent_found *ret_agents, size_t max,
			 ez_mono_ns_t deadline_ns)
{
	struct search search = {
		.agents = ret_agents, .max = max, .end_ns = deadline_ns, .each_ms = LOOK_MS};

	search_all(&search);
	if (search.late) {
		search.each_ms = -1; /* all the time there is */
		search_all(&search);
	}
	return search.n;
}

/* Sends the request and frees it; a link from which the body of that answer comes, or an error. */
static int open_answer(const struct ezprof_agent_found *agent, const char *graph,
		       struct ez_buffer *request, uint8_t wanted, ez_mono_ns_t deadline_ns)
{
	uint8_t command;
	char *answer;
	pid_t pid;
	int err, fd = open_link(agent->path, graph, deadline_ns, &pid, &answer);

	if (fd < 0) {
		ez_buffer_free(request);
		return fd;
	}
	free(answer);
	err = ez_link_send(fd, request, deadline_ns);
	ez_buffer_free(request);
	if (!err)
		err = ez_link_read_u8(fd, deadline_ns, &command);
	if (!err && command != wanted)
		err = -EPROTO;
	if (!err)
		return fd;
	ez_fd_close(fd);
	return err;
}

int ezprof_agent_ask(const struct ezprof_agent_found *agent, const char *graph, uint64_t window_ms,
		     ez_mono_ns_t deadline_ns, char **ret_json, size_t *ret_len)
{
	struct ez_buffer request;
	int err, fd;

	ez_buffer_init(&request, 64);
	ez_request_profile(&request, window_ms);
	fd = open_answer(agent, graph, &request, EZ_CMD_PROFILE_DATA, deadline_ns);
	if (fd < 0)
		return fd;
	err = ez_link_read_str(fd, EZ_PROFILE_BYTES_MAX, deadline_ns, ret_json, ret_len);
	ez_fd_close(fd);
	return err;
}

int ezprof_agent_record(const struct ezprof_agent_found *agent, const char *graph, uint32_t flags,
			ez_mono_ns_t deadline_ns)
{
	struct ez_buffer request;

	ez_buffer_init(&request, 64);
	ez_put_u8(&request, EZ_CMD_RECORD);
	ez_put_u64(&request, flags);
	return open_answer(agent, graph, &request, EZ_CMD_RECORD, deadline_ns);
}
