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
#include "sched_sums.bpf.h"
#include "sched_words.bpf.h"

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
	/* Asked for again next time: another endpoint's slots may be free by then. */
	if (!group) {
		t->endpoint[k] = 0;
		return -1;
	}
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
