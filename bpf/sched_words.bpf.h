/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the current thread says that it works for, read out of its process (thread_layout.h). */
#ifndef EZ_SCHED_WORDS_BPF_H
#define EZ_SCHED_WORDS_BPF_H

#include "sched_maps.bpf.h"
#include "ring_shared.h"

struct works {
	struct ez_work work[EZ_WORK_KINDS];
	__u32 file[EZ_WORK_KINDS];
};

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

#endif
