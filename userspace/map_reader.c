/* SPDX-License-Identifier: MIT */
/*
 * Reads maps by bpf() calls and one mapping; see map_reader.h.
 *
 * A ring is copied by the kernel while programs write to it, its sums first and its notes after.
 * Two copies with the same states of owner and notes, none of them claimed, make a whole: the
 * notes were there, unchanged, before the second copy's sums were read, so no note is ahead of
 * the sums.
 */
#include "map_reader.h"
#include "nested_pids.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define READ_TRIES 6

struct ezprof_maps {
	const struct ezprof_bpf_fds *fds;
	struct ezprof_nested_pids nested;
	int program_fd;
	unsigned int cpu_count;
	uint32_t slot_count;
	const volatile struct ez_slot *slots;
	size_t slots_bytes;
	struct ez_ring *rings[2]; /* cpu_count each: two copies to compare */
	struct ez_counters *counters;
};

static int map_slots(struct ezprof_maps *maps)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p;

	maps->slots_bytes = (maps->slot_count * sizeof(struct ez_slot) + page - 1) / page * page;
	p = mmap(NULL, maps->slots_bytes, PROT_READ, MAP_SHARED, maps->fds->slots, 0);
	if (p == MAP_FAILED)
		return -errno;
	maps->slots = p;
	return 0;
}

int ezprof_maps_open(const struct ezprof_bpf *bpf, struct ezprof_maps **ret_maps)
{
	struct ezprof_maps *maps = calloc(1, sizeof(*maps));
	int err = -ENOMEM;

	if (!maps)
		return -ENOMEM;
	maps->fds = ezprof_bpf_map_fds(bpf);
	ezprof_nested_pids_init(&maps->nested, maps->fds->nested_namespaces,
				maps->fds->nested_pids);
	maps->program_fd = ezprof_bpf_program_fd(bpf);
	maps->cpu_count = (unsigned int)ezprof_bpf_cpu_count(bpf);
	maps->slot_count = ezprof_bpf_endpoints_max(bpf);
	for (int i = 0; i < 2; i++)
		maps->rings[i] = calloc(maps->cpu_count, sizeof(struct ez_ring));
	maps->counters = calloc(maps->cpu_count, sizeof(struct ez_counters));
	if (maps->rings[0] && maps->rings[1] && maps->counters)
		err = map_slots(maps);
	if (err) {
		ezprof_maps_close(maps);
		return err;
	}
	*ret_maps = maps;
	return 0;
}

void ezprof_maps_close(struct ezprof_maps *maps)
{
	if (!maps)
		return;
	if (maps->slots)
		munmap((void *)(uintptr_t)maps->slots, maps->slots_bytes);
	free(maps->rings[0]);
	free(maps->rings[1]);
	free(maps->counters);
	free(maps);
}

int ezprof_maps_add_target(struct ezprof_maps *maps, pid_t tgid, uint64_t start_time)
{
	uint32_t key = (uint32_t)tgid;

	return bpf_map_update_elem(maps->fds->targets, &key, &start_time, BPF_ANY);
}

int ezprof_maps_add_nested(struct ezprof_maps *maps, pid_t tgid, uint64_t ns_dev, uint64_t ns_inode,
			   pid_t ns_pid)
{
	return ezprof_nested_pids_add(&maps->nested, tgid, ns_dev, ns_inode, ns_pid);
}

/* Takes a group out of the hash and puts its number at the end of the queue. */
static int release_group(struct ezprof_maps *maps, const struct ez_group_key *key)
{
	struct ez_group group;
	uint32_t number;
	int err = bpf_map_lookup_elem(maps->fds->groups, key, &group);

	if (!err)
		err = bpf_map_delete_elem(maps->fds->groups, key);
	number = group.first_slot / EZ_GROUP_SLOTS;
	if (!err)
		err = bpf_map_update_elem(maps->fds->free_groups, NULL, &number, BPF_ANY);
	return err;
}

static int release_groups(struct ezprof_maps *maps, uint32_t tgid)
{
	struct ez_group_key key, next;
	int err, end;

	/* Next keys are looked up before a deletion, after which the walk would start again. */
	for (end = bpf_map_get_next_key(maps->fds->groups, NULL, &next); !end;) {
		key = next;
		end = bpf_map_get_next_key(maps->fds->groups, &key, &next);
		if (key.tgid != tgid)
			continue;
		err = release_group(maps, &key);
		if (err)
			return err;
	}
	return end == -ENOENT ? 0 : end;
}

int ezprof_maps_release(struct ezprof_maps *maps, pid_t tgid)
{
	uint32_t key = (uint32_t)tgid;
	int err = bpf_map_delete_elem(maps->fds->targets, &key);

	ezprof_nested_pids_remove(&maps->nested, tgid);
	if (err && err != -ENOENT)
		return err;
	return release_groups(maps, key);
}

int ezprof_maps_release_group(struct ezprof_maps *maps, pid_t tgid, uint32_t file, uint32_t group)
{
	const struct ez_group_key key = {.tgid = (uint32_t)tgid, .file = file, .group = group};
	int err = release_group(maps, &key);

	return err == -ENOENT ? 0 : err;
}

static int find_slot(const struct ezprof_maps *maps, const struct ez_group_key *key, uint32_t index,
		     uint32_t *ret_slot, uint32_t *ret_epoch)
{
	struct ez_group group;
	int err = bpf_map_lookup_elem(maps->fds->groups, key, &group);

	if (err)
		return err;
	*ret_slot = group.first_slot + (index & (EZ_GROUP_SLOTS - 1));
	*ret_epoch = group.epoch;
	return *ret_slot < maps->slot_count ? 0 : -ERANGE;
}

static bool same_notes(const struct ez_ring *a, const struct ez_ring *b)
{
	if (a->owner != b->owner || a->base_id != b->base_id)
		return false;
	if (a->owner && !EZ_NOTE_IS_READY(a->owner))
		return false;
	for (unsigned int i = 0; i < EZ_RING_BUCKETS; i++) {
		if (a->notes[i].state != b->notes[i].state)
			return false;
		if (a->notes[i].state && !EZ_NOTE_IS_READY(a->notes[i].state))
			return false;
	}
	return true;
}

static bool same_rings(const struct ezprof_maps *maps)
{
	for (unsigned int i = 0; i < maps->cpu_count; i++) {
		if (!same_notes(&maps->rings[0][i], &maps->rings[1][i]))
			return false;
	}
	return true;
}

static void copy_slot(const struct ezprof_maps *maps, uint32_t slot, struct ez_slot *ret_slot)
{
	const volatile struct ez_slot *from = &maps->slots[slot];

	*ret_slot = (struct ez_slot){
		.owner = from->owner,
		.first_total = from->first_total,
		.last_total = from->last_total,
		.last_ns = from->last_ns,
		.blocked_since_ns = from->blocked_since_ns,
		.unmatched = from->unmatched,
	};
}

int ezprof_maps_read(struct ezprof_maps *maps, pid_t tgid, uint32_t file, uint32_t index,
		     uint32_t generation, struct ezprof_raw *ret_raw)
{
	struct ez_group_key key = {
		.tgid = (uint32_t)tgid, .file = file, .group = index >> EZ_GROUP_SHIFT};
	struct ezprof_raw raw = {.cpu_count = maps->cpu_count};
	struct ez_slot before;
	uint32_t slot, epoch;
	int err, newest = 0;

	err = find_slot(maps, &key, index, &slot, &epoch);
	if (!err)
		err = bpf_map_lookup_elem(maps->fds->rings, &slot, maps->rings[1]);
	for (int i = 0; i < READ_TRIES && !err && !raw.stable; i++) {
		newest = i & 1;
		copy_slot(maps, slot, &before);
		err = bpf_map_lookup_elem(maps->fds->rings, &slot, maps->rings[newest]);
		copy_slot(maps, slot, &raw.slot);
		raw.stable = raw.slot.owner == before.owner &&
			     raw.slot.blocked_since_ns == before.blocked_since_ns &&
			     same_rings(maps);
	}
	if (err)
		return err;
	raw.owner = EZ_OWNER_READY(epoch, generation);
	raw.rings = maps->rings[newest];
	if (raw.slot.owner != raw.owner)
		raw.slot = (struct ez_slot){0};
	*ret_raw = raw;
	return 0;
}

int ezprof_maps_counters(struct ezprof_maps *maps, struct ezprof_counters *ret_counters)
{
	struct ezprof_counters sum = {0};
	uint32_t zero = 0;
	int err = bpf_map_lookup_elem(maps->fds->counters, &zero, maps->counters);

	if (err)
		return err;
	for (unsigned int cpu = 0; cpu < maps->cpu_count; cpu++) {
		for (unsigned int i = 0; i < EZ_PROBE_COUNT; i++)
			sum.hits[i] += maps->counters[cpu].hits[i];
		for (unsigned int i = 0; i < EZ_LOSS_COUNT; i++)
			sum.losses[i] += maps->counters[cpu].losses[i];
	}
	*ret_counters = sum;
	return 0;
}

int ezprof_maps_run_time(struct ezprof_maps *maps, uint64_t *ret_runs, uint64_t *ret_ns)
{
	struct bpf_prog_info info;
	uint32_t bytes = sizeof(info);
	int err;

	memset(&info, 0, sizeof(info));
	err = bpf_obj_get_info_by_fd(maps->program_fd, &info, &bytes);
	if (err)
		return err;
	if (!info.run_cnt)
		return -ENODATA;
	*ret_runs = info.run_cnt;
	*ret_ns = info.run_time_ns;
	return 0;
}

#define LOSS_KEY(name, text, meaning) [EZ_LOSS_##name] = (text),
#define LOSS_TEXT(name, text, meaning) [EZ_LOSS_##name] = (meaning),

const char *ezprof_loss_key(enum ez_loss loss)
{
	static const char *const keys[] = {EZ_LOSS_LIST(LOSS_KEY)};

	return (unsigned int)loss < EZ_LOSS_COUNT ? keys[loss] : "";
}

const char *ezprof_loss_text(enum ez_loss loss)
{
	static const char *const texts[] = {EZ_LOSS_LIST(LOSS_TEXT)};

	return (unsigned int)loss < EZ_LOSS_COUNT ? texts[loss] : "";
}
