/* SPDX-License-Identifier: MIT */
#include "trusted_users.h"
#include "parse.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

size_t ezprof_trusted_users(uid_t ret_users[EZPROF_TRUSTED_USERS_MAX])
{
	const char *sudo = geteuid() == 0 ? getenv("SUDO_UID") : NULL;
	uint64_t uid;
	size_t n = 0;

	ret_users[n++] = 0;
	if (geteuid() != 0)
		ret_users[n++] = geteuid();
	if (sudo && ez_parse_u64_range(sudo, 1, UINT32_MAX - 1, &uid) == 0)
		ret_users[n++] = (uid_t)uid;
	return n;
}

bool ezprof_user_is_trusted(uid_t uid)
{
	uid_t users[EZPROF_TRUSTED_USERS_MAX];
	size_t n = ezprof_trusted_users(users);

	for (size_t i = 0; i < n; i++) {
		if (users[i] == uid)
			return true;
	}
	return false;
}
