/* SPDX-License-Identifier: MIT */
#include "user_name.h"

#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>

#define RECORD_BYTES 4096u

static bool is_plain(const char *name)
{
	const char *c;

	for (c = name; *c > ' ' && *c <= '~'; c++)
		;
	return c > name && !*c;
}

void ezprof_user_name(uid_t uid, char ret_name[EZPROF_USER_NAME_BYTES])
{
	char record[RECORD_BYTES];
	struct passwd user, *found = NULL;

	if (getpwuid_r(uid, &user, record, sizeof(record), &found) == 0 && found &&
	    is_plain(found->pw_name))
		snprintf(ret_name, EZPROF_USER_NAME_BYTES, "%s", found->pw_name);
	else
		snprintf(ret_name, EZPROF_USER_NAME_BYTES, "%u", (unsigned int)uid);
}
