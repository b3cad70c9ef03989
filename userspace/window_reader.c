/* SPDX-License-Identifier: MIT */
/*
 * Map look-ups of the window path; see window_reader.h, and bucket_shared.h for why a tag can be
 * believed: the kernel copies a value's words in ascending order, so a tag that was read as whole
 * stands before words that are.
 */
#include "window_reader.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BATCH 1024u
/* 50 ms in all. */
#define TOTALS_SPINS 50
#define TOTALS_TRIES 100
#define TOTALS_NAP_NS 1000000
/* What the process's clock may be off ours. */
#define CLOCK_SLACK_NS 1000000u

struct ezprof_buckets {
	const struct ezprof_bpf_fds *fds;
	unsigned int cpu_count;
	uint32_t slot_count;
	uint32_t slots_used; /* slots beyond have no owner */
	const struct ez_bucket_shape *shapes;
	size_t shapes_bytes;
	const struct ez_bucket_totals *totals;
	size_t totals_bytes;
	/* Of this snapshot: groups; and per place in the ring the newest sums of each slot. */
	size_t group_count;
	struct ez_group_key *group_keys;
	struct ez_group *groups;
	struct ez_bucket_totals *copies; /* per slot: the totals, see copy_group() */
	bool loaded[EZ_RING_BUCKETS];
	struct ez_bucket_sums *sums[EZ_RING_BUCKETS];
	struct ez_bucket_sums *batch; /* BATCH x cpu_count, as the kernel gives them */
	uint32_t keys[BATCH];
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int map_array(int fd, size_t bytes, size_t *ret_bytes, const void **ret_map)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), rounded = (bytes + page - 1) / page * page;
	void *p = mmap(NULL, rounded, PROT_READ, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	*ret_bytes = rounded;
	*ret_map = p;
	return 0;
}

static int map_all(struct ezprof_buckets *b)
{
	const void *map = NULL;
	int err;

	err = map_array(b->fds->bucket_shapes,
			(size_t)b->slot_count * EZ_RING_BUCKETS * sizeof(*b->shapes),
			&b->shapes_bytes, &map);
	if (err)
		return err;
	b->shapes = map;
	err = map_array(b->fds->bucket_totals, (size_t)b->slot_count * sizeof(*b->totals),
			&b->totals_bytes, &map);
	if (err)
		return err;
	b->totals = map;
	return 0;
}

int ezprof_buckets_open(const struct ezprof_bpf *bpf, struct ezprof_buckets **ret_buckets)
{
	struct ezprof_buckets *b = calloc(1, sizeof(*b));
	size_t groups;
	int err = -ENOMEM;

	if (!b)
		return -ENOMEM;
	b->fds = ezprof_bpf_map_fds(bpf);
	b->cpu_count = (unsigned int)ezprof_bpf_cpu_count(bpf);
	b->slot_count = ezprof_bpf_endpoints_max(bpf);
	groups = b->slot_count / EZ_GROUP_SLOTS;
	b->group_keys = calloc(groups, sizeof(*b->group_keys));
	b->groups = calloc(groups, sizeof(*b->groups));
	b->copies = calloc(b->slot_count, sizeof(*b->copies));
	b->batch = calloc((size_t)BATCH * b->cpu_count, sizeof(*b->batch));
	if (b->group_keys && b->groups && b->copies && b->batch)
		err = map_all(b);
	if (err) {
		ezprof_buckets_close(b);
		return err;
	}
	*ret_buckets = b;
	return 0;
}

void ezprof_buckets_close(struct ezprof_buckets *b)
{
	if (!b)
		return;
	if (b->shapes)
		munmap((void *)(uintptr_t)b->shapes, b->shapes_bytes);
	if (b->totals)
		munmap((void *)(uintptr_t)b->totals, b->totals_bytes);
	for (unsigned int i = 0; i < EZ_RING_BUCKETS; i++)
		free(b->sums[i]);
	free(b->group_keys);
	free(b->groups);
	free(b->copies);
	free(b->batch);
	free(b);
}

/* Links are complete, so every bucket that begins from now on is whole. */
uint64_t ezprof_buckets_next_id(int64_t clock_offset_ns)
{
	return EZ_BUCKET_ID(now_ns() + (uint64_t)clock_offset_ns + CLOCK_SLACK_NS) + 1;
}

int ezprof_buckets_accept(struct ezprof_buckets *b, pid_t tgid, uint32_t file,
			  int64_t clock_offset_ns, uint64_t *ret_from_id)
{
	struct ez_bucket_from_key key = {.tgid = (uint32_t)tgid, .file = file};
	uint64_t from = ezprof_buckets_next_id(clock_offset_ns), written;
	int err;

	/* Written late, buckets from there on may have been refused already. */
	do {
		written = from;
		err = bpf_map_update_elem(b->fds->bucket_from, &key, &written, BPF_ANY);
		from = ezprof_buckets_next_id(clock_offset_ns);
	} while (!err && from > written + 1);
	if (err)
		return err;
	*ret_from_id = written;
	return 0;
}

int ezprof_buckets_refuse(struct ezprof_buckets *b, pid_t tgid, uint32_t file)
{
	struct ez_bucket_from_key key = {.tgid = (uint32_t)tgid, .file = file};
	int err = bpf_map_delete_elem(b->fds->bucket_from, &key);

	return err == -ENOENT ? 0 : err;
}

/*
 * Written eight times a second: a second look finds it at rest, unless its writer was taken off the
 * CPU in the midst of it. Then the CPU is left to it.
 */
static bool copy_totals(const struct ez_bucket_totals *from, struct ez_bucket_totals *to)
{
	for (int i = 0; i < TOTALS_TRIES; i++) {
		uint64_t seq = __atomic_load_n(&from->seq, __ATOMIC_ACQUIRE);

		*to = *(const volatile struct ez_bucket_totals *)from;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(seq & 1) && seq == __atomic_load_n(&from->seq, __ATOMIC_RELAXED))
			return true;
		if (i >= TOTALS_SPINS)
			nanosleep(&(struct timespec){.tv_nsec = TOTALS_NAP_NS}, NULL);
	}
	return false;
}

/*
 * The totals of all endpoints before any of their buckets: what the totals count as handed over is
 * in the maps then. In between it would be neither there, in sums read for another endpoint before,
 * nor taken from the page.
 */
static int copy_group(struct ezprof_buckets *b, const struct ez_group *group)
{
	for (uint32_t i = 0; i < EZ_GROUP_SLOTS; i++) {
		uint32_t slot = group->first_slot + i;

		if (!copy_totals(&b->totals[slot], &b->copies[slot]))
			return -EAGAIN;
	}
	return 0;
}

int ezprof_buckets_begin(struct ezprof_buckets *b)
{
	size_t most = b->slot_count / EZ_GROUP_SLOTS;
	struct ez_group_key key;
	const struct ez_group_key *at = NULL;
	int err = 0;

	memset(b->loaded, 0, sizeof(b->loaded));
	b->group_count = 0;
	b->slots_used = 0;
	/* A deletion meanwhile makes the walk begin again: it is bounded by the room for groups. */
	for (size_t i = 0; i < most && !err; i++) {
		struct ez_group group;

		err = bpf_map_get_next_key(b->fds->groups, at, &key);
		if (err)
			break;
		b->group_keys[b->group_count] = key;
		at = &b->group_keys[b->group_count];
		if (bpf_map_lookup_elem(b->fds->groups, at, &group) ||
		    group.first_slot > b->slot_count - EZ_GROUP_SLOTS)
			continue;
		b->groups[b->group_count++] = group;
		if (group.first_slot + EZ_GROUP_SLOTS > b->slots_used)
			b->slots_used = group.first_slot + EZ_GROUP_SLOTS;
	}
	if (err == -ENOENT)
		err = 0;
	for (size_t i = 0; i < b->group_count && !err; i++)
		err = copy_group(b, &b->groups[i]);
	return err;
}

static const struct ez_group *find_group(const struct ezprof_buckets *b, pid_t tgid, uint32_t file,
					 uint32_t index)
{
	for (size_t i = 0; i < b->group_count; i++) {
		const struct ez_group_key *key = &b->group_keys[i];

		if (key->tgid == (uint32_t)tgid && key->file == file &&
		    key->group == index >> EZ_GROUP_SHIFT)
			return &b->groups[i];
	}
	return NULL;
}

/* Of a slot's values on all CPUs the newest is the one: each bucket is handed over on one CPU. */
static void keep_newest(struct ezprof_buckets *b, struct ez_bucket_sums *to, uint32_t count)
{
	for (uint32_t slot = 0; slot < count; slot++) {
		const struct ez_bucket_sums *cpus = &b->batch[(size_t)slot * b->cpu_count];
		unsigned int newest = 0;

		for (unsigned int cpu = 1; cpu < b->cpu_count; cpu++) {
			if (cpus[cpu].tag > cpus[newest].tag)
				newest = cpu;
		}
		to[slot] = cpus[newest];
	}
}

/* Reads `count` keys from `first` on: by one call where the kernel can, else one by one. */
static int look_up(struct ezprof_buckets *b, uint32_t first, uint32_t count)
{
	uint32_t before = first - 1, next, got = count;
	int err;

	err = bpf_map_lookup_batch(b->fds->bucket_sums, first ? &before : NULL, &next, b->keys,
				   b->batch, &got, NULL);
	if ((!err || err == -ENOENT) && got == count)
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t key = first + i;

		err = bpf_map_lookup_elem(b->fds->bucket_sums, &key,
					  &b->batch[(size_t)i * b->cpu_count]);
		if (err)
			return err;
	}
	return 0;
}

static int load_place(struct ezprof_buckets *b, uint32_t place)
{
	int err;

	if (!b->sums[place])
		b->sums[place] = calloc(b->slot_count, sizeof(*b->sums[place]));
	if (!b->sums[place])
		return -ENOMEM;
	for (uint32_t slot = 0; slot < b->slots_used; slot += BATCH) {
		uint32_t count = b->slots_used - slot < BATCH ? b->slots_used - slot : BATCH;

		err = look_up(b, place * b->slot_count + slot, count);
		if (err)
			return err;
		keep_newest(b, b->sums[place] + slot, count);
	}
	b->loaded[place] = true;
	return 0;
}

static const struct ez_bucket_shape *shape_at(const struct ezprof_buckets *b, uint32_t slot,
					      uint64_t id)
{
	return &b->shapes[(size_t)slot * EZ_RING_BUCKETS + (id & (EZ_RING_BUCKETS - 1))];
}

static int add_bucket(struct ezprof_buckets *b, uint64_t id, struct ezprof_bucket_list *list)
{
	uint32_t place = (uint32_t)(id & (EZ_RING_BUCKETS - 1));
	uint64_t tag = EZ_TAG(list->epoch, id);
	const struct ez_bucket_shape *shape = shape_at(b, list->slot, id);
	struct ezprof_bucket *to = &list->buckets[list->count];
	int err = b->loaded[place] ? 0 : load_place(b, place);

	if (err || b->sums[place][list->slot].tag != tag)
		return err;
	to->id = id;
	to->sums = b->sums[place][list->slot];
	to->shape = __atomic_load_n(&shape->tag, __ATOMIC_ACQUIRE) == tag ? &shape->shape : NULL;
	list->count++;
	return 0;
}

int ezprof_buckets_read(struct ezprof_buckets *b, pid_t tgid, uint32_t file, uint32_t index,
			uint32_t generation, uint64_t first_id, uint64_t last_id,
			struct ezprof_bucket_list *ret_list)
{
	const struct ez_group *group = find_group(b, tgid, file, index);
	int err = 0;

	ret_list->count = 0;
	ret_list->have_totals = false;
	ret_list->have_slot = group != NULL;
	if (!group)
		return b->group_count < b->slot_count / EZ_GROUP_SLOTS ? -ENOENT : -ENOSPC;
	ret_list->epoch = group->epoch & EZ_TAG_EPOCH_MASK;
	ret_list->slot = group->first_slot + (index & (EZ_GROUP_SLOTS - 1));
	ret_list->totals = b->copies[ret_list->slot];
	ret_list->have_totals = ret_list->totals.owner == EZ_OWNER_READY(group->epoch, generation);
	if (!ret_list->have_totals)
		return -ENOENT;
	/* Later ones are not there, and a look at their places would be for nothing. */
	if (last_id > ret_list->totals.last_id)
		last_id = ret_list->totals.last_id;
	if (last_id >= EZ_RING_BUCKETS && first_id <= last_id - EZ_RING_BUCKETS)
		first_id = last_id - EZ_RING_BUCKETS + 1;
	for (uint64_t id = first_id; id <= last_id && !err; id++)
		err = add_bucket(b, id, ret_list);
	return err;
}

bool ezprof_buckets_valid(const struct ezprof_buckets *b, const struct ezprof_bucket_list *list)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	for (size_t i = 0; i < list->count; i++) {
		uint64_t id = list->buckets[i].id;
		const struct ez_bucket_shape *shape = shape_at(b, list->slot, id);

		if (list->buckets[i].shape &&
		    __atomic_load_n(&shape->tag, __ATOMIC_RELAXED) != EZ_TAG(list->epoch, id))
			return false;
	}
	return true;
}
