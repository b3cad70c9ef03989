/* SPDX-License-Identifier: MIT */
/* A user for people's eyes. */
#ifndef EZPROF_USER_NAME_H
#define EZPROF_USER_NAME_H

#include <sys/types.h>

#define EZPROF_USER_NAME_BYTES 64u

/* The name, or the number where none is known or it isn't printable ASCII. Any thread. */
void ezprof_user_name(uid_t uid, char ret_name[EZPROF_USER_NAME_BYTES]);

#endif
