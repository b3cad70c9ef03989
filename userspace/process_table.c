/* SPDX-License-Identifier: MIT */
#include "process_table.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STAT_BYTES 1024
/* Generations that are found in one look, where children have smaller pids than their parents. */
#define PASSES_MAX 16

bool ezprof_stat_parse(const char *text, struct ezprof_candidate *ret_candidate)
{
	/* "pid (comm) state ...": comm may hold anything, so the last parenthesis counts. */
	const char *end = strrchr(text, ')');
	struct ezprof_candidate c = {0};
	char state;

	if (!end || sscanf(text, "%d", &c.pid) != 1)
		return false;
	/* State and parent, fields 3 and 4; start time and size, fields 22 and 23. */
	if (sscanf(end + 1,
		   " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
		   " %" SCNu64 " %" SCNu64,
		   &state, &c.parent, &c.start_time, &c.size_bytes) != 4)
		return false;
	*ret_candidate = c;
	return true;
}

static bool read_stat(pid_t pid, struct ezprof_candidate *ret_candidate)
{
	char path[32], text[STAT_BYTES];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return ezprof_stat_parse(text, ret_candidate);
}

/* Where the pid is, or would be. */
static size_t place_of(const struct ezprof_process_table *t, pid_t pid)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->list[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct ezprof_candidate *find(const struct ezprof_process_table *t, pid_t pid)
{
	size_t i = place_of(t, pid);

	return i < t->count && t->list[i].pid == pid ? &t->list[i] : NULL;
}

static struct ezprof_candidate *insert(struct ezprof_process_table *t, pid_t pid)
{
	size_t i = place_of(t, pid);

	if (t->count == t->room) {
		size_t room = t->room ? 2 * t->room : 64;
		void *grown = reallocarray(t->list, room, sizeof(t->list[0]));

		if (!grown)
			return NULL;
		t->list = grown;
		t->room = room;
	}
	memmove(&t->list[i + 1], &t->list[i], (t->count - i) * sizeof(t->list[0]));
	t->count++;
	memset(&t->list[i], 0, sizeof(t->list[0]));
	return &t->list[i];
}

/* One process as it is now; it may have taken over the pid of another. */
static int look_at(struct ezprof_process_table *t, pid_t pid)
{
	struct ezprof_candidate now, *known;

	if (!read_stat(pid, &now))
		return 0;
	known = find(t, pid);
	if (!known) {
		known = insert(t, pid);
		if (!known)
			return -ENOMEM;
		*known = now;
	} else if (known->start_time != now.start_time) {
		*known = now;
	}
	known->parent = now.parent;
	known->size_bytes = now.size_bytes;
	known->seen = true;
	return 0;
}

static int look_at_all(struct ezprof_process_table *t)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int err = 0;

	if (!proc)
		return -errno;
	while (!err && (entry = readdir(proc))) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			err = look_at(t, (pid_t)strtol(entry->d_name, NULL, 10));
	}
	closedir(proc);
	return err;
}

static void inherit(struct ezprof_process_table *t)
{
	bool changed = true;

	for (int pass = 0; changed && pass < PASSES_MAX; pass++) {
		changed = false;
		for (size_t i = 0; i < t->count; i++) {
			struct ezprof_candidate *c = &t->list[i];
			const struct ezprof_candidate *parent;

			if (c->descendant || c->named)
				continue;
			parent = find(t, c->parent);
			c->descendant = parent && (parent->named || parent->descendant);
			changed = changed || c->descendant;
		}
	}
}

static void drop_gone(struct ezprof_process_table *t)
{
	size_t i, kept = 0;

	for (i = 0; i < t->count; i++) {
		if (t->list[i].seen)
			t->list[kept++] = t->list[i];
	}
	t->count = kept;
}

int ezprof_process_table_look(struct ezprof_process_table *t, bool all)
{
	size_t i;
	int err = 0;

	for (i = 0; i < t->count; i++)
		t->list[i].seen = false;
	if (all)
		err = look_at_all(t);
	for (i = 0; !all && !err && i < t->count; i++)
		err = look_at(t, t->list[i].pid);
	if (err)
		return err;
	inherit(t);
	drop_gone(t);
	return 0;
}

int ezprof_process_table_name(struct ezprof_process_table *t, pid_t pid)
{
	struct ezprof_candidate *known;
	int err = look_at(t, pid);

	if (err)
		return err;
	known = find(t, pid);
	if (!known)
		return -ESRCH;
	known->named = true;
	return 0;
}

void ezprof_process_table_free(struct ezprof_process_table *t)
{
	free(t->list);
	*t = (struct ezprof_process_table){0};
}
