/* SPDX-License-Identifier: MIT */
#include "segment_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fd.h"
#include "log.h"
#include "server_mark.h"

#define FILE_PREFIX "segments-"
#define RECORD_BYTES 64 /* a line, padded: written in one piece, and its place is used again */
#define RECORDS_MAX (1 << 20)
#define NOWHERE SIZE_MAX

struct ezprof_segment_list {
	char path[PATH_MAX];
	int fd;
	uint8_t *used; /* by place */
	size_t n_places;
	size_t free_hint; /* no place below it is free */
};

static void write_record(struct ezprof_segment_list *list, size_t place, const char *text)
{
	char record[RECORD_BYTES + 1];

	snprintf(record, sizeof(record), "%-*s\n", RECORD_BYTES - 1, text);
	if (pwrite(list->fd, record, RECORD_BYTES, (off_t)(place * RECORD_BYTES)) != RECORD_BYTES)
		ez_log(EZ_LOG_WARN, "can't note a segment in %s: %s", list->path, strerror(errno));
}

/* Removes the segment of a record unless its name belongs to another file by now. */
static void remove_left_over(const char *record)
{
	unsigned long long device, inode;
	char path[32], name[13] = "";
	struct stat st;
	int fd;

	if (sscanf(record, "%12s %llu %llu", name, &device, &inode) != 3 ||
	    strncmp(name, "psm_", 4) != 0 || strspn(name + 4, "0123456789abcdef") != 8)
		return;
	snprintf(path, sizeof(path), "/%s", name);
	fd = shm_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_dev == device && st.st_ino == inode &&
	    st.st_uid == geteuid() && shm_unlink(path) == 0)
		ez_log(EZ_LOG_INFO, "removed %s, which a killed server left", name);
	ez_fd_close(fd);
}

static void sweep_file(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char record[RECORD_BYTES + 1];
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0) {
		for (size_t i = 0; i < RECORDS_MAX; i++) {
			if (read(fd, record, RECORD_BYTES) != RECORD_BYTES)
				break;
			record[RECORD_BYTES] = '\0';
			remove_left_over(record);
		}
		unlinkat(dir_fd, name, 0);
	}
	ez_fd_close(fd);
}

static void sweep(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		ez_fd_close(fd);
		return;
	}
	while ((entry = readdir(dir)))
		if (strncmp(entry->d_name, FILE_PREFIX, strlen(FILE_PREFIX)) == 0)
			sweep_file(dir_fd, entry->d_name);
	closedir(dir);
}

/*
 * A name of our own, locked before it is one that a sweeping server would look at. A pid is no
 * name: two servers in two pid namespaces may share the folder.
 */
static int open_file(int dir_fd, char name[NAME_MAX])
{
	char temp[] = ".list-0000000000000000";
	int fd, err = 0;

	for (unsigned int i = 0; i < 100; i++) {
		struct stat st;

		snprintf(temp, sizeof(temp), ".list-%u-%u", (unsigned int)getpid() % 10000000, i);
		fd = openat(dir_fd, temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno == EEXIST)
			continue;
		if (fd < 0)
			return -errno;
		if (fstat(fd, &st) < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
			err = -errno;
		snprintf(name, NAME_MAX, FILE_PREFIX "%ju", (uintmax_t)st.st_ino);
		if (!err && renameat(dir_fd, temp, dir_fd, name) < 0)
			err = -errno;
		if (!err)
			return fd;
		unlinkat(dir_fd, temp, 0);
		ez_fd_close(fd);
		return err;
	}
	return -EEXIST;
}

struct ezprof_segment_list *ezprof_segment_list_new(int *ret_err)
{
	struct ezprof_segment_list *list = calloc(1, sizeof(*list));
	char folder[PATH_MAX], name[NAME_MAX];
	int dir_fd;

	if (!list) {
		*ret_err = -ENOMEM;
		return NULL;
	}
	dir_fd = ez_server_folder_open(folder);
	if (dir_fd >= 0)
		sweep(dir_fd);
	list->fd = dir_fd < 0 ? dir_fd : open_file(dir_fd, name);
	ez_fd_close(dir_fd);
	if (list->fd < 0 || snprintf(list->path, sizeof(list->path), "%s/%s", folder, name) >=
				    (int)sizeof(list->path)) {
		*ret_err = list->fd < 0 ? list->fd : -ENAMETOOLONG;
		ez_fd_close(list->fd);
		free(list);
		return NULL;
	}
	return list;
}

void ezprof_segment_list_free(struct ezprof_segment_list *list)
{
	if (!list)
		return;
	unlink(list->path);
	ez_fd_close(list->fd);
	free(list->used);
	free(list);
}

static size_t take_place(struct ezprof_segment_list *list)
{
	size_t place = list->free_hint;

	while (place < list->n_places && list->used[place])
		place++;
	if (place == list->n_places) {
		size_t n = list->n_places ? 2 * list->n_places : 64;
		uint8_t *used = n > RECORDS_MAX ? NULL : realloc(list->used, n);

		if (!used)
			return NOWHERE;
		memset(used + list->n_places, 0, n - list->n_places);
		list->used = used;
		list->n_places = n;
	}
	list->used[place] = 1;
	list->free_hint = place + 1;
	return place;
}

size_t ezprof_segment_list_add(struct ezprof_segment_list *list, const char *name, int fd)
{
	char text[RECORD_BYTES];
	struct stat st;
	size_t place;

	if (!list || fstat(fd, &st) < 0)
		return NOWHERE;
	place = take_place(list);
	if (place == NOWHERE)
		return NOWHERE;
	snprintf(text, sizeof(text), "%s %llu %llu", name, (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	write_record(list, place, text);
	return place;
}

void ezprof_segment_list_remove(struct ezprof_segment_list *list, size_t place)
{
	if (!list || place == NOWHERE)
		return;
	write_record(list, place, "");
	list->used[place] = 0;
	if (place < list->free_hint)
		list->free_hint = place;
}
