/* SPDX-License-Identifier: MIT */
/* Reads and takes apart /proc/PID/maps; see proc_maps.h. */
#include "proc_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES_MAX (64u << 20)
#define CHUNK 65536u

int ezprof_proc_maps_read(int maps_fd, struct ezprof_proc_maps *ret_maps)
{
	char *text = NULL, *more;
	size_t bytes = 0;
	ssize_t n;
	int err = 0;

	for (;;) {
		more = bytes <= BYTES_MAX ? realloc(text, bytes + CHUNK + 1) : NULL;
		if (!more) {
			err = bytes <= BYTES_MAX ? -ENOMEM : -E2BIG;
			break;
		}
		text = more;
		n = pread(maps_fd, text + bytes, CHUNK, (off_t)bytes);
		if (n <= 0) {
			err = n < 0 ? -errno : 0;
			break;
		}
		bytes += (size_t)n;
	}
	if (!err && !bytes)
		err = -ESRCH;
	if (err) {
		free(text);
		return err;
	}
	text[bytes] = '\0';
	ret_maps->text = text;
	ret_maps->at = text;
	return 0;
}

static bool parse(char *line, struct ezprof_proc_map *map)
{
	char rights[5] = "";
	unsigned int major, minor;
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &map->start, &map->end, rights, &map->offset, &major, &minor, &map->inode,
		   &path) < 7)
		return false;
	map->device = (uint64_t)major << 32 | minor;
	map->executable = rights[2] == 'x';
	map->path = line + path;
	return true;
}

bool ezprof_proc_maps_next(struct ezprof_proc_maps *maps, struct ezprof_proc_map *ret_map)
{
	struct ezprof_proc_map map = {0};

	while (*maps->at) {
		char *line = maps->at;
		char *end = strchr(line, '\n');

		maps->at = end ? end + 1 : line + strlen(line);
		if (end)
			*end = '\0';
		if (parse(line, &map)) {
			*ret_map = map;
			return true;
		}
	}
	return false;
}

void ezprof_proc_maps_free(struct ezprof_proc_maps *maps)
{
	free(maps->text);
	maps->text = NULL;
	maps->at = NULL;
}
