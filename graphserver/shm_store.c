/* SPDX-License-Identifier: MIT */
#include "shm_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "fd.h"
#include "frame.h"
#include "hash.h"
#include "log.h"
#include "segment_list.h"

#define NAME_BYTES 16 /* "psm_", 8 digits */
#define HEADER_BYTES 16
#define SPARE_BYTES_PER_BUFFER 16
#define FILL_BYTE '0' /* what ezmsg fills with; no message begins so */
#define STEP_BYTES (1 << 20)
#define NAME_TRIES 100

struct ezprof_segment {
	char path[NAME_BYTES + 1]; /* with a leading slash */
	const char *name;
	int fd; /* while it is being filled */
	uint64_t num_buffers, stride_bytes, total_bytes, filled_bytes;
	size_t leases;
	uint64_t device, inode;
	struct ezprof_machine home;
	size_t listed; /* its place in the list of what we made */
	UT_hash_handle hh;
};

struct ezprof_shm_store {
	struct ezprof_segment *segments;
	struct ezprof_segment_list *list;
	uint8_t *pattern; /* STEP_BYTES of fill */
};

struct ezprof_shm_store *ezprof_shm_store_new(void)
{
	struct ezprof_shm_store *store = calloc(1, sizeof(*store));
	int err;

	if (!store)
		return NULL;
	store->pattern = malloc(STEP_BYTES);
	if (!store->pattern) {
		free(store);
		return NULL;
	}
	memset(store->pattern, FILL_BYTE, STEP_BYTES);
	store->list = ezprof_segment_list_new(&err);
	if (!store->list)
		ez_log(EZ_LOG_WARN, "can't keep a list of segments for the next start: %s",
		       strerror(-err));
	return store;
}

/* Python's resource tracker unlinks segments that its process merely mapped, when that ends. */
static bool is_still_there(const struct ezprof_segment *segment)
{
	int fd = shm_open(segment->path, O_RDONLY | O_CLOEXEC, 0);
	struct stat st;
	bool same;

	if (fd < 0)
		return false;
	same = fstat(fd, &st) == 0 && st.st_dev == segment->device && st.st_ino == segment->inode;
	ez_fd_close(fd);
	return same;
}

static void segment_free(struct ezprof_shm_store *store, struct ezprof_segment *segment)
{
	/* By now the name may be somebody else's. */
	if (is_still_there(segment))
		shm_unlink(segment->path);
	ezprof_segment_list_remove(store->list, segment->listed);
	ez_fd_close(segment->fd);
	if (segment->hh.tbl)
		HASH_DEL(store->segments, segment);
	free(segment);
}

void ezprof_shm_store_free(struct ezprof_shm_store *store)
{
	struct ezprof_segment *segment, *next;

	if (!store)
		return;
	HASH_ITER (hh, store->segments, segment, next)
		segment_free(store, segment);
	ezprof_segment_list_free(store->list);
	free(store->pattern);
	free(store);
}

/*
 * Each buffer carries 16 spare bytes per buffer of the segment: ezmsg's arithmetic, which readers
 * rely on.
 */
static int plan(struct ezprof_segment *segment, uint64_t num_buffers, uint64_t buffer_bytes,
		uint64_t max_bytes)
{
	uint64_t spare, stride, total;

	if (num_buffers == 0 ||
	    __builtin_mul_overflow(num_buffers, SPARE_BYTES_PER_BUFFER, &spare) ||
	    __builtin_add_overflow(buffer_bytes, spare, &stride) ||
	    __builtin_mul_overflow(stride, num_buffers, &total) || total > INT64_MAX)
		return -EINVAL;
	if (total > max_bytes)
		return -EFBIG;
	segment->num_buffers = num_buffers;
	segment->stride_bytes = stride;
	segment->total_bytes = total;
	return 0;
}

/* Before the first byte: a request that can't fit shall not fill the machine up first. */
static int check_space(const struct ezprof_segment *segment)
{
	struct statvfs fs;

	if (fstatvfs(segment->fd, &fs) < 0)
		return -errno;
	/* No blocks at all means no limit. */
	if (fs.f_blocks && segment->total_bytes / fs.f_bsize >= fs.f_bavail)
		return -ENOSPC;
	return 0;
}

static int open_unique(struct ezprof_segment *segment)
{
	for (int i = 0; i < NAME_TRIES; i++) {
		uint32_t number;

		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return -EIO;
		snprintf(segment->path, sizeof(segment->path), "/psm_%08x", number);
		segment->fd = shm_open(segment->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (segment->fd >= 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

int ezprof_shm_create(struct ezprof_shm_store *store, uint64_t num_buffers, uint64_t buffer_bytes,
		      uint64_t max_bytes, struct ezprof_segment **ret_segment)
{
	struct ezprof_segment *segment = calloc(1, sizeof(*segment));
	struct stat st;
	int err;

	if (!segment)
		return -ENOMEM;
	segment->name = segment->path + 1;
	segment->leases = 1;
	segment->fd = -1;
	err = plan(segment, num_buffers, buffer_bytes, max_bytes);
	if (!err)
		err = open_unique(segment);
	if (err) {
		free(segment);
		return err;
	}
	if (fstat(segment->fd, &st) == 0) {
		segment->device = st.st_dev;
		segment->inode = st.st_ino;
	}
	segment->listed = ezprof_segment_list_add(store->list, segment->name, segment->fd);
	err = check_space(segment);
	if (!err) {
		HASH_ADD_KEYPTR(hh, store->segments, segment->name, strlen(segment->name), segment);
		err = segment->hh.tbl ? 0 : -ENOMEM;
	}
	if (err) {
		segment_free(store, segment);
		return err;
	}
	*ret_segment = segment;
	return 0;
}

static int write_at(int fd, const void *data, size_t n, uint64_t offset)
{
	const uint8_t *p = data;

	while (n) {
		ssize_t written = pwrite(fd, p, n, (off_t)offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		p += written;
		offset += (uint64_t)written;
		n -= (size_t)written;
	}
	return 0;
}

static int write_header(const struct ezprof_segment *segment)
{
	uint8_t header[HEADER_BYTES];

	ez_store_u64(header, segment->num_buffers);
	ez_store_u64(header + 8, segment->stride_bytes);
	return write_at(segment->fd, header, sizeof(header), 0);
}

int ezprof_shm_fill(struct ezprof_shm_store *store, struct ezprof_segment *segment)
{
	uint64_t left = segment->total_bytes - segment->filled_bytes;
	size_t n = left < STEP_BYTES ? (size_t)left : STEP_BYTES;
	int err = write_at(segment->fd, store->pattern, n, segment->filled_bytes);

	if (err)
		return err;
	segment->filled_bytes += n;
	if (segment->filled_bytes < segment->total_bytes)
		return 0;
	err = write_header(segment);
	if (err)
		return err;
	segment->fd = ez_fd_close(segment->fd);
	return 1;
}

struct ezprof_segment *ezprof_shm_attach(struct ezprof_shm_store *store, const char *name,
					 size_t len, const struct ezprof_machine *machine)
{
	struct ezprof_segment *segment;

	HASH_FIND(hh, store->segments, name, len, segment);
	/* One that is still being filled has told nobody its name. */
	if (!segment || segment->fd >= 0)
		return NULL;
	/* A file of that name elsewhere would be another one. */
	if (!ezprof_machine_is_same(&segment->home, machine))
		return NULL;
	/* Closed without an answer the client takes TCP; a name that can't be mapped would fail it.
	 */
	if (!is_still_there(segment))
		return NULL;
	segment->leases++;
	return segment;
}

void ezprof_shm_release(struct ezprof_shm_store *store, struct ezprof_segment *segment)
{
	if (--segment->leases == 0)
		segment_free(store, segment);
}

void ezprof_segment_set_home(struct ezprof_segment *segment, const struct ezprof_machine *home)
{
	segment->home = *home;
}

const char *ezprof_segment_name(const struct ezprof_segment *segment)
{
	return segment->name;
}

uint64_t ezprof_segment_bytes(const struct ezprof_segment *segment)
{
	return segment->total_bytes;
}
