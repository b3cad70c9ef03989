/* SPDX-License-Identifier: MIT */
/* See sched_reader.h, and sched_shared.h for why a thread's record can be believed. */
#include "sched_reader.h"
#include "clock.h"
#include "sched_loader.h"
#include "window_reader.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define READ_TRIES 20

struct ezprof_scheds {
	const struct ezprof_sched_fds *fds;
	uint32_t slot_count;
	unsigned int cpu_count;
	const struct ez_sched_sums *sums;
	const struct ez_sched_covered *covered;
	const struct ez_sched_thread *threads;
	size_t sums_bytes, covered_bytes, threads_bytes;
	struct ez_sched_counters *counters;
	size_t used_count; /* threads that had work when the snapshot began */
	uint32_t used[EZ_SCHED_THREADS];
};

static int map_array(int fd, size_t bytes, size_t *ret_bytes, const void **ret_map)
{
	size_t rounded = (bytes + 4095) / 4096 * 4096;
	void *p = mmap(NULL, rounded, PROT_READ, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	*ret_bytes = rounded;
	*ret_map = p;
	return 0;
}

static int map_all(struct ezprof_scheds *s)
{
	size_t places = (size_t)s->slot_count * EZ_RING_BUCKETS;
	const void *map = NULL;
	int err = map_array(s->fds->sums, places * sizeof(*s->sums), &s->sums_bytes, &map);

	if (err)
		return err;
	s->sums = map;
	err = map_array(s->fds->covered, places * sizeof(*s->covered), &s->covered_bytes, &map);
	if (err)
		return err;
	s->covered = map;
	err = map_array(s->fds->threads, EZ_SCHED_THREADS * sizeof(*s->threads), &s->threads_bytes,
			&map);
	if (err)
		return err;
	s->threads = map;
	return 0;
}

int ezprof_scheds_open(const struct ezprof_bpf *bpf, struct ezprof_scheds **ret_scheds)
{
	struct ezprof_scheds *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	if (!s)
		return -ENOMEM;
	s->fds = ezprof_bpf_sched_fds(bpf);
	s->slot_count = ezprof_bpf_endpoints_max(bpf);
	s->cpu_count = (unsigned int)ezprof_bpf_cpu_count(bpf);
	s->counters = calloc(s->cpu_count, sizeof(*s->counters));
	if (s->counters)
		err = map_all(s);
	if (err) {
		ezprof_scheds_close(s);
		return err;
	}
	*ret_scheds = s;
	return 0;
}

static void unmap(const void *map, size_t bytes)
{
	if (map)
		munmap((void *)(uintptr_t)map, bytes);
}

void ezprof_scheds_close(struct ezprof_scheds *s)
{
	if (!s)
		return;
	unmap(s->sums, s->sums_bytes);
	unmap(s->covered, s->covered_bytes);
	unmap(s->threads, s->threads_bytes);
	free(s->counters);
	free(s);
}

static uint64_t table_of(const struct ezprof_target_object *object)
{
	if (object->read_err || !object->endpoints || !object->linked)
		return 0;
	return object->endpoints->threads;
}

/* Takes in objects whose tables are known by now, while there is room. Places are for good. */
static bool take_in(struct ezprof_target *target)
{
	uint32_t count = 0;
	bool any = false;
	size_t i;

	for (i = 0; i < target->object_count; i++)
		count += target->objects[i].sched_table != 0;
	for (i = 0; i < target->object_count && count < EZ_SCHED_OBJECTS; i++) {
		struct ezprof_target_object *object = &target->objects[i];

		if (object->sched_table || !table_of(object))
			continue;
		object->sched_table = table_of(object);
		object->sched_place = count++;
		any = true;
	}
	return any;
}

/* Those that are new count from `from_id` on. */
static void fill_target(const struct ezprof_target *target, uint64_t from_id,
			struct ez_sched_target *t)
{
	memset(t, 0, sizeof(*t));
	t->clock_offset_ns = (uint64_t)target->clock_offset_ns;
	t->pid_ns_dev = target->process->namespaces.pid_ns_dev;
	t->pid_ns_inode = target->process->namespaces.pid_ns_inode;
	for (size_t i = 0; i < target->object_count; i++) {
		const struct ezprof_target_object *object = &target->objects[i];
		uint64_t id = object->sched_from_id ? object->sched_from_id : from_id;

		if (!object->sched_table)
			continue;
		t->objects[object->sched_place] = (struct ez_sched_object){
			.table = object->sched_table,
			.from_ns = id << EZ_BUCKET_SHIFT,
			.file = object->file,
		};
		t->count++;
	}
}

/* New ones are followed from then on; written 0: they are not. */
static void note_followed(struct ezprof_target *target, uint64_t written)
{
	for (size_t i = 0; i < target->object_count; i++) {
		struct ezprof_target_object *object = &target->objects[i];

		if (!object->sched_table || object->sched_from_id)
			continue;
		object->sched_from_id = written;
		if (!written)
			object->sched_table = 0;
	}
}

int ezprof_scheds_follow(struct ezprof_scheds *s, struct ezprof_target *target)
{
	uint32_t key = (uint32_t)target->process->pid;
	struct ez_sched_target t;
	uint64_t from, written;
	int err;

	if (!take_in(target))
		return 0;
	/* Written late, work from there on may have been passed over already. */
	from = ezprof_buckets_next_id(target->clock_offset_ns);
	do {
		written = from;
		fill_target(target, written, &t);
		err = bpf_map_update_elem(s->fds->targets, &key, &t, BPF_ANY);
		from = ezprof_buckets_next_id(target->clock_offset_ns);
	} while (!err && from > written + 1);
	note_followed(target, err ? 0 : written);
	return err;
}

void ezprof_scheds_drop(struct ezprof_scheds *s, pid_t tgid)
{
	uint32_t key = (uint32_t)tgid;

	bpf_map_delete_elem(s->fds->targets, &key);
}

void ezprof_scheds_begin(struct ezprof_scheds *s)
{
	s->used_count = 0;
	for (uint32_t i = 0; i < EZ_SCHED_THREADS; i++) {
		const struct ez_sched_thread *t = &s->threads[i];

		if (*(const volatile uint32_t *)&t->epoch[0] ||
		    *(const volatile uint32_t *)&t->epoch[1])
			s->used[s->used_count++] = i;
	}
}

/* False: it was being written. */
static bool copy_thread(const struct ez_sched_thread *from, struct ez_sched_thread *to)
{
	uint64_t head = __atomic_load_n(&from->head, __ATOMIC_ACQUIRE);

	*to = *(const volatile struct ez_sched_thread *)from;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return head == __atomic_load_n(&from->tail, __ATOMIC_RELAXED);
}

static bool works_for(const struct ez_sched_thread *t, uint32_t slot, uint32_t epoch)
{
	for (unsigned int k = 0; k < EZ_WORK_KINDS; k++) {
		if (t->epoch[k] == epoch && t->slot[k] == slot && t->endpoint[k])
			return true;
	}
	return false;
}

/* The threads that are off the CPU at the endpoint's work, and a number that moves with them. */
static bool read_open(const struct ezprof_scheds *s, uint32_t slot, uint32_t epoch,
		      struct ezprof_sched_open *open, size_t *ret_count, uint64_t *ret_state)
{
	struct ez_sched_thread t;
	uint64_t state = 0;
	size_t n = 0;

	for (size_t i = 0; i < s->used_count; i++) {
		if (!copy_thread(&s->threads[s->used[i]], &t))
			return false;
		if (!works_for(&t, slot, epoch))
			continue;
		state += t.head;
		if (!t.off_ns || n == EZPROF_SCHED_OPEN_MAX)
			continue;
		open[n++] = (struct ezprof_sched_open){
			.off_ns = t.off_ns + t.clock_offset_ns,
			.wake_ns = t.wake_ns ? t.wake_ns + t.clock_offset_ns : 0,
		};
	}
	*ret_count = n;
	*ret_state = state;
	return true;
}

static size_t place_of(const struct ezprof_scheds *s, uint32_t slot, uint64_t id)
{
	(void)s;
	return (size_t)slot * EZ_RING_BUCKETS + (id & (EZ_RING_BUCKETS - 1));
}

static void read_bucket(const struct ezprof_scheds *s, uint32_t slot, uint32_t epoch, uint64_t id,
			struct ezprof_sched_bucket *b)
{
	const volatile struct ez_sched_sums *sums = &s->sums[place_of(s, slot, id)];
	const volatile struct ez_sched_covered *covered = &s->covered[place_of(s, slot, id)];
	uint64_t tag = EZ_TAG(epoch, id);

	memset(b->off_ns, 0, sizeof(b->off_ns));
	b->covered_ns = b->covered_carry_ns = 0;
	if (__atomic_load_n(&sums->tag, __ATOMIC_ACQUIRE) == tag) {
		for (unsigned int i = 0; i < EZ_SCHED_STATES; i++)
			b->off_ns[i] = sums->ns[i];
	}
	if (__atomic_load_n(&covered->tag, __ATOMIC_ACQUIRE) == tag) {
		b->covered_ns = covered->covered_ns;
		b->covered_carry_ns = covered->carry_ns;
	}
}

void ezprof_scheds_read(struct ezprof_scheds *s, uint32_t slot, uint32_t epoch, uint64_t first_id,
			size_t count, struct ezprof_sched_bucket *buckets,
			struct ezprof_sched_open ret_open[EZPROF_SCHED_OPEN_MAX],
			size_t *ret_open_count)
{
	uint64_t before = 0, after = 0;
	size_t n;

	*ret_open_count = 0;
	if (slot >= s->slot_count)
		return;
	/* A stretch that ends meanwhile moves from a thread's record to the sums. */
	for (int i = 0; i < READ_TRIES; i++) {
		bool whole = read_open(s, slot, epoch, ret_open, &n, &before);

		for (size_t j = 0; j < count; j++)
			read_bucket(s, slot, epoch, first_id + j, &buckets[j]);
		whole = whole && read_open(s, slot, epoch, ret_open, &n, &after);
		if (whole && before == after) {
			*ret_open_count = n;
			return;
		}
	}
}

static void add_run_time(int program, struct ezprof_sched_counts *counts)
{
	struct bpf_prog_info info;
	uint32_t bytes = sizeof(info);

	memset(&info, 0, sizeof(info));
	if (bpf_obj_get_info_by_fd(program, &info, &bytes))
		return;
	counts->runs += info.run_cnt;
	counts->run_ns += info.run_time_ns;
}

int ezprof_scheds_counts(struct ezprof_scheds *s, struct ezprof_sched_counts *ret_counts)
{
	struct ezprof_sched_counts sum = {0};
	uint32_t zero = 0;
	int err = bpf_map_lookup_elem(s->fds->counters, &zero, s->counters);

	if (err)
		return err;
	for (unsigned int cpu = 0; cpu < s->cpu_count; cpu++) {
		for (unsigned int i = 0; i < EZ_SCHED_EVENTS; i++)
			sum.hits[i] += s->counters[cpu].hits[i];
		for (unsigned int i = 0; i < EZ_SCHED_LOSS_COUNT; i++)
			sum.losses[i] += s->counters[cpu].losses[i];
	}
	for (unsigned int i = 0; i < EZ_SCHED_EVENTS; i++)
		add_run_time(s->fds->programs[i], &sum);
	*ret_counts = sum;
	return 0;
}
