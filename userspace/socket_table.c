/* SPDX-License-Identifier: MIT */
#include "socket_table.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATE_ESTABLISHED 1u
#define STATE_LISTEN 10u
#define SEGMENT "/dev/shm/psm_"

bool ezprof_socket_parse(const char *line, struct ezprof_socket *ret_socket)
{
	struct ezprof_socket s = {0};
	unsigned int state;

	if (sscanf(line,
		   " %*u: %32[0-9A-F]:%4" SCNx16 " %32[0-9A-F]:%4" SCNx16
		   " %x %*s %*s %*s %*u %*u %" SCNu64,
		   s.local, &s.local_port, s.remote, &s.remote_port, &state, &s.inode) != 6)
		return false;
	s.listens = state == STATE_LISTEN;
	if (!s.listens && state != STATE_ESTABLISHED)
		return false;
	*ret_socket = s;
	return true;
}

static int add(struct ezprof_socket_table *t, const struct ezprof_socket *socket)
{
	if (t->count == t->room) {
		size_t room = t->room ? 2 * t->room : 64;
		void *grown = reallocarray(t->list, room, sizeof(t->list[0]));

		if (!grown)
			return -ENOMEM;
		t->list = grown;
		t->room = room;
	}
	t->list[t->count++] = *socket;
	return 0;
}

static bool is_wanted(const struct ezprof_socket_table *t, const struct ezprof_socket *s)
{
	for (size_t i = 0; i < t->n_ports; i++) {
		if (s->local_port == t->ports[i] || s->remote_port == t->ports[i])
			return true;
	}
	return false;
}

static int read_file(struct ezprof_socket_table *t, const char *path)
{
	FILE *file = fopen(path, "re");
	struct ezprof_socket socket;
	char line[512];
	int err = 0;

	if (!file)
		return -errno;
	while (!err && fgets(line, sizeof(line), file)) {
		if (ezprof_socket_parse(line, &socket) && is_wanted(t, &socket))
			err = add(t, &socket);
	}
	fclose(file);
	return err;
}

int ezprof_socket_table_read(const uint16_t *ports, size_t n, struct ezprof_socket_table *ret_table)
{
	struct ezprof_socket_table t = {.ports = ports, .n_ports = n};
	int err = read_file(&t, "/proc/net/tcp");
	int err6 = err ? 0 : read_file(&t, "/proc/net/tcp6");

	/* A machine without IPv6 has no such file. */
	if (!err && err6 == -ENOMEM)
		err = err6;
	if (err)
		ezprof_socket_table_free(&t);
	else
		*ret_table = t;
	return err;
}

void ezprof_socket_table_free(struct ezprof_socket_table *table)
{
	free(table->list);
	*table = (struct ezprof_socket_table){0};
}

bool ezprof_socket_table_listens(const struct ezprof_socket_table *t, uint16_t port)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->list[i].listens && t->list[i].local_port == port)
			return true;
	}
	return false;
}

/* The other end is on this machine too. An IPv4 end of an IPv6 socket ends in the same digits. */
static bool is_local(const struct ezprof_socket_table *t, const struct ezprof_socket *s)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct ezprof_socket *o = &t->list[i];

		if (!o->listens && o->local_port == s->remote_port &&
		    o->remote_port == s->local_port &&
		    strcmp(o->local + strlen(o->local) - 8, s->remote + strlen(s->remote) - 8) == 0)
			return true;
	}
	return false;
}

static void note_use(const struct ezprof_socket_table *t, const struct ezprof_socket *s,
		     struct ezprof_socket_use *uses)
{
	for (size_t i = 0; i < t->n_ports; i++) {
		if (s->listens)
			uses[i].listens |= s->local_port == t->ports[i];
		else if (s->remote_port == t->ports[i] && is_local(t, s))
			uses[i].connections++;
	}
}

static void note_inode(const struct ezprof_socket_table *t, uint64_t inode,
		       struct ezprof_socket_use *uses)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->list[i].inode == inode)
			note_use(t, &t->list[i], uses);
	}
}

int ezprof_socket_table_uses(const struct ezprof_socket_table *t, pid_t pid,
			     struct ezprof_socket_use *ret_uses, bool *ret_shares)
{
	bool shares = false;
	struct dirent *entry;
	char path[40], target[64];
	uint64_t inode;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	fds = opendir(path);
	if (!fds)
		return -errno;
	memset(ret_uses, 0, t->n_ports * sizeof(ret_uses[0]));
	while ((entry = readdir(fds))) {
		ssize_t n = readlinkat(dirfd(fds), entry->d_name, target, sizeof(target) - 1);

		if (n <= 0)
			continue;
		target[n] = '\0';
		if (sscanf(target, "socket:[%" SCNu64 "]", &inode) == 1)
			note_inode(t, inode, ret_uses);
		shares = shares || strncmp(target, SEGMENT, strlen(SEGMENT)) == 0;
	}
	closedir(fds);
	*ret_shares = shares;
	return 0;
}
