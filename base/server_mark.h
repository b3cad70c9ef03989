/* SPDX-License-Identifier: MIT */
/*
 * The mark that our graph server leaves on its machine: a file "server-<port>" with the line
 * "pid=<pid> start=<field 22 of /proc/pid/stat> netns=<inode of /proc/self/ns/net>". Programs of
 * this project know by it, without a byte of traffic, that the server on a loopback port is ours
 * and may be asked for more than a Python one. It lies in the first of /run/ezprof (root),
 * /run/user/UID/ezprof and /tmp/ezprof-UID that the server can use. A mark counts only if a trusted
 * user owns it, the process still lives (same start time) and its network is the reader's.
 */
#ifndef EZ_SERVER_MARK_H
#define EZ_SERVER_MARK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ez_server_mark {
	uint16_t port;
	pid_t pid;
	uid_t owner;
};

/*
 * Writes our own mark (whole or not at all). ret_path, to be freed by the caller, is its name for
 * ez_server_mark_remove(). Negative errno if no folder can be used; the last one's reason.
 */
int ez_server_mark_write(uint16_t port, char **ret_path);

/*
 * Removes our mark and frees path; NULL is fine. Leaves a mark alone that another process wrote
 * since.
 */
void ez_server_mark_remove(char *path);

/*
 * 1 if a valid mark names this port, 0 if none does, negative errno if that could not be found out.
 * Trusted are root, the own user, SUDO_UID where root asks, and the n further uids (may be NULL,
 * 0).
 */
int ez_server_mark_find(uint16_t port, const uid_t *uids, size_t n);

/* All valid marks, up to max, one per port. Returns how many were written to marks. */
int ez_server_mark_list(const uid_t *uids, size_t n, struct ez_server_mark *marks, size_t max);

#endif
