/* SPDX-License-Identifier: MIT */
#include "peer_identity.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fork_guard.h"

/* The kernel's fixed inode number of the initial pid namespace. */
#define INITIAL_PID_NAMESPACE 4026531836u
#define TCP_LISTEN 10

static bool in_initial_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == INITIAL_PID_NAMESPACE;
}

/* The inode of the socket that listens on an IPv4 port of this network namespace; 0 = none. */
static uint64_t listener_inode(unsigned int port)
{
	FILE *table = fopen("/proc/self/net/tcp", "re");
	unsigned long long inode;
	unsigned int local_port, state;
	uint64_t found = 0;
	char line[512];

	if (!table)
		return 0;
	while (!found && fgets(line, sizeof(line), table))
		if (sscanf(line,
			   " %*u: %*8x:%4x %*8x:%*4x %2x %*8x:%*8x %*2x:%*8x %*8x %*d %*d %llu",
			   &local_port, &state, &inode) == 3 &&
		    local_port == port && state == TCP_LISTEN)
			found = inode;
	fclose(table);
	return found;
}

static bool folder_has_socket(const char *fd_folder, const char *socket_name)
{
	DIR *folder = opendir(fd_folder);
	struct dirent *entry;
	bool found = false;
	char target[64];
	ssize_t n;

	if (!folder)
		return false;
	while (!found && (entry = readdir(folder))) {
		n = readlinkat(dirfd(folder), entry->d_name, target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = '\0';
		found = strcmp(target, socket_name) == 0;
	}
	closedir(folder);
	return found;
}

static bool shares_our_namespace(const char *pid)
{
	struct stat ours, theirs;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.16s/ns/pid", pid);
	return stat("/proc/self/ns/pid", &ours) == 0 && stat(path, &theirs) == 0 &&
	       ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

/* Does a process of our pid namespace own that socket? */
static bool owner_is_here(uint64_t inode)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool found = false;
	char name[64], path[64];

	if (!proc)
		return false;
	snprintf(name, sizeof(name), "socket:[%ju]", (uintmax_t)inode);
	while (!found && (entry = readdir(proc))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/fd", entry->d_name);
		found = folder_has_socket(path, name) && shares_our_namespace(entry->d_name);
	}
	closedir(proc);
	return found;
}

/* The port that a socket of ours listens at; 0 = it doesn't. */
static in_port_t listening_port(int fd)
{
	struct sockaddr_storage address = {0};
	socklen_t bytes = sizeof(address), int_bytes = sizeof(int);
	struct sockaddr_in v4;
	int listens = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &int_bytes) < 0 || !listens ||
	    getsockname(fd, (struct sockaddr *)&address, &bytes) < 0)
		return 0;
	/* The port's place is the same in both families. */
	memcpy(&v4, &address, sizeof(v4));
	return v4.sin_port;
}

/* Does something else in this process listen there: ezmsg in Python? */
static bool stranger_listens_here(in_port_t port)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	bool found = false;

	if (!folder)
		return false;
	while (!found && (entry = readdir(folder))) {
		int fd = atoi(entry->d_name);

		found = isdigit((unsigned char)entry->d_name[0]) && listening_port(fd) == port &&
			!ez_owns_fd(fd);
	}
	closedir(folder);
	return found;
}

bool ez_peer_pid_is_clear(const struct ez_stream *peer)
{
	struct sockaddr_storage address = {0};
	socklen_t len = sizeof(address);
	struct sockaddr_in v4;
	uint64_t inode;

	if (getpeername(peer->source.fd, (struct sockaddr *)&address, &len) < 0)
		return false;
	memcpy(&v4, &address, sizeof(v4));
	if (stranger_listens_here(v4.sin_port))
		return false;
	if (in_initial_namespace())
		return true;
	if (address.ss_family != AF_INET)
		return false;
	inode = listener_inode(ntohs(v4.sin_port));
	return inode && owner_is_here(inode);
}
