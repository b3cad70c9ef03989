/* SPDX-License-Identifier: MIT */
#include "segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frame.h"

static bool is_name(const char *name)
{
	size_t n = strlen(name);

	return n > 0 && n < EZ_SEGMENT_NAME_BYTES - 1 && name[0] != '.' && !strchr(name, '/');
}

static int check_header(struct ez_segment *segment)
{
	uint64_t total;

	segment->slots = ez_load_u64(segment->base);
	segment->stride = ez_load_u64(segment->base + 8);
	if (segment->slots == 0 || segment->stride <= EZ_SEGMENT_RESERVED ||
	    __builtin_mul_overflow(segment->slots, segment->stride, &total) ||
	    total > segment->bytes)
		return -EBADMSG;
	return 0;
}

static int map_fd(int fd, bool writable, struct ez_segment *segment)
{
	struct stat st;
	void *p;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size < EZ_SEGMENT_RESERVED)
		return -EBADMSG;
	segment->bytes = (size_t)st.st_size;
	p = mmap(NULL, segment->bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
		 fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	segment->base = p;
	segment->guarded = ez_segment_guard(p, segment->bytes);
	if (!segment->guarded)
		return -ENOMEM;
	return check_header(segment);
}

int ez_segment_map(const char *name, bool writable, struct ez_segment **ret_segment)
{
	char path[EZ_SEGMENT_NAME_BYTES + 1];
	struct ez_segment *segment;
	int fd, err;

	if (!is_name(name))
		return -EINVAL;
	segment = calloc(1, sizeof(*segment));
	if (!segment)
		return -ENOMEM;
	segment->refs = 1;
	strcpy(segment->name, name);
	snprintf(path, sizeof(path), "/%s", name);
	fd = shm_open(path, writable ? O_RDWR : O_RDONLY, 0);
	err = fd < 0 ? -errno : map_fd(fd, writable, segment);
	if (fd >= 0)
		close(fd);
	if (err) {
		ez_segment_unref(segment);
		return err;
	}
	*ret_segment = segment;
	return 0;
}

int ez_segment_private(const char *name, uint64_t slots, uint64_t buffer_bytes,
		       struct ez_segment **ret_segment)
{
	struct ez_segment *segment;
	uint64_t stride, bytes;
	void *p;

	if (!is_name(name) || slots == 0 ||
	    __builtin_add_overflow(buffer_bytes, EZ_SEGMENT_RESERVED * slots, &stride) ||
	    __builtin_mul_overflow(stride, slots, &bytes))
		return -EINVAL;
	segment = calloc(1, sizeof(*segment));
	if (!segment)
		return -ENOMEM;
	segment->refs = 1;
	strcpy(segment->name, name);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		free(segment);
		return -ENOMEM;
	}
	segment->base = p;
	segment->bytes = bytes;
	segment->slots = slots;
	segment->stride = stride;
	segment->guarded = ez_segment_guard(p, segment->bytes);
	if (!segment->guarded) {
		ez_segment_unref(segment);
		return -ENOMEM;
	}
	*ret_segment = segment;
	return 0;
}

struct ez_segment *ez_segment_ref(struct ez_segment *segment)
{
	__atomic_add_fetch(&segment->refs, 1, __ATOMIC_RELAXED);
	return segment;
}

void ez_segment_unref(struct ez_segment *segment)
{
	if (!segment || __atomic_sub_fetch(&segment->refs, 1, __ATOMIC_ACQ_REL))
		return;
	ez_segment_unguard(segment->guarded);
	if (segment->base)
		munmap(segment->base, segment->bytes);
	free(segment);
}
