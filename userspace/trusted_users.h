/* SPDX-License-Identifier: MIT */
/*
 * Whose word counts: of an agent on a socket, and of a process on which graph it belongs to. Root,
 * the own user, and the one who called sudo; what others say can at most be shown.
 */
#ifndef EZPROF_TRUSTED_USERS_H
#define EZPROF_TRUSTED_USERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define EZPROF_TRUSTED_USERS_MAX 3u

/* Returns how many were written. Any thread. */
size_t ezprof_trusted_users(uid_t ret_users[EZPROF_TRUSTED_USERS_MAX]);

bool ezprof_user_is_trusted(uid_t uid);

#endif
