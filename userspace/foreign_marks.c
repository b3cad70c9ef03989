/* SPDX-License-Identifier: MIT */
#include "foreign_marks.h"
#include "parse.h"
#include "proc_process.h"
#include "trusted_users.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define USERS_MAX 32u
/* Anybody can fill /tmp. */
#define ENTRIES_MAX 65536u

struct users {
	uid_t uids[USERS_MAX];
	size_t n;
};

static void add_user(struct users *users, uid_t uid)
{
	if (ezprof_user_is_trusted(uid) || users->n == USERS_MAX)
		return;
	for (size_t i = 0; i < users->n; i++) {
		if (users->uids[i] == uid)
			return;
	}
	users->uids[users->n++] = uid;
}

/* Of entries named prefix and number: a user has a folder for marks there. */
static void add_users_of(struct users *users, const char *path, const char *prefix)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	uint64_t uid;

	if (!folder)
		return;
	for (unsigned int i = 0; i < ENTRIES_MAX && (entry = readdir(folder)); i++) {
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
		    ez_parse_u64_range(entry->d_name + strlen(prefix), 1, UINT32_MAX - 1, &uid) ==
			    0)
			add_user(users, (uid_t)uid);
	}
	closedir(folder);
}

/* It names a process: one of its owner's, or anybody could make a server of anything. */
static bool is_of_owner(const struct ez_server_mark *mark)
{
	struct ezprof_proc_info info;
	int dir, err = ezprof_proc_open(mark->pid, &dir);

	if (err)
		return false;
	err = ezprof_proc_info(dir, &info);
	close(dir);
	return !err && info.uid == mark->owner;
}

size_t ezprof_foreign_marks(struct ez_server_mark *ret_marks, size_t max)
{
	struct users users = {.n = 0};
	size_t kept = 0;
	int i, n;

	add_users_of(&users, "/run/user", "");
	add_users_of(&users, "/tmp", "ezprof-");
	if (!users.n)
		return 0;
	n = ez_server_mark_list(users.uids, users.n, ret_marks, max);
	for (i = 0; i < n; i++) {
		if (!ezprof_user_is_trusted(ret_marks[i].owner) && is_of_owner(&ret_marks[i]))
			ret_marks[kept++] = ret_marks[i];
	}
	return kept;
}
