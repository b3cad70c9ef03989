/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a thread did while it worked for an endpoint: the maps behind --sched. Compiles alone under
 * both compilers. Only time off the CPU is counted here; the rest of what the process says that its
 * words covered (struct ez_covered) was spent on a CPU.
 *
 * A stretch off the CPU is sleeping from the switch to the wake-up and runnable from there on to
 * the switch back; runnable as a whole if the thread was preempted, or never woken. It is cut at
 * the bounds of buckets, so that each bucket holds what lies in it and nothing else. Ids are those
 * of the process's own clock.
 */
#ifndef EZ_SCHED_SHARED_H
#define EZ_SCHED_SHARED_H

#include "bucket_shared.h"
#include "thread_layout.h"

#define EZ_SCHED_OBJECTS 3u    /* instrumented objects of one process that are looked at */
#define EZ_SCHED_THREADS 4096u /* threads that ever left a CPU at work for an endpoint */

/* A process of which somebody wants to know; hash `sched_targets`, key = process id. */
struct ez_sched_object {
	ez_u64 table;	/* address of its struct ez_thread_table */
	ez_u64 from_ns; /* work that began before isn't looked at; the process's clock */
	ez_u32 file;
	ez_u32 reserved;
};
struct ez_sched_target {
	ez_u64 clock_offset_ns; /* the process's CLOCK_MONOTONIC minus the host's, modulo 2^64 */
	ez_u64 pid_ns_dev, pid_ns_inode; /* of its pid namespace; 0: not known, the agent's */
	ez_u32 count;
	ez_u32 reserved;
	struct ez_sched_object objects[EZ_SCHED_OBJECTS];
};
_Static_assert(sizeof(struct ez_sched_target) == 104, "shared with BPF");

/*
 * Array `sched_threads`, mmapable; `sched_tasks` leads from a task's address, which is opaque, to
 * the index here. One writer at a time: the scheduler's lock of the CPU that the thread leaves, is
 * woken on or enters. It writes `tail`, the rest, then `head`: a reader that reads `head`, the
 * rest, then `tail` and finds them equal has a whole.
 */
struct ez_sched_thread {
	ez_u64 head;
	ez_u64 task;
	ez_u64 pid_tgid;
	ez_u64 off_ns;	/* off the CPU since then, at work; 0: not. Host's clock */
	ez_u64 wake_ns; /* runnable since then; 0: sleeping */
	ez_u64 clock_offset_ns;
	ez_u64 endpoint[EZ_WORK_KINDS]; /* whose work; 0: none */
	ez_u32 file[EZ_WORK_KINDS];
	ez_u32 slot[EZ_WORK_KINDS];
	ez_u32 epoch[EZ_WORK_KINDS];	  /* 0: none */
	ez_u64 address[EZ_SCHED_OBJECTS]; /* of its struct ez_thread; 0: not known */
	ez_u32 gone;   /* it is ending: nothing more is concluded from what it says */
	ez_u32 unread; /* times that its words could not be read since they last could */
	ez_u64 tail;
};
_Static_assert(sizeof(struct ez_sched_thread) == 128, "shared with BPF");

enum ez_sched_state { EZ_SCHED_BLOCKED, EZ_SCHED_RUNNABLE, EZ_SCHED_STATES };

/*
 * Array `sched_sums`, key = slot * 128 + (id & 127), mmapable. Several threads may add at once, by
 * atomic adds; who finds an older tag takes the place by compare-and-swap to EZ_SCHED_TAKEN, clears
 * it and sets the tag. Nobody is stopped in between, since interrupts are off.
 */
struct ez_sched_sums {
	ez_u64 tag; /* EZ_TAG() */
	ez_u64 ns[EZ_SCHED_STATES];
	ez_u64 reserved;
};
#define EZ_SCHED_TAKEN 1ull /* no tag: epochs count from 1 */
_Static_assert(sizeof(struct ez_sched_sums) == 32, "shared with BPF");

/* Array `sched_covered`, keyed likewise: struct ez_covered as it was handed over. */
struct ez_sched_covered {
	ez_u64 tag; /* 0 while the rest is written */
	ez_u64 covered_ns;
	ez_u64 carry_ns;
	ez_u64 reserved;
};
_Static_assert(sizeof(struct ez_sched_covered) == 32, "shared with BPF");

/* clang-format off */
#define EZ_SCHED_EVENT_LIST(X) \
	X(SWITCH, "switch", "sched_switch") \
	X(WAKEUP, "wakeup", "sched_wakeup") \
	X(EXIT, "exit", "sched_process_exit")

/* Why time off the CPU was not counted: it then reads as time on it. */
#define EZ_SCHED_LOSS_LIST(X) \
	X(ROOM, "no_room", "threads or endpoints that found no room") \
	X(UNREAD, "unread", "words that could not be read out of the process") \
	X(RACE, "race", "stretches given up after too many collisions") \
	X(FOREIGN, "foreign", "switches whose arguments are none that we know")
/* clang-format on */

#define EZ_SCHED_ENUM_EVENT(name, key, tracepoint) EZ_SCHED_##name,
enum ez_sched_event { EZ_SCHED_EVENT_LIST(EZ_SCHED_ENUM_EVENT) EZ_SCHED_EVENTS };
#undef EZ_SCHED_ENUM_EVENT
#define EZ_SCHED_ENUM_LOSS(name, key, meaning) EZ_SCHED_LOSS_##name,
enum ez_sched_loss { EZ_SCHED_LOSS_LIST(EZ_SCHED_ENUM_LOSS) EZ_SCHED_LOSS_COUNT };
#undef EZ_SCHED_ENUM_LOSS

/* Per-CPU array `sched_counters`, one value. */
struct ez_sched_counters {
	ez_u64 hits[4];	  /* by enum ez_sched_event */
	ez_u64 losses[4]; /* by enum ez_sched_loss */
};
_Static_assert((int)EZ_SCHED_LOSS_COUNT <= 4 && (int)EZ_SCHED_EVENTS <= 4, "room for all");

#endif
