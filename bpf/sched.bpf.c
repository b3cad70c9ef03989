/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --sched: what threads do while they work for an endpoint. Raw tracepoints, and no type
 * information: a task is known by its address alone, which is all that the switch back and the
 * wake-up have to tell; who a task is, and what it works for, is asked when it leaves its CPU and
 * still is the current one.
 *
 * Interrupts are off in all of these, so no program here is interrupted by another; a thread's
 * record is guarded by the scheduler itself (sched_shared.h), sums are atomic adds.
 */
#include "sched_maps.bpf.h"
#include "hit.bpf.h"

struct works {
	struct ez_work work[EZ_WORK_KINDS];
	__u32 file[EZ_WORK_KINDS];
};

EZ_INLINE void lose(struct ez_sched_counters *counters, enum ez_sched_loss loss)
{
	counters->losses[loss & 3]++;
}

EZ_INLINE void record_open(struct ez_sched_thread *t)
{
	(void)EZ_XCHG(&t->tail, t->tail + 1);
}

EZ_INLINE void record_close(struct ez_sched_thread *t)
{
	(void)EZ_XCHG(&t->head, t->tail);
}

#define RACE_TRIES 8

/* The place of a bucket, cleared if it was an older one's. */
EZ_INLINE struct ez_sched_sums *sums_at(__u32 slot, __u64 tag)
{
	__u32 key = slot * EZ_RING_BUCKETS + (EZ_TAG_ID(tag) & (EZ_RING_BUCKETS - 1));
	struct ez_sched_sums *to = bpf_map_lookup_elem(&sched_sums, &key);
	__u64 seen;

	for (int i = 0; to && i < RACE_TRIES; i++) {
		seen = EZ_READ(to->tag);
		if (seen == tag)
			return to;
		if (seen == EZ_SCHED_TAKEN)
			continue;
		/* Slots of a closed endpoint have gone to another one. */
		if (EZ_TAG_EPOCH(seen) > EZ_TAG_EPOCH(tag))
			return 0;
		if (EZ_CAS(&to->tag, seen, EZ_SCHED_TAKEN) != seen)
			continue;
		to->ns[EZ_SCHED_BLOCKED] = 0;
		to->ns[EZ_SCHED_RUNNABLE] = 0;
		(void)EZ_XCHG(&to->tag, tag);
		return to;
	}
	return 0;
}

/* Not static: the verifier then looks at it once, and not once per turn of a loop. */
int ezprof_sched_add(__u64 place, __u32 state, __u64 id, __u64 ns);

__attribute__((noinline)) int ezprof_sched_add(__u64 place, __u32 state, __u64 id, __u64 ns)
{
	struct ez_sched_sums *sums = sums_at((__u32)place, EZ_TAG(place >> 32, id));

	if (sums)
		EZ_ADD(&sums->ns[state & 1], ns);
	return !sums;
}

/* Adds the stretch, cut into buckets; of one longer than the ring, its end. 0: all of it. */
EZ_INLINE int add_stretch(__u64 place, __u32 state, __u64 from, __u64 to)
{
	__u64 id = EZ_BUCKET_ID(from), last = EZ_BUCKET_ID(to);
	int lost = 0;

	if (to <= from)
		return 0;
	if (last - id >= EZ_RING_BUCKETS) {
		id = last - EZ_RING_BUCKETS + 1;
		from = id << EZ_BUCKET_SHIFT;
	}
	for (__u32 i = 0; i < EZ_RING_BUCKETS; i++) {
		__u64 end = (id + 1) << EZ_BUCKET_SHIFT;

		if (end > to)
			end = to;
		lost |= ezprof_sched_add(place, state, id, end - from);
		if (id++ >= last)
			break;
		from = end;
	}
	return lost;
}

/* Where the current thread's words are in that object's table; 0: it has none. */
EZ_INLINE __u64 find_thread(const struct ez_sched_target *target, __u64 table)
{
	__u32 tids[EZ_THREAD_WAYS], tid = (__u32)bpf_get_current_pid_tgid();
	struct bpf_pidns_info info = {};
	__u64 set;

	if (target->pid_ns_inode) {
		if (bpf_get_ns_current_pid_tgid(target->pid_ns_dev, target->pid_ns_inode, &info,
						sizeof(info)))
			return 0;
		tid = info.pid;
	}
	set = table + (tid % EZ_THREAD_SETS) * sizeof(struct ez_thread_set);
	if (bpf_probe_read_user(tids, sizeof(tids), (const void *)set))
		return 0;
	set += __builtin_offsetof(struct ez_thread_set, threads);
#pragma unroll
	for (__u32 i = 0; i < EZ_THREAD_WAYS; i++) {
		if (tids[i] == tid)
			return set + i * sizeof(struct ez_thread);
	}
	return 0;
}

/* The words of one object; what they say goes into `works` if it is younger than the attach. */
EZ_INLINE int read_object(const struct ez_sched_object *object, __u64 address, struct works *works)
{
	struct ez_thread thread;

	if (bpf_probe_read_user(&thread, sizeof(thread), (const void *)address))
		return -1;
#pragma unroll
	for (int k = 0; k < (int)EZ_WORK_KINDS; k++) {
		if (!thread.work[k].endpoint || thread.work[k].since_ns < object->from_ns)
			continue;
		works->work[k] = thread.work[k];
		works->file[k] = object->file;
	}
	return 0;
}

/* What the current thread works for, after all its objects. `t` may be NULL: not known so far. */
EZ_INLINE int read_works(const struct ez_sched_target *target, struct ez_sched_thread *t,
			 __u64 addresses[EZ_SCHED_OBJECTS], struct works *works)
{
	int failed = 0;

#pragma unroll
	for (__u32 i = 0; i < EZ_SCHED_OBJECTS; i++) {
		__u64 address = t ? t->address[i] : 0;

		if (i < target->count && !address)
			address = find_thread(target, target->objects[i].table);
		if (i < target->count && address)
			failed |= read_object(&target->objects[i], address, works);
		addresses[i] = address;
	}
	return failed;
}

static __attribute__((noinline)) int thread_add(__u64 task)
{
	__u32 index;

	if (bpf_map_pop_elem(&sched_free, &index))
		return -1;
	if (!bpf_map_update_elem(&sched_tasks, &task, &index, BPF_NOEXIST))
		return 0;
	bpf_map_push_elem(&sched_free, &index, BPF_ANY);
	return -1;
}

EZ_INLINE struct ez_sched_thread *thread_of(__u64 task)
{
	const __u32 *index = bpf_map_lookup_elem(&sched_tasks, &task);

	return index ? bpf_map_lookup_elem(&sched_threads, index) : 0;
}

/* Where the endpoint's sums are; the same as before costs no look-up. */
EZ_INLINE int place_of(struct ez_sched_thread *t, unsigned int k, __u32 tgid,
		       const struct works *works)
{
	__u32 index = (__u32)works->work[k].endpoint;
	struct ez_group_key key = {
		.tgid = tgid, .file = works->file[k], .group = index >> EZ_GROUP_SHIFT};
	const struct ez_group *group;

	if (t->endpoint[k] == works->work[k].endpoint && t->file[k] == works->file[k])
		return 0;
	t->endpoint[k] = works->work[k].endpoint;
	t->file[k] = works->file[k];
	t->epoch[k] = 0;
	if (!works->work[k].endpoint || index >= EZ_ENDPOINTS_MAX)
		return 0;
	group = bpf_map_lookup_elem(&groups, &key);
	if (!group && !ez_group_add(&key))
		group = bpf_map_lookup_elem(&groups, &key);
	if (!group)
		return -1;
	t->slot[k] = group->first_slot + (index & (EZ_GROUP_SLOTS - 1));
	t->epoch[k] = group->epoch;
	return 0;
}

EZ_INLINE void record_off(struct ez_sched_counters *counters, struct ez_sched_thread *t, __u32 tgid,
			  const struct works *works, __u64 now, int preempted)
{
	int lost = 0;

	record_open(t);
	lost |= place_of(t, 0, tgid, works);
	lost |= place_of(t, 1, tgid, works);
	t->off_ns = now;
	t->wake_ns = preempted ? now : 0;
	record_close(t);
	if (lost)
		lose(counters, EZ_SCHED_LOSS_ROOM);
}

/* A task's address may be that of another one by now. */
EZ_INLINE void record_own(struct ez_sched_thread *t, __u64 task,
			  const struct ez_sched_target *target, const __u64 *addresses)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();

	record_open(t);
	if (t->pid_tgid != pid_tgid || t->task != task) {
		t->task = task;
		t->pid_tgid = pid_tgid;
		t->endpoint[0] = t->endpoint[1] = 0;
		t->epoch[0] = t->epoch[1] = 0;
		t->gone = 0;
		t->unread = 0;
		t->off_ns = 0;
	}
	t->clock_offset_ns = target->clock_offset_ns;
#pragma unroll
	for (__u32 i = 0; i < EZ_SCHED_OBJECTS; i++)
		t->address[i] = addresses[i];
	record_close(t);
}

/* Its record is of no use any more. */
static __attribute__((noinline)) int thread_remove(__u64 task)
{
	const __u32 *found = bpf_map_lookup_elem(&sched_tasks, &task);
	__u32 index;

	if (!found)
		return 0;
	index = *found;
	if (!bpf_map_delete_elem(&sched_tasks, &task))
		bpf_map_push_elem(&sched_free, &index, BPF_ANY);
	return 0;
}

/* The current thread's record; a new one if need be. NULL: no room, which is counted. */
EZ_INLINE struct ez_sched_thread *own_record(struct ez_sched_counters *counters, __u64 task,
					     const struct ez_sched_target *target,
					     const __u64 *addresses)
{
	struct ez_sched_thread *t = thread_of(task);

	if (!t && !thread_add(task))
		t = thread_of(task);
	if (t)
		record_own(t, task, target, addresses);
	else
		lose(counters, EZ_SCHED_LOSS_ROOM);
	return t;
}

/*
 * Words that can't be read: a loss, unless the thread is ending, which takes its memory away first
 * and is not to be seen from here. So it is one once they can be read again.
 */
EZ_INLINE int note_read(struct ez_sched_counters *counters, struct ez_sched_thread *t, int failed)
{
	if (failed) {
		t->unread++;
	} else if (t->unread) {
		counters->losses[EZ_SCHED_LOSS_UNREAD] += t->unread;
		t->unread = 0;
	}
	return failed;
}

/* The current thread leaves its CPU. */
EZ_INLINE void leave(struct ez_sched_counters *counters, __u64 task, __u64 now, int preempted)
{
	struct works works = {};
	__u64 addresses[EZ_SCHED_OBJECTS];
	const struct ez_sched_target *target;
	struct ez_sched_thread *t;
	__u32 tgid = ez_current_tgid();
	int failed;

	target = bpf_map_lookup_elem(&sched_targets, &tgid);
	if (!target)
		return;
	t = thread_of(task);
	if (t && t->pid_tgid != bpf_get_current_pid_tgid())
		t = 0;
	failed = read_works(target, t, addresses, &works);
	if (t && note_read(counters, t, failed) && t->gone)
		thread_remove(task);
	if (t && t->gone)
		return;
	if (!works.work[0].endpoint && !works.work[1].endpoint)
		return;
	if (!t)
		t = own_record(counters, task, target, addresses);
	if (t)
		record_off(counters, t, tgid, &works, now, preempted);
}

/* A thread that left its CPU at work gets one again. */
EZ_INLINE void enter(struct ez_sched_counters *counters, __u64 task, __u64 now)
{
	struct ez_sched_thread *t = thread_of(task);
	__u64 off, wake;
	int lost = 0;

	if (!t || !t->off_ns)
		return;
	record_open(t);
	off = t->off_ns + t->clock_offset_ns;
	wake = t->wake_ns ? t->wake_ns + t->clock_offset_ns : off;
	now += t->clock_offset_ns;
#pragma unroll
	for (int k = 0; k < (int)EZ_WORK_KINDS; k++) {
		__u64 place = (__u64)t->epoch[k] << 32 | t->slot[k];

		if (!t->epoch[k])
			continue;
		lost |= add_stretch(place, EZ_SCHED_BLOCKED, off, wake);
		lost |= add_stretch(place, EZ_SCHED_RUNNABLE, wake, now);
	}
	t->off_ns = 0;
	t->wake_ns = 0;
	record_close(t);
	if (lost)
		lose(counters, EZ_SCHED_LOSS_RACE);
}

EZ_INLINE struct ez_sched_counters *count(enum ez_sched_event event)
{
	struct ez_sched_counters *counters;
	__u32 zero = 0;

	counters = bpf_map_lookup_elem(&sched_counters, &zero);
	if (counters)
		counters->hits[event & 3]++;
	return counters;
}

/* bool preempt, prev, next. The one who leaves is the current one, or these are others. */
SEC("raw_tp/sched_switch")
int ezprof_sched_switch(struct bpf_raw_tracepoint_args *ctx)
{
	struct ez_sched_counters *counters = count(EZ_SCHED_SWITCH);
	__u64 prev = ctx->args[1], next = ctx->args[2], now = bpf_ktime_get_ns();

	if (!counters)
		return 0;
	if (prev != bpf_get_current_task()) {
		lose(counters, EZ_SCHED_LOSS_FOREIGN);
		return 0;
	}
	/* Of idle CPUs there is nothing to be told. */
	if ((__u32)bpf_get_current_pid_tgid())
		leave(counters, prev, now, (__u8)ctx->args[0] != 0);
	enter(counters, next, now);
	return 0;
}

/* Woken before it left: nothing was recorded, and nothing is. */
SEC("raw_tp/sched_wakeup")
int ezprof_sched_wakeup(struct bpf_raw_tracepoint_args *ctx)
{
	struct ez_sched_counters *counters = count(EZ_SCHED_WAKEUP);
	struct ez_sched_thread *t = thread_of(ctx->args[0]);

	if (!counters || !t || !t->off_ns || t->wake_ns)
		return 0;
	record_open(t);
	t->wake_ns = bpf_ktime_get_ns();
	record_close(t);
	return 0;
}

/*
 * A thread at work ends: nobody goes on with that work here. It may still be switched off and on,
 * before it has lost its memory and after that; its record goes with its last switch.
 */
SEC("raw_tp/sched_process_exit")
int ezprof_sched_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct ez_sched_counters *counters = count(EZ_SCHED_EXIT);
	__u64 addresses[EZ_SCHED_OBJECTS], task = ctx->args[0];
	const struct ez_sched_target *target;
	struct works works = {};
	struct ez_sched_thread *t;
	__u32 tgid = ez_current_tgid();

	target = bpf_map_lookup_elem(&sched_targets, &tgid);
	if (!counters || !target || task != bpf_get_current_task())
		return 0;
	t = thread_of(task);
	if (!t || t->pid_tgid != bpf_get_current_pid_tgid()) {
		if (read_works(target, 0, addresses, &works) ||
		    (!works.work[0].endpoint && !works.work[1].endpoint))
			return 0;
		t = own_record(counters, task, target, addresses);
	}
	if (!t)
		return 0;
	record_open(t);
	t->gone = 1;
	t->epoch[0] = t->epoch[1] = 0;
	t->endpoint[0] = t->endpoint[1] = 0;
	record_close(t);
	return 0;
}
