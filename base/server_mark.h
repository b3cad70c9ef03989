/* SPDX-License-Identifier: MIT */
/*
 * The mark that our graph server leaves on its machine: a file "server-<port>" (followed by
 * "-<netns>" where a server of another network has that name already) with the line
 * "pid=<pid> start=<field 22 of /proc/pid/stat> netns=<inode of /proc/self/ns/net>". Programs of
 * this project know by it, without a byte of traffic, that the server on a loopback port is ours
 * and may be asked for more than a Python one. It lies in the first of /run/ezprof (root),
 * /run/user/UID/ezprof and /tmp/ezprof-UID that the server can use. A mark counts only if a trusted
 * user owns it, the process still lives (same start time) and its network is the reader's.
 */
#ifndef EZ_SERVER_MARK_H
#define EZ_SERVER_MARK_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ez_server_mark {
	uint16_t port;
	pid_t pid;
	uid_t owner;
};

/* A mark of ours. Zeroed = none. */
struct ez_server_mark_file {
	char *path;
	int lock_fd; /* its lock tells other servers that we live */
};

/*
 * Opens the folder that marks (and what else a server leaves) are written to, made if need be, and
 * copies its name. A descriptor, or negative errno if no folder can be used; the last one's reason.
 */
int ez_server_folder_open(char ret_path[PATH_MAX]);

/*
 * Writes our own mark (whole or not at all), after removing those that dead servers of this user
 * left in the folder. Negative errno if that can't be done. End it with ez_server_mark_remove().
 */
int ez_server_mark_write(uint16_t port, struct ez_server_mark_file *ret_file);

/* Removes our mark, if there is one. Leaves one alone that another process wrote since. */
void ez_server_mark_remove(struct ez_server_mark_file *file);

/*
 * 1 if a valid mark names this port, 0 if none does, negative errno if that could not be found out.
 * Trusted are root, the own user, SUDO_UID where root asks, and the n further uids (may be NULL,
 * 0).
 */
int ez_server_mark_find(uint16_t port, const uid_t *uids, size_t n);

/* All valid marks, up to max, one per port. Returns how many were written to marks. */
int ez_server_mark_list(const uid_t *uids, size_t n, struct ez_server_mark *marks, size_t max);

#endif
